"""``satchel verify`` of a registry, and of what was copied for a client."""

import json
import shutil
from pathlib import Path

import pytest

from tests.functional.library import run
from tests.install.conftest import Upstream
from tests.install.oci.conftest import FakeRegistry, pushed


def test_each_file_of_a_registry_is_read(fake: FakeRegistry, library: Path) -> None:
    digest = pushed(fake, library)
    result = run("verify", fake.address())
    assert result.exit_code == 0, result.output
    assert result.stdout.split()[:4] == ["pdf", "as", "released", digest]
    assert "2 packs, all verified" in result.stderr

    data = (library / "pdf/scripts/fill.py").read_bytes()
    for name, blob in fake.blobs.items():
        if blob == data:
            fake.blobs[name] = data[:-1] + b"!"
    shutil.rmtree(Path("../store"))
    result = run("verify", fake.address(), "--json")
    assert result.exit_code == 1
    rows = {row["id"]: row for row in json.loads(result.stdout)["packs"]}
    assert (rows["pdf"]["state"], rows["sql"]["state"]) == ("failed", "as released")
    assert "digest" in rows["pdf"]["detail"] or "expected" in rows["pdf"]["detail"]

    run("withdraw", fake.address(), "sql", "--reason", "It is wrong.")
    result = run("verify", fake.address())
    assert "withdrawn: It is wrong." in result.output


def test_a_registry_that_is_away(fake: FakeRegistry) -> None:
    result = run("verify", fake.address())
    assert result.exit_code == 1
    assert "did not answer" in result.output
    assert "Traceback" not in result.output


def test_what_was_copied_for_a_client(project: Path, upstream: Upstream) -> None:
    assert run("add", upstream.address).exit_code == 0
    result = run("verify", "--for", "claude-code")
    assert result.exit_code == 1
    assert "no folder .claude/skills" in result.output
    shutil.copytree(project / "skills/pdf", project / ".claude/skills/pdf")
    result = run("verify", "--for", "claude-code")
    assert (result.exit_code, "1 skill, all as locked" in result.stderr) == (0, True)

    (project / ".claude/skills/pdf/scripts/fill.py").write_text("print('else')\n")
    (project / ".claude/skills/mine").mkdir()
    result = run("verify", "--for", "claude-code")
    assert result.exit_code == 1
    assert "pdf/scripts/fill.py" in result.stdout
    assert "mine is not in satchel.lock" in result.stdout
    assert run("verify").exit_code == 0


def test_a_place_is_the_one_that_was_named(project: Path, upstream: Upstream) -> None:
    assert run("add", upstream.address).exit_code == 0
    (project.parent / "other/packs").mkdir(parents=True)
    for line in (
        ("verify", "../other/packs"),
        ("verify", "--for", "codex", "../other"),
    ):
        result = run(*line)
        assert result.exit_code != 0
        assert "as locked" not in result.output
    result = run("verify", "nothing-here")
    assert (result.exit_code, "no such file or folder" in result.output) == (2, True)


def test_a_file_that_a_release_does_not_list(project: Path, library: Path) -> None:
    assert run("build", "dist", str(library)).exit_code == 0
    assert run("verify", "dist").exit_code == 0
    (project / "dist/skills/pdf/more.md").write_text("More.\n")
    (project / "dist/skills/new").mkdir()
    (project / "dist/skills/new/SKILL.md").write_text("x")
    result = run("verify", "dist")
    assert result.exit_code == 1
    assert "skills/pdf/more.md   failed  it is not a file" in result.stdout
    assert "skills/new/SKILL.md" in result.stdout


@pytest.mark.parametrize(("name", "close"), [("claude", "claude-code"), ("x", "codex")])
def test_a_client_that_nobody_knows(
    name: str, close: str, project: Path, upstream: Upstream
) -> None:
    assert run("add", upstream.address).exit_code == 0
    result = run("verify", "--for", name)
    assert result.exit_code != 0
    assert close in result.output


def test_a_push_says_how_skills_are_named(
    fake: FakeRegistry, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(library)
    result = run("push", fake.address())
    assert result.exit_code == 2
    line = f"satchel push {fake.address()} --skills ."
    assert line in result.output
    assert run(*line.split()[1:]).exit_code == 0


def test_a_push_may_leave_out_what_is_bad(fake: FakeRegistry, library: Path) -> None:
    (library / "bad").mkdir()
    (library / "bad/SKILL.md").write_text("---\nname: [\n---\n")
    refused = run("push", fake.address(), "--skills", str(library))
    assert refused.exit_code == 1
    assert not fake.manifests
    result = run("push", fake.address(), "--skills", str(library), "--skip-bad")
    assert result.exit_code == 0, result.output
    titles = [
        layer["annotations"]["org.opencontainers.image.title"]
        for layer in fake.manifest("prod")["layers"]
    ]
    assert "left-out.json" in titles
