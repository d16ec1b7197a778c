"""By what an edit is noticed: also where size and time are as they were."""

import os
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.errors import ReferenceUnreadableError
from satchel.files import _listing as walk, is_settled
from satchel.files._listing import COARSE_NS, FINE_NS
from satchel.load import load
from satchel.model import FileStat, Found, Request
from satchel.sources import LocalSource
from tests.fakes import FakeClock, pack

SECOND_NS = 1_000_000_000


class CountingSource(LocalSource):
    reads = 0

    def manifest(self, key: str) -> bytes:
        self.reads += 1
        return super().manifest(key)


@dataclass
class Library:
    folder: Path
    source: CountingSource
    registry: Registry

    @property
    def file(self) -> Path:
        return self.folder / "a" / "SKILL.md"

    def body(self) -> str:
        return load(self.registry.catalog, Request("a")).body


@pytest.fixture
def library(tmp_path: Path) -> Library:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(pack("a", body="One\n"))
    source = CountingSource(tmp_path)
    registry = Registry(
        [source], accept=ParseOptions(), rules=CatalogRules(), clock=FakeClock()
    )
    registry.sync()
    return Library(tmp_path, source, registry)


def edit(file: Path, *, back_s: int = 0) -> None:
    """Edit a file to one of equal size, and set its time back."""
    before = file.stat()
    file.write_text(file.read_text().replace("One", "Two"))
    then = before.st_mtime_ns - back_s * SECOND_NS
    os.utime(file, ns=(before.st_atime_ns, then))
    assert file.stat().st_size == before.st_size


@pytest.mark.row("F09", "X15", "D38")
@pytest.mark.parametrize("back_s", [0, 3_600])
def test_an_edit_of_equal_size_with_its_time_set_back_is_seen(
    library: Library, back_s: int
) -> None:
    edit(library.file, back_s=back_s)

    assert library.registry.sync().updated == ("a",)
    assert library.body() == "Two\n"


@pytest.mark.row("F09", "X15")
def test_so_is_one_of_a_file_next_to_it(library: Library) -> None:
    notes = library.folder / "a" / "notes.md"
    notes.write_text("One\n")
    library.registry.sync()
    before = library.registry.digest(library.registry.catalog.entries[0])
    edit(notes)

    assert library.registry.sync().updated == ("a",)
    assert library.registry.digest(library.registry.catalog.entries[0]) != before


@pytest.mark.row("F09")
def test_a_pack_that_is_removed_and_added_again_is_seen(library: Library) -> None:
    """Many file systems give the new file the inode of the old one."""
    before = library.file.stat()
    shutil.rmtree(library.folder / "a")
    (library.folder / "a").mkdir()
    library.file.write_text(pack("a", body="Two\n"))
    os.utime(library.file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert library.registry.sync().updated == ("a",)
    assert library.body() == "Two\n"


def coarse(status: os.stat_result) -> tuple[int, int, int]:
    """Return what a file system with whole seconds, and no other time, gives."""
    whole_ns = status.st_mtime_ns // SECOND_NS * SECOND_NS
    return whole_ns, status.st_ino, whole_ns


@pytest.fixture
def coarse_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "mark_of", coarse)


@pytest.mark.row("F09", "X15")
@pytest.mark.usefixtures("coarse_times")
def test_where_times_are_coarse_what_was_just_written_is_looked_at_again(
    library: Library,
) -> None:
    """By its bytes: nothing is parsed, and nothing is reported that did not change."""
    library.registry.sync()  # the fixture's own sync saw the times of this machine
    assert library.registry.sync().unchanged == ("a",)
    edit(library.file)

    assert library.registry.sync().updated == ("a",)
    assert library.body() == "Two\n"


@pytest.mark.row("C23", "D39")
def test_what_is_old_enough_is_not_read_again(library: Library) -> None:
    library.registry.sync()
    before = library.file.stat().st_ctime_ns
    while time.time_ns() - before <= FINE_NS:  # at most a twentieth of a second
        os.stat(library.file)  # noqa: PTH116
    library.registry.sync()
    reads = library.source.reads

    assert library.registry.sync().unchanged == ("a",)
    assert library.source.reads == reads


@pytest.mark.usefixtures("coarse_times")
def test_what_cannot_be_read_again_is_told(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.registry.sync()

    def refuse(_: LocalSource, key: str) -> bytes:
        raise ReferenceUnreadableError(key, "SKILL.md", detail="Permission denied")

    monkeypatch.setattr(LocalSource, "manifest", refuse)
    library.registry.sync()

    assert [f.code for f in library.registry.latest.findings] == [
        "reference-unreadable"
    ]


NOW = 1_700_000_000 * SECOND_NS + 5


def whole(seconds_ago: int) -> int:
    return NOW // SECOND_NS * SECOND_NS - seconds_ago * SECOND_NS


def fine(ago_ns: int) -> int:
    return NOW - ago_ns


@pytest.mark.row("F09")
@pytest.mark.parametrize(
    ("times", "settled"),
    [
        ((fine(FINE_NS), fine(FINE_NS)), False),
        ((fine(FINE_NS + 1), fine(FINE_NS + 1)), True),
        ((fine(FINE_NS * 9), fine(0)), False),
        ((fine(0), fine(FINE_NS * 9)), False),
        ((whole(1), whole(1)), False),
        ((whole(2), whole(2)), True),
        ((whole(3), whole(3)), True),
        ((whole(-9), whole(-9)), True),
    ],
)
def test_when_an_edit_would_show(times: tuple[int, int], settled: bool) -> None:
    mtime_ns, ctime_ns = times
    assert COARSE_NS == 2 * SECOND_NS

    files = (FileStat("a", 1, (0, 1, 0)), FileStat("b", 1, (mtime_ns, 1, ctime_ns)))

    assert is_settled(files, NOW) is settled


def test_two_looks_at_one_pack_are_equal_whenever_they_are_made() -> None:
    """That it was written a moment ago is no difference between packs."""
    fresh = Found("a", "x/a", 1, settled=False)
    later = replace(fresh, settled=True)

    assert fresh == later
    assert hash(fresh) == hash(later)
