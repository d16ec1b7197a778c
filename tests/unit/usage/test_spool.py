"""Events that are on the disk until a database has them: a kill loses none."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import ConfigError, SourceUnavailableError
from satchel.usage import UsageState
from satchel_server.usage import open_store
from satchel_server.usage._background import Background
from satchel_server.usage._spool import Spool
from satchel_server.usage._store import EventStore, Row, Writer
from satchel_server.usage._upkeep import merge_file, open_tables
from tests.unit.usage.library import NOON, counts, load, read, writer
from tests.unit.usage.postgres import database, needs_postgres

posix = pytest.mark.skipif(os.name != "posix", reason="kills, and locks of files")


class Away(Exception):
    """The database does not answer."""


class Memory:
    """A store that may be away; two of one ``kept`` are one database."""

    def __init__(self, kept: dict[tuple[str, int], object], *, away: bool) -> None:
        self.kept, self.away, self.id = kept, away, ""

    def open(self, writer: Writer) -> None:
        self.id = writer.id
        if self.away:
            raise Away

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        del dropped, now
        if self.away:
            raise Away
        self.kept.update({(self.id, seq): event for seq, event in rows})

    def close(self, dropped: int, now: float) -> None:
        pass


def spooled(
    folder: Path, store: EventStore, brought: Callable[[str], object] = lambda _: None
) -> Background:
    return Background(lambda: store, spool=Spool(str(folder), brought), interval_s=0.01)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.spool"))


def test_what_is_stored_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    kept: dict[tuple[str, int], object] = {}
    sink = spooled(tmp_path, Memory(kept, away=False))
    for _ in range(5):
        sink.record(load())
    assert sink.flush()
    (file,) = files(tmp_path)
    assert len(file.read_bytes().splitlines()) == 1  # who writes
    sink.close()

    assert len(kept) == 5
    assert files(tmp_path) == []


def test_what_waits_at_the_end_is_left_for_the_next_process(tmp_path: Path) -> None:
    """It is not lost, and not counted as lost."""
    sink = spooled(tmp_path, Memory({}, away=True))
    for _ in range(3):
        sink.record(load())
    sink.close(timeout_s=0.5)
    assert sink.state.lost == 0
    (file,) = files(tmp_path)

    brought: list[str] = []
    after = spooled(tmp_path, Memory({}, away=False), brought.append)
    after.record(load())
    assert after.flush()
    after.close()

    assert brought == [str(file)]
    assert files(tmp_path) == []


def test_a_file_of_a_process_that_runs_is_left_alone(tmp_path: Path) -> None:
    running = spooled(tmp_path, Memory({}, away=True))
    running.record(load())
    brought: list[str] = []
    other = spooled(tmp_path, Memory({}, away=False), brought.append)
    other.record(load())
    assert other.flush()
    other.close()
    running.close(timeout_s=0.5)

    assert brought == []


def test_a_file_that_cannot_be_brought_in_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "old.spool").write_text("what is this?\n")

    def refuse(path: str) -> None:
        raise SourceUnavailableError("database", path)

    kept: dict[tuple[str, int], object] = {}
    sink = spooled(tmp_path, Memory(kept, away=False), refuse)
    sink.record(load())
    assert sink.flush()
    sink.close()

    assert len(kept) == 1
    assert [file.name for file in files(tmp_path)] == ["old.spool"]


def test_one_file_that_cannot_be_brought_in_stops_no_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.spool").write_text("{}\n")
    brought: list[str] = []

    def refuse_a(path: str) -> None:
        if path.endswith("a.spool"):
            raise ConfigError(path, "damaged")
        brought.append(path)

    with pytest.raises(ConfigError):
        Spool(str(tmp_path), refuse_a).bring_in()

    assert [Path(path).name for path in brought] == ["b.spool"]
    assert [file.name for file in files(tmp_path)] == ["a.spool"]


@posix
def test_a_file_that_its_process_writes_again_is_not_taken_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has opened it just before, and gets the lock of the old one."""
    monkeypatch.setattr("satchel_server.usage._spool.MAX_BYTES", 1)
    running = Spool(str(tmp_path), lambda _: None)
    running.begin(writer("w1"))
    running.add((1, load("a")))
    running.add((2, load("a")))
    (file,) = files(tmp_path)
    real = os.open

    def opened(path: Any, flags: int, *more: Any, **how: Any) -> int:  # noqa: ANN401
        fd = real(path, flags, *more, **how)
        if str(path) == str(file):
            running.stored([(2, load("a"))])
        return fd

    brought: list[str] = []
    monkeypatch.setattr("satchel_server.usage._spool.os.open", opened)
    Spool(str(tmp_path), brought.append).bring_in()
    monkeypatch.undo()

    assert brought == []
    running.add((3, load("a")))
    assert '"seq":3' in file.read_text()
    running.close(is_empty=True)


def test_half_a_line_on_a_full_disk_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(str(tmp_path), lambda _: None)
    spool.begin(writer("w1"))
    real = os.write
    calls = 0

    def full(fd: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError(28, "No space left on device")
        return real(fd, data[:20])

    monkeypatch.setattr("satchel_server.usage._spool.os.write", full)
    with pytest.raises(OSError, match="No space"):
        spool.add((1, load("a")))
    monkeypatch.undo()
    spool.add((2, load("a")))
    (file,) = files(tmp_path)
    lines = file.read_text().splitlines()
    spool.close(is_empty=True)

    assert len(lines) == 2
    assert '"seq":2' in lines[1]


def test_a_full_disk_delays_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: object, row: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Spool, "add", full)
    monkeypatch.setattr(Spool, "stored", full)
    kept: dict[tuple[str, int], object] = {}
    sink = spooled(tmp_path, Memory(kept, away=False))
    sink.record(load())
    assert sink.flush()
    state: UsageState = sink.state
    sink.close()

    assert len(kept) == 1
    assert state.failures


def test_an_event_that_cannot_be_made_is_counted(tmp_path: Path) -> None:
    sink = spooled(tmp_path, Memory({}, away=False))

    def fail() -> Any:  # noqa: ANN401
        raise ValueError

    sink.defer((fail,))
    sink.close()

    assert sink.state.lost == 1


def test_a_file_that_grows_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("satchel_server.usage._spool.MAX_BYTES", 1_000)
    spool = Spool(str(tmp_path), lambda _: None)
    spool.stored([])  # nothing has begun
    spool.begin(writer("w1"))
    spool.begin(writer("w1"))
    for seq in range(1, 11):
        spool.add((seq, load("a")))
    spool.stored([(10, load("a"))])
    (file,) = files(tmp_path)
    lines = file.read_text().splitlines()

    assert len(lines) == 2
    assert '"seq":10' in lines[1]
    spool.add((11, load("a")))
    spool.stored([(11, load("a"))])  # small enough to stay
    assert len(file.read_text().splitlines()) == 3
    spool.close(is_empty=True)
    spool.close(is_empty=True)


@pytest.mark.parametrize("url", ["sqlite:", "jsonl:///x.jsonl"])
def test_it_is_for_a_database_elsewhere(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SATCHEL_USAGE_SPOOL", str(tmp_path))

    with pytest.raises(ConfigError, match="SATCHEL_USAGE_SPOOL"):
        open_store(url)


_CHILD = """
import sys, time
from satchel_server.usage import open_store
from tests.unit.usage.library import load
sink = open_store(sys.argv[1])
for number in range(1_000_000):
    sink.record(load("a", time.time()))
    print(number + 1, flush=True)
"""


@posix
@needs_postgres
def test_a_kill_loses_no_event_that_was_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is counted once, whether the database had it or the disk alone."""
    url = database(str(tmp_path))
    monkeypatch.setenv("SATCHEL_USAGE_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("PYTHONPATH", os.getcwd())  # noqa: PTH109 - a variable's text
    taken = killed = 0
    for round_ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, url], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.3 + 0.2 * round_)
        child.send_signal(signal.SIGKILL)
        taken += int(child.stdout.read().split()[-1])
        child.wait()
        child.stdout.close()
        killed += 1
    sink = open_store(url)
    sink.record(load("b", time.time()))
    assert sink.flush(30)
    sink.close()

    # The last line may not have been read before the kill.
    counted = counts(read(url, time.time()))["a"]
    assert taken <= counted <= taken + killed
    assert files(tmp_path / "spool") == []


@needs_postgres
def test_a_file_that_was_brought_in_before_adds_nothing(tmp_path: Path) -> None:
    """A process was killed between the two steps."""
    url = database(str(tmp_path))
    spool = Spool(str(tmp_path), lambda _: None)
    spool.begin(writer("w9"))
    for seq in (1, 2, 3):
        spool.add((seq, load("a", NOON)))
    (file,) = files(tmp_path)
    for _ in range(2):
        with open_tables(url) as tables:
            merge_file(tables, str(file))
    spool.close(is_empty=True)

    assert counts(read(url)) == {"a": 3}
