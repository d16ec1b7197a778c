"""A release as a folder: whole or not at all, and never over anything else."""

import os
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import ConfigError, RefusedReleaseError
from satchel.sources import folder, memory, released
from satchel_store.release import build_folder, publish
from tests.unit.release.packs import PACKS, Packs, build, built, files_in, write


def test_the_folder_holds_just_the_files_of_the_release(tmp_path: Path) -> None:
    release = build(PACKS, tmp_path / "deep" / "dist")

    assert files_in(tmp_path / "deep" / "dist") == built(PACKS)
    assert [file.path for file in release.files] == sorted(built(PACKS))
    assert [item.name for item in (tmp_path / "deep").iterdir()] == ["dist"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX has modes")
@pytest.mark.row("F45")
@pytest.mark.parametrize("umask", [0o077, 0o002, 0o022])
def test_equal_releases_have_equal_modes_whatever_the_umask(
    tmp_path: Path, umask: int
) -> None:
    """They are often served by another user; and no time changes a byte."""
    packs = write(PACKS, tmp_path / "skills")
    for number, file in enumerate(sorted(packs.rglob("*"), reverse=True)):
        os.utime(file, (number, number))
    before = os.umask(umask)
    try:
        with Satchel(packs) as skills:
            build_folder(skills, tmp_path / "deep" / "dist")
        publish(released(tmp_path / "deep" / "dist"), tmp_path / "web" / "site")
    finally:
        os.umask(before)

    assert files_in(tmp_path / "deep" / "dist") == built(PACKS)
    for made in (tmp_path / "deep" / "dist", tmp_path / "web"):
        modes = {
            (item.is_dir(), item.stat().st_mode & 0o777)
            for item in (made, *made.rglob("*"))
        }
        assert modes == {(True, 0o755), (False, 0o644)}


@pytest.mark.parametrize("before", [None, PACKS], ids=["empty", "a release"])
def test_an_empty_folder_and_an_earlier_release_are_replaced(
    before: Packs | None, tmp_path: Path
) -> None:
    (tmp_path / "dist").mkdir()
    if before:
        build(before, tmp_path / "dist")
    build({"alone": PACKS["alone"]}, tmp_path / "dist")

    assert files_in(tmp_path / "dist") == built({"alone": PACKS["alone"]})
    assert [item.name for item in tmp_path.iterdir()] == ["dist"]


def test_where_it_is_refused_nothing_changes(tmp_path: Path) -> None:
    build(PACKS, tmp_path / "dist")

    with Satchel(memory({})) as skills, pytest.raises(RefusedReleaseError):
        build_folder(skills, tmp_path / "dist")

    assert files_in(tmp_path / "dist") == built(PACKS)
    assert [item.name for item in tmp_path.iterdir()] == ["dist"]


def test_where_it_cannot_be_put_in_place_the_old_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(PACKS, tmp_path / "dist")
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="No space"):
        build({"alone": PACKS["alone"]}, tmp_path / "dist")

    assert files_in(tmp_path / "dist") == built(PACKS)


def test_nothing_else_is_ever_replaced(tmp_path: Path) -> None:
    packs = {"alone": PACKS["alone"]}
    for name in ("note", "damaged", "link"):
        build(PACKS, tmp_path / name)
    write({"mine": {"notes.txt": b"mine"}}, tmp_path / "foreign")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "linked").symlink_to("link")
    (tmp_path / "note/skills/notes.txt").write_text("mine")
    (tmp_path / "damaged/release.json").write_text("{}")
    (tmp_path / "link/more").symlink_to("skills")
    before = files_in(tmp_path)

    for name, reason in {
        "foreign": "is not a release",
        "file": "is not a folder",
        "linked": "is not a folder",
        "note": "skills/notes.txt is not a file of the release",
        "damaged": "is not a release",
        "link": "more is not a file of the release",
    }.items():
        with pytest.raises(ConfigError, match=reason):
            build(packs, tmp_path / name)
    assert files_in(tmp_path) == before


def test_a_release_among_the_skills_is_refused(tmp_path: Path) -> None:
    """They would be found there once more, and then be older than themselves."""
    packs = write(PACKS, tmp_path / "skills")

    for out in (packs, packs / "dist"):
        with (
            Satchel(folder(packs)) as skills,
            pytest.raises(ConfigError, match="where the skills come from"),
        ):
            build_folder(skills, out)


def test_a_release_in_a_release_is_refused(tmp_path: Path) -> None:
    """Its folder would not be what its digest says any more."""
    outer = tmp_path / "dist"
    build(PACKS, outer)
    before = files_in(outer)

    for out in (outer / "new", outer / "skills" / "new"):
        with pytest.raises(ConfigError, match="it is in the release"):
            build(PACKS, out)

    assert files_in(outer) == before
