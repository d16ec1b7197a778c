"""Projects that were cloned: what they hold next to skills leads nowhere else."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.functional.library import run, write_pack
from tests.install.conftest import PACK, Upstream

_LOCK = Path("satchel.lock")
_WORK = Path("skills/.satchel")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user, next to the project, with a pack in it."""
    folder = tmp_path / "outside"
    write_pack(folder / "form", PACK.format("form"), {"notes.md": "Mine.\n"})
    return folder


def journal(before: str, after: str) -> None:
    """Write what a command that was cut off would have left."""
    document: dict[str, object] = {
        "before": before,
        "after": after,
        "config": None,
        "leave": [],
    }
    _WORK.mkdir(parents=True, exist_ok=True)
    (_WORK / "journal.json").write_text(json.dumps(document))


def empty_lock() -> str:
    document = {"format": "satchel-lock", "schema_version": 1}
    return json.dumps({**document, "entries": [], "skills": []})


@pytest.mark.parametrize("name", ["old", "new"])
@pytest.mark.parametrize("here", [True, False])
def test_a_link_where_packs_are_swapped_moves_nothing_of_the_user(
    name: str, *, here: bool, upstream: Upstream, outside: Path
) -> None:
    """What is at the end of the link has the name of a skill."""
    assert run("add", upstream.address, "--skill", "form").exit_code == 0
    lock = _LOCK.read_text()
    if here:
        Path("skills/form/SKILL.md").write_text("Other.\n")
    else:
        Path("skills/form/SKILL.md").unlink()
        Path("skills/form").rmdir()
    journal(lock, lock)
    (_WORK / name).symlink_to(outside)

    for command in (["sync"], ["add", str(upstream.folder)], ["remove", "form"]):
        result = run(*command)

        assert result.exit_code in (1, 2), result.stderr
        assert f"skills/.satchel/{name} was not written: it is a link" in result.stderr
        assert (outside / "form/notes.md").read_text() == "Mine.\n"


@pytest.mark.parametrize("kind", ["folder", "git"])
def test_a_journal_that_came_along_names_no_place_outside(
    kind: str, upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a lock: only what the user has approved leads to other folders."""
    place = upstream.address if kind == "git" else str(upstream.folder / "skills")
    assert run("add", place, "--skill", "form").exit_code == 0
    lock = _LOCK.read_text()
    monkeypatch.setenv("SATCHEL_STORE", str(tmp_path / "other_store"))
    clone = tmp_path / "clone"
    clone.mkdir()
    monkeypatch.chdir(clone)
    journal(empty_lock(), lock)

    result = run("sync")

    assert result.exit_code == 1
    assert "is outside of this project" in result.stderr
    assert not (clone / "skills/form").exists()


@pytest.mark.parametrize("kind", ["folder", "archive", "site"])
@pytest.mark.parametrize("place", ["../outside", "{outside}", "x://../../outside"])
def test_an_entry_that_came_along_names_no_place_outside(
    kind: str, place: str, project: Path, outside: Path
) -> None:
    """Whatever it is called, and also if the project has a folder of such a name."""
    Path("x:").mkdir()
    address = place.format(outside=outside)
    Path("satchel.toml").write_text(f'[skills]\na = {{{kind} = "{address}"}}\n')

    result = run("sync")

    assert result.exit_code in (1, 2)
    assert "is outside of this project" in result.stderr or "expected" in result.stderr
    assert not (project / "skills/form").exists()


def test_an_own_journal_fetches_what_the_user_has_added(
    project: Path, upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("add", upstream.address, "--skill", "form").exit_code == 0
    journal(empty_lock(), _LOCK.read_text())
    _LOCK.unlink()
    (project / "skills/form/SKILL.md").unlink()
    monkeypatch.setenv("SATCHEL_STORE", str(tmp_path / "other_store"))

    result = run("sync")

    assert result.exit_code == 0, result.stderr
    assert (project / "skills/form/SKILL.md").read_text() == PACK.format("form")
    assert "all as locked" in run("verify").stderr


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"before": 1}', "\0", "[" * 9_000])
def test_a_journal_that_is_none_is_named(text: str, upstream: Upstream) -> None:
    _WORK.mkdir(parents=True)
    (_WORK / "journal.json").write_text(text)

    result = run("add", upstream.address)

    assert result.exit_code == 2
    assert "it is damaged; delete" in result.stderr


@pytest.mark.parametrize("name", ["satchel.toml", "satchel.lock"])
def test_a_link_to_a_secret_is_not_shown(
    name: str, project: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary-secret = oh no\n")
    if name == "satchel.lock":
        (project / "satchel.toml").write_text('[skills]\nx = { folder = "y" }\n')
    (project / name).symlink_to(secret)

    for command in ("sync", "verify"):
        result = run(command)

        assert result.exit_code in (1, 2)
        assert "canary-secret" not in result.stdout + result.stderr
        assert "a fault of satchel's own" not in result.stderr
    assert secret.read_text() == "canary-secret = oh no\n"


@pytest.mark.parametrize("name", ["skills", "skills/.satchel", "skills/form"])
def test_a_link_in_the_place_of_a_folder_is_not_written_through(
    name: str, project: Path, upstream: Upstream, outside: Path
) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).symlink_to(outside)

    result = run("add", upstream.address, "--skill", "form")

    assert result.exit_code in (1, 2)
    assert (outside / "form/notes.md").read_text() == "Mine.\n"
    assert [entry.name for entry in outside.iterdir()] == ["form"]
    assert len([*(outside / "form").iterdir()]) == 2


def replaced_by_link(file: Path, other: Path) -> None:
    """Put a link to equal bytes in the place of a file."""
    other.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(other)


def replaced_by_pipe(file: Path, _: Path) -> None:
    """Put what never ends in the place of a file."""
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("replace", [replaced_by_link, replaced_by_pipe])
def test_what_is_no_file_is_a_difference(
    replace: Callable[[Path, Path], None],
    project: Path,
    upstream: Upstream,
    tmp_path: Path,
) -> None:
    assert run("add", upstream.address, "--skill", "form").exit_code == 0
    replace(project / "skills/form/SKILL.md", tmp_path / "other")

    result = run("verify")

    assert result.exit_code == 1
    assert result.stdout == "form/SKILL.md is no regular file\n"
    assert run("sync").exit_code == 1
    assert run("sync", "--discard", "form").exit_code == 0
    assert (project / "skills/form/SKILL.md").read_text() == PACK.format("form")
    assert not (project / "skills/form/SKILL.md").is_symlink()


@pytest.mark.parametrize("name", ["satchel.toml", "satchel.lock"])
@pytest.mark.parametrize(
    "text", ["[" * 9_000, "a=" + "[" * 9_000, "\0", "\x1b[2J", "x = 1\n" * 2]
)
def test_a_file_of_garbage_is_named(
    name: str, text: str, project: Path, upstream: Upstream
) -> None:
    (project / name).write_text(text)

    for command in (["sync"], ["add", upstream.address], ["remove", "x"]):
        result = run(*command)

        assert result.exit_code == 2
        assert name in result.stderr
        assert "\x1b" not in result.stderr
        assert "a fault of satchel's own" not in result.stderr
