"""What keeps events: a database, JSON lines, a chain; all give the same rows."""

import json
import os
import random
import shutil
import sqlite3
import stat
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import pytest

from satchel.errors import ConfigError, MissingPathError
from satchel.model import Origin
from satchel.usage._sinks import Event
from satchel_server.commands.usage import _lines
from satchel_server.usage import merge_file, open_tables, read_report
from satchel_server.usage._file_store import LineStore
from satchel_server.usage._records import OfferedDays
from satchel_server.usage._store import InvalidRowError
from satchel_server.usage._table_store import TableStore
from tests.unit.usage.library import (
    DAY,
    EVERY_KIND,
    KINDS,
    NOON,
    copied,
    counts,
    day,
    keep,
    load,
    miss,
    place,
    read,
    skill,
    store,
    sync,
    writer,
)

EVENTS: list[Event] = [
    sync(day(0), skill("a", "references/r.md"), "b", owners={"a": "@team"}),
    load("a", day(0), release="r1", owner="@team", agent="desk", client="Code"),
    load("a", day(0), release="r1", owner="@team", agent="desk", client="Code"),
    load("a", day(0), reference="references/r.md"),
    load("a", day(1), script="scripts/s.py"),
    miss("nope", day(1)),
    miss("<invalid>", day(1), via="mcp"),
    sync(day(1), "a", "c"),
    sync(day(1), "a", "c"),
]


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_what_was_stored_is_read(kind: str, tmp_path: Path) -> None:
    """Every store gives the same rows."""
    records = keep(kind, tmp_path, EVENTS)

    today = int(NOON // DAY)
    assert {key: n for key, n in records.figures.now.items() if key[0]} == {
        ("a", "load", ""): 4,
        ("a", "file", "references/r.md"): 1,
        ("a", "file", "scripts/s.py"): 1,
        ("a", "via", "tool"): 4,
        ("a", "source", "team"): 4,
        ("a", "digest", "sha256:a"): 2,
        ("a", "release", "r1"): 2,
        ("a", "owner", "@team"): 2,
        ("a", "agent", "desk"): 2,
        ("a", "client", "Code"): 2,
        ("nope", "error", "skill-not-found"): 1,
        ("<invalid>", "error", "skill-not-found"): 1,
    }
    assert records.figures.by_day == {(today, "a"): 3, (today + 1, "a"): 1}
    assert records.figures.tokens == {"a": 40}
    assert records.offers == {
        "a": OfferedDays(2, today, today + 1, None),
        "b": OfferedDays(1, today, today, None),
        "c": OfferedDays(1, today + 1, today + 1, None),
    }
    assert records.listed["b"].owner == ""
    assert records.unread == 0
    (names,) = records.writers
    assert (names.id, names.bound, names.dropped) == ("w1", 10_000, 0)
    assert names.closed == NOON
    (tmp_path / "same").mkdir()
    same = keep(KINDS[0], tmp_path / "same", EVENTS)
    assert replace(records, writers=()) == replace(same, writers=())


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("needed", [1, 3, 9])
def test_the_days_on_offer_of_each_skill(
    kind: str, needed: int, tmp_path: Path
) -> None:
    """One that is always there, new, gone, away for a day, or seldom there."""
    days = {
        "always": [0, 1, 3, 4, 5],
        "new": [4, 5],
        "gone": [0, 1, 3],
        "away": [0, 1, 4, 5],
        "seldom": [0, 3, 5],
        "later": [6],
    }
    syncs: list[Event] = [
        sync(day(one), *(name for name, at in days.items() if one in at))
        for one in (0, 1, 3, 4, 5, 6)
    ]
    keep(kind, tmp_path, syncs)
    today = int(NOON // DAY)

    records = read(place(kind, tmp_path), day(5), needed)

    assert records.offers == {
        name: OfferedDays(
            len(at),
            today + at[0],
            today + at[-1],
            today + at[-needed] if len(at) >= needed else None,
        )
        for name, at in days.items()
        if at[0] <= 5
    }


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_batch_that_is_tried_again_is_stored_once(kind: str, tmp_path: Path) -> None:
    stored = store(kind, tmp_path)
    stored.open(writer())
    rows: list[tuple[int, Event]] = [(1, load("a")), (2, load("b"))]
    stored.write(rows, 0, NOON)
    stored.write([*rows, (3, load("c"))], 0, NOON)
    stored.close(0, NOON)

    records = read(place(kind, tmp_path))

    assert counts(records) == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize(
    "row",
    [
        load("b", size_bytes=object()),
        load("b", at=float("nan")),
        sync(float("nan"), "b"),
        replace(sync(NOON), entries=(None,)),  # type: ignore[arg-type]
    ],
    ids=["object", "time", "offer", "entry"],
)
def test_a_row_that_cannot_be_kept_says_so_and_leaves_nothing(
    kind: str, row: Event, tmp_path: Path
) -> None:
    stored = store(kind, tmp_path)
    stored.open(writer())
    with pytest.raises(InvalidRowError):
        stored.write([(1, load("a")), (2, row)], 0, NOON)
    stored.write([(1, load("a"))], 1, NOON)
    stored.close(1, NOON)

    records = read(place(kind, tmp_path))

    assert counts(records) == {"a": 1}
    assert records.unread == 0


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_names_of_files_that_are_no_text_are_stored(kind: str, tmp_path: Path) -> None:
    """A folder on POSIX may be called by any bytes."""
    odd = "skills\udcff"
    entry = skill("a", f"{odd}.md")
    entry = replace(entry, origins=(Origin(odd, "a", "a"),))
    events: list[Event] = [
        sync(NOON, entry, owners={"a": odd}),
        load("a", source=odd, reference=f"{odd}.md", error=odd, code="x"),
        load("a", source=odd, reference=f"{odd}.md"),
    ]

    records = keep(kind, tmp_path, events)

    shown = "skills\\udcff"
    assert records.figures.now["a", "error", "x"] == 1
    assert records.figures.now["a", "source", shown] == 1
    assert records.figures.files == {("a", f"{shown}.md")}
    listed = records.listed["a"]
    assert (listed.source, listed.owner) == (shown, shown)
    assert listed.references == (f"{shown}.md",)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_what_was_dropped_is_on_record(kind: str, tmp_path: Path) -> None:
    first, second = store(kind, tmp_path), store(kind, tmp_path)
    first.open(writer("w1"))
    first.write([(1, load("a"))], 3, NOON)
    second.open(writer("w2"))
    second.close(4, NOON)
    if isinstance(first, TableStore):
        first.connection.close()  # as a process that ends does

    records = read(place(kind, tmp_path))

    assert [(w.id, w.dropped, w.closed) for w in records.writers] == [
        ("w1", 3, None),
        ("w2", 4, NOON),
    ]


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_else_reads_what_is_made(kind: str, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        keep(kind, tmp_path / "state", EVENTS, closed=False)
    finally:
        os.umask(before)

    folder = tmp_path / "state"
    modes = {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert modes == {0o600}


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_whose_place_is_a_folder_says_so(kind: str, tmp_path: Path) -> None:
    (tmp_path / f"usage.{kind}").mkdir()
    (tmp_path / f"usage.{kind}.head").mkdir()

    with pytest.raises(OSError, match="directory"):
        store(kind, tmp_path).open(writer())


def test_a_sync_is_written_once_a_day_and_change(tmp_path: Path) -> None:
    stored = store("jsonl", tmp_path)
    stored.open(writer())
    offers = [(0.0, "a"), (60.0, "a"), (120.0, "ab"), (DAY, "ab")]
    for seq, (later, names) in enumerate(offers, 1):
        stored.write([(seq, sync(day(0) + later, *names))], 0, NOON)

    assert (tmp_path / "usage.jsonl").read_text().count("catalog_synced") == 3


@pytest.mark.row("C33", "E05")
def test_a_line_has_the_seven_keys_first(tmp_path: Path) -> None:
    """What other activation logs say under seven keys is on the line, too."""
    keep("jsonl", tmp_path, [load("a", release="r1", agent="desk")])

    line = json.loads((tmp_path / "usage.jsonl").read_text().splitlines()[1])

    assert list(line)[:7] == [
        *("event", "name", "reference", "script", "source", "duration_s", "error")
    ]
    expected = ("name", "release", "digest", "agent", "client", "via", "at")
    assert [line[key] for key in expected] == [
        *("a", "r1", "sha256:a", "desk", "", "tool"),
        NOON,
    ]
    assert line["schema_version"] == 1


@pytest.mark.parametrize("kind", ["jsonl", "chain"])
def test_a_line_that_was_cut_off_spoils_no_other(kind: str, tmp_path: Path) -> None:
    keep(kind, tmp_path, [load("a")])
    with (tmp_path / f"usage.{kind}").open("ab") as log:
        log.write(b'{"event": "skill_lo')

    records = keep(kind, tmp_path, [load("b")])

    assert counts(records).keys() >= {"a"}
    assert records.unread == (1 if kind == "jsonl" else 0)


def test_lines_that_are_not_ours_are_counted(tmp_path: Path) -> None:
    """Lines of a writer that is not on record count: the log may have moved away."""
    keep("jsonl", tmp_path, [load("a"), load("b")])
    file = tmp_path / "usage.jsonl"
    lines = file.read_text().splitlines()[1:]
    wrong = json.loads(lines[0]) | {"name": ["a"], "seq": 9}
    short = {"schema_version": 1, "event": "skill_loaded", "writer": "x", "at": 1}
    odd = ["[]", "1", "{}", '{"schema_version": 1}', "[" * 100_000]
    odd += map(json.dumps, (wrong, short))
    file.write_text("\n".join([*lines, *odd]) + "\n")

    records = read(file)

    assert records.unread == len(odd)
    assert (counts(records), records.writers) == ({"a": 1, "b": 1}, [])


@pytest.mark.row("R37")
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_later_satchel_wrote_is_refused(kind: str, tmp_path: Path) -> None:
    keep(kind, tmp_path, [load("a")])
    file = tmp_path / f"usage.{kind}"
    if kind == "sqlite":
        with closing(sqlite3.connect(file)) as base, base:
            base.execute("UPDATE satchel_usage SET schema_version = 2")
        base.close()
        with pytest.raises(ConfigError, match="schema 2, known is 1"):
            store(kind, tmp_path).open(writer("w2"))
    else:
        text = file.read_text()
        file.write_text(text.replace('on": 1', 'on": 5').replace('on":1', 'on":5'))

    with pytest.raises(ConfigError, match="later Satchel"):
        read(file)


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "usage.sqlite"
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("CREATE TABLE notes (text)")
    base.close()

    for use in (
        lambda: read(file),
        lambda: store("sqlite", tmp_path).open(writer()),
    ):
        with pytest.raises(ConfigError, match="not one of usage events"):
            use()
    with closing(sqlite3.connect(file)) as base, base:
        tables = base.execute("SELECT name FROM sqlite_master").fetchall()
        mode = base.execute("PRAGMA journal_mode").fetchone()
    base.close()
    assert (tables, mode) == ([("notes",)], ("delete",))


def test_a_file_that_is_no_chain_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "usage.chain"
    for text in ("notes\n", '{"line": "x"}\n', "[]\n"):
        file.write_text(text)
        with pytest.raises(ConfigError, match="not a chained log"):
            store("chain", tmp_path).open(writer())
        assert file.read_text() == text


def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "usage.db"
    file.write_bytes(b"SQLite format 3\x00" + b"\xff" * 200)

    with pytest.raises(ConfigError, match="cannot be read"):
        read(file)
    with pytest.raises(MissingPathError, match="gone"):
        read(tmp_path / "gone.db")


FORMATS: Final = Path(__file__).parents[2] / "formats"
WRONG: list[object] = [b"\xff", "text", 1e300, -1e300, 1 << 62, None, "[1]", '{"a":1}']


@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("loads", item) for item in ("at", "name", "source", "owner", "tokens")),
        *(("skills", entry) for entry in ("owner", "refs", "name")),
        *(("writers", one) for one in ("pid", "dropped", "started", "seen", "host")),
        ("offers", "day"),
        ("satchel_usage", "schema_version"),
    ],
)
def test_a_database_that_says_anything_is_read_or_refused(
    table: str, column: str, tmp_path: Path
) -> None:
    keep("sqlite", tmp_path, EVENTS)
    file = tmp_path / "usage.sqlite"
    good = file.read_bytes()
    for wrong in WRONG:
        file.write_bytes(good)
        with closing(sqlite3.connect(file)) as base, suppress(sqlite3.IntegrityError):
            base.execute("UPDATE writers SET closed = NULL")
            base.execute(f"UPDATE {table} SET {column} = ?", (wrong,))  # noqa: S608
            base.commit()
        with suppress(ConfigError):
            report_as_json(file)


@pytest.mark.slow
@pytest.mark.parametrize("line", range(8))
def test_lines_that_say_anything_are_read_or_counted(line: int, tmp_path: Path) -> None:
    keep("jsonl", tmp_path, EVENTS)
    file = tmp_path / "usage.jsonl"
    good = file.read_bytes().splitlines()
    value = json.loads(good[line])
    more = [[1], {"a": 1}, [[1]], [{"name": 1}], True, -5, 1e400, "\x1b[31m"]
    more += [10**30, float("nan"), "\ud800"]
    for key in value:
        for wrong in [*WRONG[1:], *more]:
            lines = [*good]
            lines[line] = json.dumps({**value, key: wrong}).encode()
            file.write_bytes(b"\n".join(lines) + b"\n")
            with suppress(ConfigError):
                report_as_json(file)


@pytest.mark.parametrize(
    ("line", "key", "wrong", "is_read"),
    [
        *((0, "pid", wrong, False) for wrong in (10**30, float("nan"))),
        *((0, key, "\ud800", True) for key in ("host", "replica", "writer")),
        *((1, "tokens", wrong, False) for wrong in (10**30, 1e400, True)),
        *((1, key, 10**30, False) for key in ("seq", "size_bytes", "at")),
        *((1, key, "\ud800", True) for key in ("caller", "client", "writer")),
        (1, "duration_s", float("nan"), False),
        (1, "writer", ["w1"], False),
        (3, "dropped", 10**30, False),
    ],
)
def test_a_line_with_what_no_table_holds_spoils_no_other(
    line: int, key: str, wrong: object, is_read: bool, tmp_path: Path
) -> None:
    """As a number of thirty digits, no number, or half of a character."""
    keep("jsonl", tmp_path, [load("b"), load("a")])
    file = tmp_path / "usage.jsonl"
    values = [json.loads(one) for one in file.read_bytes().splitlines()]
    values[line][key] = wrong
    file.write_text("".join(f"{json.dumps(value)}\n" for value in values))

    records = read(file)
    with open_tables(str(tmp_path / "merged.db")) as tables:
        merged = merge_file(tables, str(file))

    assert counts(records)["a"] == 1
    assert records.unread == merged.lines_not_read == (not is_read)
    assert counts(read(tmp_path / "merged.db")) == counts(records)


def report_as_json(file: Path) -> str:
    report = read_report(str(file), now=day(2))
    return json.dumps(report.as_dict()) + "".join(_lines(report))


def test_a_database_with_spoilt_bytes_is_read_or_refused(tmp_path: Path) -> None:
    keep("sqlite", tmp_path, EVENTS)
    file = tmp_path / "usage.sqlite"
    good = file.read_bytes()
    chance = random.Random(7)  # noqa: S311 - no secret
    for _ in range(150):
        spoilt = bytearray(good)
        for _ in range(chance.choice((1, 3, 20))):
            spoilt[chance.randrange(16, len(good))] = chance.randrange(256)
        file.write_bytes(spoilt)
        with suppress(ConfigError):
            report_as_json(file)


def test_a_database_in_a_folder_that_is_not_ours_to_write_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In WAL mode SQLite wants files next to it, though nothing is to be written."""
    keep("sqlite", tmp_path, EVENTS)
    real = sqlite3.connect
    asked: list[str] = []

    def connect(url: str, **more: Any) -> sqlite3.Connection:  # noqa: ANN401
        if "usage.sqlite" not in url:  # another database than the one under test
            return cast("sqlite3.Connection", real(url, **more))
        asked.append(url)
        if "immutable" not in url:
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return cast("sqlite3.Connection", real(url, **more))

    monkeypatch.setattr(sqlite3, "connect", connect)
    assert counts(read(tmp_path / "usage.sqlite"))
    (tmp_path / "usage.sqlite-wal").write_bytes(b"something")
    with pytest.raises(ConfigError, match="readonly"):
        read(tmp_path / "usage.sqlite")
    assert len(asked) == 3


def test_a_write_that_ends_half_way_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: what was on the file before stays, and nothing else."""
    stored = LineStore(str(tmp_path / "usage.jsonl"))
    stored.open(writer())
    before = (tmp_path / "usage.jsonl").read_bytes()
    real = os.write
    room = [10]

    def write(fd: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        count = real(fd, data[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match="No space"):
        stored.write([(1, load("a"))], 0, NOON)

    assert (tmp_path / "usage.jsonl").read_bytes() == before


def test_where_the_system_locks_bytes_a_far_one_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where nobody could read bytes that are locked."""
    calls: list[tuple[str, bool]] = []

    class Locks:
        LK_LOCK = "lock"
        LK_UNLCK = "unlock"

        @staticmethod
        def locking(fd: int, mode: str, count: int) -> None:
            assert count == 1
            calls.append((mode, os.lseek(fd, 0, os.SEEK_CUR) == 1 << 40))

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Locks)
    keep("jsonl", tmp_path, [load("a")])

    assert calls == [("lock", True), ("unlock", True)] * 3


@pytest.mark.row("F40", "T10", "R37")
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_what_was_copied_stays_apart_from_the_loads(kind: str, tmp_path: Path) -> None:
    missed = copied("c", code="skill-not-found")
    events: list[Event] = [copied("a"), load("b"), copied("a"), missed]
    records = keep(kind, tmp_path, events)

    assert counts(records) == {"b": 1}
    assert counts(records, "copy") == {"a": 2}


@pytest.mark.row("T17", "R37")
def test_the_version_before_reads_no_copy_as_a_load(tmp_path: Path) -> None:
    """A database is to it as it was; a line that it would misread it refuses."""
    keep("jsonl", tmp_path, [copied("a"), load("b")])
    lines = map(json.loads, (tmp_path / "usage.jsonl").read_text().splitlines())
    versions = {line["event"]: line["schema_version"] for line in lines}
    file = tmp_path / "usage.sqlite"
    keep("sqlite", tmp_path, [load("a")])
    with closing(sqlite3.connect(file)) as base:
        for table in ("copies", "imports", "keys", "sums", "talks", "again"):
            base.execute(f"DROP TABLE {table}")  # as that version made it
        for column in ("summed", "last_seq", "replica", "origin"):
            base.execute(f"ALTER TABLE writers DROP COLUMN {column}")
        base.commit()
    assert counts(read(file)) == {"a": 1}
    stored = store("sqlite", tmp_path)
    stored.open(writer("w2"))
    stored.write([(1, copied("b"))], 0, NOON)
    stored.close(0, NOON)
    with closing(sqlite3.connect(file)) as base:
        loads = base.execute("SELECT name FROM loads").fetchall()
        version = base.execute("SELECT schema_version FROM satchel_usage").fetchone()

    assert (versions["skill_loaded"], versions["skill_synced"]) == (1, 2)
    assert (loads, version) == ([("a",)], (1,))
    assert counts(read(file), "copy") == {"b": 1}


@pytest.mark.row("R37")
def test_a_file_of_an_earlier_version_is_read_while_it_is_written(
    tmp_path: Path,
) -> None:
    """Its log has what is not in the file yet, and reading changes neither."""
    file = tmp_path / "usage.sqlite"
    shutil.copyfile(FORMATS / "usage-1.db", file)
    loads = counts(read(file, day(29)))["pdf-forms"]
    with closing(sqlite3.connect(file)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute(
            "INSERT INTO loads SELECT writer, 99, at, name, NULL, NULL, source, "
            "duration_s, NULL, file, via, digest, size_bytes, NULL, tokens, "
            '"release", owner, agent, client FROM loads '
            "WHERE name = 'pdf-forms' AND code IS NULL LIMIT 1"
        )
        base.commit()

        assert counts(read(file, day(29)))["pdf-forms"] == loads + 1
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
    assert "sums" not in tables
