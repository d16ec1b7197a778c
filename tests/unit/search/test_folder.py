"""Segments on disk: read by the next process, and never trusted."""

import os
import sys
from pathlib import Path

import pytest

from satchel import Options, Satchel
from satchel.model import Hit
from satchel.search._segment_folder import SegmentFolder
from tests.unit.search.segments import Indexed, write_segment

DATA = write_segment([Indexed(b"k" * 16, "a", {b"w": 1})])


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    for n in range(12):
        folder = tmp_path / "packs" / f"s{n}"
        folder.mkdir(parents=True)
        text = f"---\nname: s{n}\ndescription: Fill form {n}.\n---\nBody of x{n}.\n"
        (folder / "SKILL.md").write_text(text)
    return tmp_path / "packs"


def found(packs: Path) -> list[Hit]:
    """Return what a new process finds, with an index next to the packs."""
    options = Options(index=packs.parent / "cache" / "index.db")
    with Satchel(packs, options=options) as skills:
        return skills.find("fill a form x7", 5)


def fresh(packs: Path) -> list[Hit]:
    with Satchel(packs, options=Options(index=False)) as skills:
        return skills.find("fill a form x7", 5)


def files(packs: Path) -> list[Path]:
    return sorted((packs.parent / "cache").rglob("*.segment"))


def test_the_next_process_reads_what_the_last_one_wrote(packs: Path) -> None:
    first = found(packs)
    before = {path: path.stat().st_mtime_ns for path in files(packs)}

    assert len(before) == 1
    assert first == found(packs) == fresh(packs)
    assert before == {path: path.stat().st_mtime_ns for path in files(packs)}
    if sys.platform != "win32":
        assert {path.stat().st_mode & 0o777 for path in before} == {0o600}


@pytest.mark.row("F107")
@pytest.mark.parametrize(
    "spelled", ["packs", "./packs/", "other/../packs", "link", "{}/", "{}/../packs"]
)
def test_a_folder_has_one_index_however_it_is_spelled(
    packs: Path, spelled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(packs.parent)
    Path("other").mkdir()
    Path("link").symlink_to("packs")
    expected = [hit.id for hit in found(packs)]
    before = {path: path.stat().st_mtime_ns for path in files(packs)}

    options = Options(index=packs.parent / "cache" / "index.db")
    with Satchel(spelled.format(packs), options=options) as skills:
        assert [hit.id for hit in skills.find("fill a form x7", 5)] == expected

    assert before == {path: path.stat().st_mtime_ns for path in files(packs)}


def test_a_changed_pack_is_one_small_segment(packs: Path) -> None:
    found(packs)
    [large] = files(packs)
    skill = packs / "s7" / "SKILL.md"
    skill.write_text(skill.read_text().replace("Fill form", "Sign a treaty"))

    assert found(packs) == fresh(packs)
    small = [path for path in files(packs) if path != large]
    assert len(small) == 1
    assert small[0].stat().st_size < large.stat().st_size / 2


def test_no_flipped_byte_changes_an_answer(packs: Path) -> None:
    expected = found(packs)
    [path] = files(packs)
    data = path.read_bytes()

    for at in range(0, len(data), 61):
        for each in files(packs):
            each.unlink()
        bad = bytearray(data)
        bad[at] ^= 0x41
        path.write_bytes(bad)
        assert found(packs) == expected, at
    path.write_bytes(b"")
    assert found(packs) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_folder_that_others_can_write_is_left_alone(tmp_path: Path) -> None:
    folder = SegmentFolder(str(tmp_path), "x")
    folder.add(DATA)
    [home] = tmp_path.iterdir()
    assert len(folder.read()) == 1

    home.chmod(0o777)

    assert folder.read() == []
    assert folder.add(DATA).documents == 1
    other = SegmentFolder(str(tmp_path), "x")
    (home / "live").write_bytes(other._sealed("a", [], b""))
    assert other.live_of("a") is None


def test_a_place_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    folder = SegmentFolder(str(blocked / "home"), "x")

    assert folder.read() == []
    assert folder.add(DATA).documents == 1


def test_libraries_that_nobody_searched_for_two_months_are_removed(
    tmp_path: Path,
) -> None:
    SegmentFolder(str(tmp_path), "old").add(DATA)
    [old] = tmp_path.iterdir()
    os.utime(old, (1, 1))

    SegmentFolder(str(tmp_path), "new").add(DATA)

    assert old not in tmp_path.iterdir()


def test_a_dropped_segment_is_gone_from_disk(tmp_path: Path) -> None:
    folder = SegmentFolder(str(tmp_path), "x")
    segment = folder.add(DATA)

    folder.drop(segment)
    folder.drop(segment)

    assert folder.read() == []
    assert list(segment.postings(b"w")) == [1]


def test_what_is_live_is_only_taken_for_the_very_same_segments(tmp_path: Path) -> None:
    folder = SegmentFolder(str(tmp_path), "x")
    segment = folder.add(DATA)

    folder.note_live("a", {segment: b"\1"})

    assert folder.live_of("a") == [(segment, b"\1")]
    assert folder.live_of("b") is None
    [path] = tmp_path.rglob("live")
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    assert folder.live_of("a") is None
    folder.note_live("a", {segment: b"\1"})
    folder.add(write_segment([Indexed(b"l" * 16, "b", {b"w": 1})]))
    assert folder.live_of("a") is None
