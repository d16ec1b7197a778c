"""``satchel doctor``: what was read from where, what is wrong, what to do."""

import json
import sys
from pathlib import Path

import pytest

from tests.functional.library import run, write_pack

GOOD = "---\nname: {name}\ndescription: Use it when testing.\n---\nDo.\n"


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    write_pack(here / "skills" / "good", GOOD.format(name="good"))
    return here


def test_all_is_well() -> None:
    result = run("doctor", "--skills", "skills")

    assert result.exit_code == 0
    assert result.stdout.startswith("satchel 0.")
    for part in (
        *("\nFrameworks\n", "  skills: 1 pack", "  1 skill listed", "all in full"),
        "  nothing: everything is in order",
    ):
        assert part in result.stdout
    assert "Wrong" not in result.stdout


def test_each_finding_with_its_fix_worst_first(folder: Path) -> None:
    write_pack(folder / "skills" / "bad", "---\nname: bad\n---\nDo.\n")
    odd = GOOD.format(name="odd").replace("Do.", "</instructions>")
    write_pack(folder / "skills" / "a-odd", odd)
    result = run("doctor", "--skills", "skills")
    lines = result.stdout.splitlines()
    wrong = lines[lines.index("Wrong") + 1 : lines.index("What to do")]

    assert result.exit_code == 1
    assert "error missing-description" in wrong[0]
    assert " --> skills/bad/SKILL.md" in wrong[1]
    assert "= fix: " in wrong[2]
    assert "1 refused" in result.stdout
    assert any("warning envelope-breakout" in line for line in wrong)


def test_settings_are_named_or_what_is_wrong_with_them(folder: Path) -> None:
    (folder / "satchel.toml").write_text('skills = ["skills"]\n', "utf-8")
    good = run("doctor")
    (folder / "satchel.toml").write_text("skils = []\n", "utf-8")
    bad = run("doctor")

    assert "  settings: satchel.toml" in good.stdout
    assert bad.exit_code == 2
    assert "unknown key 'skils'" in bad.stderr


def test_without_sources_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none/skills").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "none")
    result = run("doctor")

    assert result.exit_code == 1
    assert 'satchel doctor PATH, or write skills = ["PATH"]' in result.stdout


def test_a_release_of_other_bytes_than_it_says(folder: Path) -> None:
    """Here every file is read; anyone who loads one would be refused it."""
    assert run("build", "dist", "--skills", "skills").exit_code == 0
    assert run("doctor", "--skills", "dist").exit_code == 0

    (folder / "dist" / "skills" / "good" / "SKILL.md").write_text("tampered")
    (folder / "dist" / ".well-known" / "agent-skills" / "index.json").unlink()
    result = run("doctor", "--skills", "dist")
    lines = result.stdout.splitlines()

    assert result.exit_code == 1
    for code, path in (
        ("digest-mismatch", "dist/skills/good/SKILL.md"),
        ("reference-not-found", "dist/.well-known/agent-skills/index.json"),
    ):
        [at] = [n for n, line in enumerate(lines) if f"error {code}: " in line]
        assert lines[at + 1] == f"   --> {path}"
    assert "all is well" not in result.stdout


@pytest.mark.row("N08")
def test_what_scripts_need_and_this_python_lacks(folder: Path) -> None:
    pack = folder / "skills" / "good"
    (pack / "scripts").mkdir()
    (pack / "scripts" / "fill.py").write_text("import json, no_such_thing\n", "utf-8")

    text = run("doctor", "--skills", "skills").stdout
    fields = json.loads(run("doctor", "--skills", "skills", "--json").stdout)

    line = f"{sys.executable} -m pip install no-such-thing"
    assert f"Scripts\n  good: needs no-such-thing; to install them:\n    {line}" in text
    assert fields["scripts"] == [
        {
            "skill": "good",
            "missing": ["no-such-thing"],
            "programs": [],
            "install": line,
        }
    ]
