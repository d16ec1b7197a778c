"""What a project brings along counts by nothing that its user types for the rest.

Each is a way in which bytes, or a place, could come to count without anybody's word.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from satchel import Satchel, Skill
from tests.functional.library import run
from tests.install.conftest import PACK, Upstream


def lists(*named: object) -> list[str]:
    """Return the ids of the skills that a program lists."""
    with Satchel(*named, sinks=[]) as skills:  # type: ignore[arg-type]
        return [entry.id for entry in skills]


def test_a_release_counts_by_its_pin_alone(
    project: Path, upstream: Upstream, verifying: Path
) -> None:
    """Its digest was written by those who made it, too."""
    packs, settings = str(upstream.folder / "skills"), verifying.read_text()
    verifying.write_text("")
    release = run("build", "dist", "--skills", packs).stdout.strip()
    verifying.write_text(settings)

    assert lists("dist") == []
    with Satchel("dist", pin=release, sinks=[]) as skills:
        assert skills.load("form").vouched == f"release {release}"
    (project / "satchel.toml").write_text('skills = ["dist"]\n')
    assert lists() == []


@pytest.mark.usefixtures("verifying")
def test_a_folder_called_as_another_source_is_not_it(project: Path) -> None:
    folder = project / "memory/evil"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(PACK.format("evil"))
    mine = Skill("mine", description="Use when testing.", instructions="# Mine\n")

    assert "evil" not in lists("memory", mine)
    assert lists(mine) == ["mine"]


def test_add_approves_no_entry_that_came_along(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    inside = project / "theirs/evil"
    inside.mkdir(parents=True)
    (inside / "SKILL.md").write_text(PACK.format("evil"))
    (project / "satchel.toml").write_text('[skills]\nx = { folder = "theirs" }\n')

    assert run("add", upstream.address, "--skill", "form").exit_code == 0

    assert "is not approved" in run("verify").stdout
    assert not (tmp_path / "xdg_data_home/satchel/trusted-locks.json").exists()


@pytest.mark.parametrize("command", ["sync", "remove form", "add"])
def test_an_approved_lock_approves_no_entry_that_came_later(
    project: Path, upstream: Upstream, command: str
) -> None:
    """Such as by a pull: the lock is as it was, and satchel.toml is not."""
    run("add", upstream.address, "--skill", "form")
    assert run("verify").exit_code == 0
    inside = project / "theirs/evil"
    inside.mkdir(parents=True)
    (inside / "SKILL.md").write_text(PACK.format("evil"))
    file = project / "satchel.toml"
    file.write_text(file.read_text() + 'x = { folder = "theirs" }\n')
    words = [upstream.address, "--skill", "sql-read"] if command == "add" else []

    result = run(*command.split(), *words)

    assert result.exit_code == 0, result.stderr
    assert "satchel.lock is not approved; read it, and type" in result.stderr
    assert run("verify").exit_code == 1


def test_an_entry_that_came_later_names_no_place_outside(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.toml"
    outside = f'x = {{ folder = "{upstream.folder}/skills" }}\n'
    file.write_text(file.read_text() + outside)

    assert "is outside of this project" in run("sync").stderr
    assert run("sync", "--frozen").exit_code == 1


def test_an_approval_is_for_the_lock_as_it_is_spelled(
    project: Path, upstream: Upstream
) -> None:
    """On some systems git gives a file of a clone other ends of lines."""
    assert run("add", upstream.address).exit_code == 0
    lock = project / "satchel.lock"
    spelled = lock.read_bytes().replace(b"\n", b"\r\n")
    lock.write_bytes(spelled)
    assert run("trust", "--yes").exit_code == 0
    shutil.rmtree(project / "skills")

    result = run("sync", "--frozen")

    assert result.exit_code == 0, result.stderr
    assert lock.read_bytes() == spelled
    assert run("verify").exit_code == 0


@pytest.mark.parametrize("scheme", ["http", "git"])
def test_a_repository_without_a_certificate_is_the_users_to_name(
    project: Path, scheme: str
) -> None:
    entry = f'x = {{ git = "{scheme}://127.0.0.1:9/x.git" }}\n'
    (project / "satchel.toml").write_text(f"[skills]\n{entry}")

    assert "is outside of this project" in run("sync").stderr


def test_what_the_user_types_stays_approved(project: Path, upstream: Upstream) -> None:
    run("add", upstream.address, "--skill", "form", "--skill", "sql-read")
    assert run("verify").exit_code == 0
    upstream.commit({"skills/form/SKILL.md": PACK.format("form") + "More.\n"})
    for line in ("sync --upgrade", "remove sql-read", f"add {upstream.address}"):
        assert run(*line.split()).exit_code == 0
        assert run("verify").exit_code == 0, line


def test_settings_that_lead_outside_are_not_used(
    project: Path, tmp_path: Path, upstream: Upstream
) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text('token = "canary-secret"\n')
    (project / "satchel.toml").symlink_to(elsewhere)

    result = run("add", upstream.address)

    assert result.exit_code == 2
    assert "it is a link to a file outside of its folder" in result.stderr
    assert not (project / "skills").exists()
    assert elsewhere.read_text() == 'token = "canary-secret"\n'


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_settings_of_another_user_are_not_used(
    project: Path, upstream: Upstream
) -> None:
    file = project / "satchel.toml"
    file.write_text("[skills]\n")
    os.chown(file, 4_321, -1)

    assert "it belongs to another user" in run("add", upstream.address).stderr


def test_what_lies_next_to_a_pack_is_read_within_bounds(
    project: Path, upstream: Upstream
) -> None:
    """A file of any size, and folders deeper than a program may call itself."""
    run("add", upstream.address, "--skill", "form")
    with (project / "skills/form/SKILL.md").open("r+b") as file:
        file.truncate(2**40)
    here = Path.cwd()
    try:
        os.chdir("skills/form")
        for _ in range(1_500):
            Path("d").mkdir()
            os.chdir("d")
        Path("x").write_text("x")
        os.chdir(here)
        result = run("verify")
    finally:
        os.chdir(here)
        # pytest could not remove it.
        subprocess.run(["rm", "-rf", "skills"], check=True)

    assert result.exit_code == 1
    assert "has 1099511627776 bytes, locked" in result.stdout
    assert "a fault of satchel's own" not in result.stderr


def test_names_on_a_disk_write_nothing_on_a_terminal(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    (project / "skills/form/\x1b[2Jx").write_text("x")
    (project / "skills/\x1b[2Jy").mkdir()
    text = PACK.format("form").replace("when testing", '"\\e[2Jz"')
    upstream.commit({"skills/form/SKILL.md": text})

    results = run("verify"), run("sync", "--upgrade", "--dry-run")

    assert "\x1b" not in "".join(each.stdout + each.stderr for each in results)


def test_entries_that_were_written_by_hand_are_added_as_it_says(
    project: Path, upstream: Upstream
) -> None:
    """There is no lock to approve, and each would keep the other from being added."""
    names = ["form", "sql-read"]
    rows = [f'{n} = {{git = "{upstream.address}", skills = ["{n}"]}}\n' for n in names]
    (project / "satchel.toml").write_text("".join(["[skills]\n", *rows]))
    for args in (["sync"], ["add", upstream.address, "--skill", "form"]):
        assert "delete the entry, and type: satchel add" in run(*args).stderr

    (project / "satchel.toml").write_text("[skills]\n")
    for name in names:
        result = run("add", upstream.address, "--skill", name)
        assert result.exit_code == 0, result.stderr

    assert run("sync", "--frozen").exit_code == 0
    assert "is approved already" in run("trust", "--yes").stderr
