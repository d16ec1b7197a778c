"""What SQLite and PostgreSQL share: sums, retries, merge, prune and erase."""

import json
import random
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from satchel.errors import ConfigError, SourceUnavailableError
from satchel.usage._sinks import Event
from satchel_server.usage import (
    _table_store,
    _tables,
    erase_caller,
    merge_file,
    open_tables,
    prune_events,
    read_report,
)
from satchel_server.usage._location import parse_location
from tests.unit.usage.library import (
    DAY,
    NOON,
    TABLES,
    copied,
    day,
    keep,
    load,
    miss,
    place,
    report,
    store,
    sync,
    writer,
)
from tests.unit.usage.postgres import SERVER, database, execute, needs_postgres

FORMATS: Final = Path(__file__).parents[2] / "formats"


def some_events(seed: int, count: int = 120) -> list[Event]:
    """Return loads of 50 days and of every kind, in an order of their own."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    made: list[Event] = []
    for _ in range(count):
        name, at = chance.choice("abcd"), day(chance.randrange(-49, 1))
        who = {
            "caller": chance.choice(("", "x.ana", "x.bo", "y.cy")),
            "client": chance.choice(("", "Code", "satchel")),
            "agent": chance.choice(("", "desk")),
            "via": chance.choice(("mcp", "http", "tool", "cli")),
            "conversation": chance.choice(("", "c1", "c2", "c3", "c4")),
            "owner": chance.choice(("", "@ana")),
            "release": chance.choice(("r1", "r2")),
        }
        if chance.random() < 0.1:
            made.append(miss(name, at, **who))
        elif chance.random() < 0.1:
            made.append(copied(name, at))
        else:
            file = chance.choice((None, "references/r.md"))
            made.append(load(name, at, reference=file, **who))
    return [sync(day(0), *"abcde"), *made]


def write(
    kind: str, folder: Path, events: list[Event], seed: int, *, fold: bool = True
) -> list[Any]:
    """Write events by three writers at once, who add to the sums now and then."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    stores: list[Any] = []
    for name in ("w1", "w2", "w3"):
        stores.append(store(kind, folder))
        stores[-1].open(writer(name))
    seqs = [0, 0, 0]
    for event in events:
        which = chance.randrange(3)
        seqs[which] += 1
        stores[which].write([(seqs[which], event)], 0, NOON)
        if fold and chance.random() < 0.1:
            stores[which]._fold()
        if fold and chance.random() < 0.05:
            stores[which]._fold_others(NOON + 2 * _table_store.FOLD_S * 10)
    return stores


def figures(made: Any) -> dict[str, Any]:  # noqa: ANN401 - a report
    """Return what does not depend on who wrote it."""
    values: dict[str, Any] = made.as_dict()
    for key in ("replicas", "origins", "writers_at_work", "writers_not_closed"):
        del values[key]
    return {key: value for key, value in values.items() if key != "may_be_missing"}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("seed", range(4))
def test_sums_and_rows_in_no_sum_give_one_report(
    kind: str, seed: int, tmp_path: Path
) -> None:
    """Whatever is summed, by whom, and also with clients that copy."""
    events = some_events(seed)
    keep("jsonl", tmp_path, events)

    stores = write(kind, tmp_path, events, seed)
    only = {"a": ["references/r.md"], "c": []}
    asked: list[dict[str, Any]] = [
        *({"days": days} for days in (1, 7, 30)),
        {"at": day(-20)},
        {"mirrors": ["Code"]},
        {"only": only},
    ]
    shown = [figures(report(kind, tmp_path, **more)) for more in asked]
    for one in stores:
        one.close(0, NOON)
    after = [figures(report(kind, tmp_path, **more)) for more in asked]

    expected = [figures(report("jsonl", tmp_path, **more)) for more in asked]
    assert shown == expected
    assert after == expected


@pytest.mark.parametrize("kind", TABLES)
def test_callers_and_conversations_are_exact(kind: str, tmp_path: Path) -> None:
    """A conversation of several days counts once in each period that has one."""
    events: list[Event] = [
        load("a", day(-40), conversation="c1", caller="x.ana"),
        load("a", day(0), conversation="c1", caller="x.ana"),
        load("b", day(-1), conversation="c1", caller="x.bo"),
        load("a", day(-35), conversation="c2", caller="y/cy"),
        load("a", day(-2), conversation="c3"),
        load("a", day(-1), conversation="c3"),
        load("b", day(-1), conversation="c4", via="cli"),
    ]
    keep(kind, tmp_path, events)

    made = report(kind, tmp_path)

    assert {use.name: use.conversations for use in made.skills} == {"a": 2, "b": 1}
    assert (made.conversations, made.before, made.loads) == (2, 2, 4)
    assert made.as_dict()["callers"] == {"x.ana": 1, "x.bo": 1}
    assert made.by["team"] == {"x": (2, 1), "y": (0, 1)}
    assert made.by["caller"]["y/cy"] == (0, 1)
    assert sum(made.by_day.values()) == made.loads


@pytest.mark.parametrize("kind", TABLES)
def test_somebody_else_sums_up_and_nothing_counts_twice(
    kind: str, tmp_path: Path
) -> None:
    (one, *others) = write(kind, tmp_path, some_events(3), 3, fold=False)
    for other in others:
        other.close(0, NOON)
    with open_tables(url(kind, tmp_path)) as tables:
        prune_events(tables, 0)  # removes nothing, and sums up all
    before = figures(report(kind, tmp_path))
    one.write([(1_000, load("a"))], 0, NOON)
    one.close(0, NOON)

    after = report(kind, tmp_path)

    keep("jsonl", tmp_path, some_events(3))
    assert before == figures(report("jsonl", tmp_path))
    assert after.loads == before["loads"] + 1


@pytest.mark.parametrize("kind", TABLES)
def test_many_rows_are_summed_in_parts(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tables, "CHUNK", 7)
    monkeypatch.setattr("satchel_server.usage._upkeep.CHUNK", 7)
    events = some_events(9)
    (*stores, last) = write(kind, tmp_path, events, 9, fold=False)
    with open_tables(url(kind, tmp_path)) as tables:
        prune_events(tables, 0)
        with tables.transaction() as base:
            left = [row for row in base.rows(base.tails) if row[0] != 0]
    last._folded = -1  # as after an answer that was lost
    last.write([(1_000, load("a"))], 0, NOON)
    for one in (*stores, last):
        one.close(0, NOON)

    keep("jsonl", tmp_path, [*events, load("a")])
    assert left == []
    assert figures(report(kind, tmp_path)) == figures(report("jsonl", tmp_path))


@pytest.mark.parametrize("kind", TABLES)
def test_sums_that_fail_stop_no_event(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made later, of the rows."""
    stored: Any = store(kind, tmp_path)
    stored.open(writer())
    stored.write([(1, load("a", conversation="c1"))], 0, NOON)
    real = _tables.add_sums
    with monkeypatch.context() as patch:

        def fail(base: Any, sums: Any) -> None:  # noqa: ANN401
            real(base, sums)
            raise OSError("no room")

        patch.setattr("satchel_server.usage._table_store.add_sums", fail)
        rows: list[tuple[int, Event]] = [(2, load("a", conversation="c1"))]
        with pytest.raises(OSError, match="no room"):
            stored.write(rows, 0, NOON + 100)
        stored.write([*rows, (3, load("b"))], 0, NOON + 101)
    shown = report(kind, tmp_path)
    stored.write([(4, load("b"))], 0, NOON + 300)
    stored.close(0, NOON + 300)

    after = report(kind, tmp_path)
    assert (shown.loads, shown.conversations) == (3, 1)
    assert (after.loads, after.conversations) == (4, 1)
    assert {use.name: use.loads for use in after.skills} == {"a": 2, "b": 2}


def url(kind: str, folder: Path) -> str:
    where = place(kind, folder)
    return where if kind == "postgresql" else f"sqlite:{where}"


@pytest.mark.row("U13")
@pytest.mark.parametrize("kind", TABLES)
def test_files_of_all_kinds_and_versions_are_merged_once(
    kind: str, tmp_path: Path
) -> None:
    events = [some_events(seed, 40) for seed in range(3)]
    for source, made in zip(("sqlite", "jsonl", "chain"), events, strict=True):
        stored = store(source, tmp_path)
        stored.open(writer(source))
        stored.write([*enumerate(made, 1)], 2, NOON)
        stored.close(2, NOON)
    target = tmp_path / "target"
    target.mkdir()
    files = [
        str(tmp_path / f"usage.{source}") for source in ("sqlite", "jsonl", "chain")
    ]
    keep("jsonl", target, [event for made in events for event in made])

    with open_tables(url(kind, target)) as tables:
        first = [merge_file(tables, file) for file in files]
        again = [merge_file(tables, file) for file in files]

    merged = report(kind, target)
    assert [(it.events, it.repeats) for it in first] == [(40, 0)] * 3
    assert [(it.events, it.repeats) for it in again] == [(0, 40)] * 3
    assert merged.dropped == 6
    assert merged.origins == {"usage.chain": 1, "usage.jsonl": 1, "usage.sqlite": 1}
    expected = figures(report("jsonl", target)) | {"dropped": 6}
    assert figures(merged) == expected


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", ["usage-1.db", "usage-2.jsonl", "usage-2.chain"])
def test_released_files_are_merged(kind: str, name: str, tmp_path: Path) -> None:
    file = str(tmp_path / name)
    shutil.copyfile(FORMATS / name, file)

    with open_tables(url(kind, tmp_path)) as tables:
        merge_file(tables, file)

    merged = report(kind, tmp_path, day(29))
    assert figures(merged) == figures(read_report(file, now=day(29)))


def imported(seq: int, name: str, at: object = NOON, **more: object) -> str:
    line = {"event": "skill_imported", "at": at, "name": name, "client": "Code"}
    line |= {"conversation": "s1", "writer": "import", "seq": seq, "schema_version": 4}
    return json.dumps(line | more) + "\n"


@pytest.mark.row("U13")
@pytest.mark.parametrize("kind", [*TABLES, "jsonl"])
def test_what_is_imported_is_marked_and_revives_nothing(
    kind: str, tmp_path: Path
) -> None:
    events = [sync(day(-n), "a", "b") for n in range(30)] + [load("a")]
    keep(kind, tmp_path, events)
    lines = imported(1, "b") + imported(2, "b", client="Cursor") + imported(3, "b")
    lines += imported(4, "b", at="x")
    if kind == "jsonl":
        with (tmp_path / "usage.jsonl").open("a") as log:
            log.write(lines)
    else:
        (tmp_path / "import.jsonl").write_text(lines)
        with open_tables(url(kind, tmp_path)) as tables:
            merged = merge_file(tables, str(tmp_path / "import.jsonl"))
        assert (merged.events, merged.lines_not_read) == (3, 1)

    made = report(kind, tmp_path)

    assert made.imported == {"Code": 2, "Cursor": 1}
    assert made.loads == 1
    assert [status.name for status in made.of("dead")] == ["b"]


@pytest.mark.parametrize("kind", TABLES)
def test_pruning_leaves_what_is_younger(kind: str, tmp_path: Path) -> None:
    events = some_events(5)
    for one in write(kind, tmp_path, events, 5):
        one.close(0, NOON)
    first = int(day(-19) // DAY)
    young = [event for event in events if event.at >= first * DAY]

    with open_tables(url(kind, tmp_path)) as tables:
        removed = prune_events(tables, first)
        assert prune_events(tables, first) == 0

    keep("jsonl", tmp_path, young)
    assert removed == len(events) - len(young)
    for days in (30, 90):  # also by what went on from a day before
        left, expected = (report(one, tmp_path, days=days) for one in (kind, "jsonl"))
        assert figures(left) == figures(expected)


@pytest.mark.parametrize("kind", TABLES)
def test_a_caller_is_erased_from_rows_and_sums(kind: str, tmp_path: Path) -> None:
    """While writers run that have not added everything to the sums."""
    events = some_events(6)
    stores = write(kind, tmp_path, events, 6)

    with open_tables(url(kind, tmp_path)) as tables:
        removed = erase_caller(tables, "x.ana")
    before = figures(report(kind, tmp_path))
    for one in stores:
        one.close(0, NOON)

    rest = [event for event in events if getattr(event, "caller", "") != "x.ana"]
    keep("jsonl", tmp_path, rest)
    expected = figures(report("jsonl", tmp_path))
    assert removed == len(events) - len(rest)
    assert before == expected
    assert figures(report(kind, tmp_path)) == expected
    assert "x.ana" not in repr(report(kind, tmp_path))


def test_lines_only_grow(tmp_path: Path) -> None:
    keep("chain", tmp_path, [load("a")])

    with (
        pytest.raises(ConfigError, match="satchel usage merge"),
        open_tables(str(tmp_path / "usage.chain")),
    ):
        pass


@pytest.mark.row("R37")
def test_a_writer_of_an_earlier_version_goes_on_next_to_this_one(
    tmp_path: Path,
) -> None:
    """It makes no sums; its rows count all the same, and so does what it repeats."""
    file = tmp_path / "usage.sqlite"
    shutil.copyfile(FORMATS / "usage-1.db", file)
    new = store("sqlite", tmp_path)
    new.open(writer("new"))
    new.write([(1, load("pdf-forms", day(29)))], 0, NOON)
    with closing(sqlite3.connect(file)) as base:
        base.execute(
            "INSERT INTO writers (id, process, host, pid, bound, started, seen) "
            "VALUES ('old', 'p', 'h', 1, 1, 0, 0)"
        )
        base.execute(
            "INSERT INTO loads (writer, seq, at, name, reference, script, source, "
            "duration_s, error, file, via, digest, size_bytes, code, tokens, "
            '"release", owner, agent, client) SELECT number, 7, ?, '
            "'pdf-forms', NULL, NULL, 's', 0, NULL, NULL, 'tool', '', 1, NULL, 1, "
            "'', '', '', '' FROM writers WHERE id = 'old'",
            (day(29),),
        )
        base.commit()

    shown = [report("sqlite", tmp_path, day(29)).loads]
    new.close(0, NOON)
    shown.append(report("sqlite", tmp_path, day(29)).loads)
    with open_tables(url("sqlite", tmp_path)) as tables:
        prune_events(tables, 0)
    shown.append(report("sqlite", tmp_path, day(29)).loads)

    assert shown == [10, 10, 10]


@needs_postgres
def test_a_connection_that_is_lost_costs_no_event_and_repeats_none(
    tmp_path: Path,
) -> None:
    where = database(str(tmp_path))
    stored: Any = store("postgresql", tmp_path)
    stored.open(writer())
    stored.write([(1, load("a")), (2, load("a"))], 0, NOON)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    end += f"WHERE datname = '{where.rpartition('/')[2]}' AND pid <> pg_backend_pid()"
    execute(end, where)
    rows: list[tuple[int, Event]] = [(3, load("a"))]
    with pytest.raises(SourceUnavailableError, match="administrator"):
        stored.write(rows, 0, NOON)
    stored.write(rows, 4, NOON)
    # As if the answer to the last commit was lost: the rows are there, and come again.
    stored._last = 2
    stored.connection.close()
    stored.write([*rows, (4, load("a"))], 5, NOON)
    stored.close(5, NOON)

    made = report("postgresql", tmp_path)
    assert (made.loads, made.dropped) == (4, 5)
    assert execute("SELECT count(*) FROM satchel_usage.loads", where) == [(4,)]


@needs_postgres
def test_many_replicas_begin_at_once(tmp_path: Path) -> None:
    database(str(tmp_path))
    problems: list[BaseException] = []

    def begin(number: int) -> None:
        try:
            stored = store("postgresql", tmp_path)
            stored.open(writer(f"w{number}"))
            stored.write([(1, sync(NOON, *"abc")), (2, load("a"))], 0, NOON)
            stored.close(0, NOON)
        except BaseException as error:  # noqa: BLE001 - for the other thread
            problems.append(error)

    threads = [threading.Thread(target=begin, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []
    assert report("postgresql", tmp_path).loads == 20


@needs_postgres
def test_a_replica_goes_on_in_tables_that_a_later_one_added_to(tmp_path: Path) -> None:
    """Until they say that it cannot."""
    where = database(str(tmp_path))
    keep("postgresql", tmp_path, [load("a")])
    for change in (
        "ALTER TABLE satchel_usage.loads ADD COLUMN region TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE satchel_usage.writers ADD COLUMN region TEXT",
        "CREATE TABLE satchel_usage.regions (name TEXT PRIMARY KEY)",
        "UPDATE satchel_usage.satchel_usage SET schema_version = 2",
    ):
        execute(change, where)
    stored = store("postgresql", tmp_path)
    stored.open(writer("w2"))
    stored.write([(1, load("a"))], 0, NOON)
    stored.close(0, NOON)
    assert report("postgresql", tmp_path).loads == 2

    execute("UPDATE satchel_usage.satchel_usage SET oldest = 2", where)

    with pytest.raises(ConfigError, match="update this one"):
        store("postgresql", tmp_path).open(writer("w3"))
    with pytest.raises(ConfigError, match="update this one"):
        report("postgresql", tmp_path)


@needs_postgres
def test_a_role_without_rights_is_told_and_uses_a_schema_of_its_own(
    tmp_path: Path,
) -> None:
    from satchel_server.usage._postgres_store import PostgresStore

    where = database(str(tmp_path))
    role = where.rpartition("/")[2].replace("_test_", "_role_")
    execute(f"CREATE ROLE {role} LOGIN", where)
    parts = where.partition("@")
    as_role = f"postgresql://{role}@{parts[2]}"
    try:
        with pytest.raises(SourceUnavailableError, match="permission denied"):
            PostgresStore(as_role).open(writer())
        execute(f"CREATE SCHEMA satchel_usage AUTHORIZATION {role}", where)
        stored = PostgresStore(as_role)
        stored.open(writer())
        stored.write([(1, load("a"))], 0, NOON)
        stored.close(0, NOON)
        assert read_report(as_role, now=NOON).loads == 1
    finally:
        execute(f"DROP OWNED BY {role}", where)
        execute(f"DROP ROLE {role}", where)


SECRET: Final = "s3cr%2Fet-word"  # noqa: S105 - it opens nothing


@needs_postgres
@pytest.mark.parametrize(
    "wrong",
    [
        f"postgresql://ana:{SECRET}@127.0.0.1:1/db",
        f"postgresql://ana:{SECRET}@no-such-host.invalid/db",
        f"postgresql://ana:{SECRET}%zz@127.0.0.1/db",
        f"postgresql://ana:{SECRET}@with@127.0.0.1/db",
        f"postgresql:///db?password={SECRET}&host=127.0.0.1&port=1",
        f"{SERVER.replace('postgres@', f'postgres:{SECRET}@')}/no_such_database",
        f"mysql://ana:{SECRET}@host/db",
        f"sqlite://ana:{SECRET}@host/db",
    ],
)
def test_no_error_has_a_password(wrong: str, caplog: pytest.LogCaptureFixture) -> None:
    from satchel.usage import open_sink

    with pytest.raises((ConfigError, SourceUnavailableError)) as caught:
        read_report(wrong, now=NOON) if "postgresql" in wrong else open_sink(wrong)
    if wrong.startswith(f"postgresql://ana:{SECRET}@") and "with" not in wrong:
        sink: Any = open_sink(wrong)
        sink.record(load("a"))
        sink.flush(0.1)
        sink.close(0.1)
        assert sink.state.problem

    shown = f"{caught.value!r} {caught.value} {caplog.text} {caught.value.__cause__}"
    assert "s3cr" not in shown
    assert "et-word" not in shown


@needs_postgres
def test_a_service_and_a_file_of_passwords_name_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = parse_location(database(str(tmp_path))).path
    parts = where.partition("@")[2].replace(":", "/").split("/")
    service = tmp_path / "service.conf"
    service.write_text(
        f"[usage]\nhost={parts[0]}\nport={parts[1]}\nuser=postgres\ndbname={parts[2]}\n"
    )
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:*:never-asked\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    monkeypatch.setenv("PGSERVICE", "usage")
    monkeypatch.setenv("PGPASSFILE", str(passwords))

    keep("postgresql", tmp_path, [load("a")])

    assert read_report("postgresql://", now=NOON).loads == 1


@pytest.mark.row("U13")
@pytest.mark.parametrize("kind", TABLES)
def test_a_replica_is_named(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for replica in ("pod-1", "pod-2"):
        monkeypatch.setenv("SATCHEL_REPLICA", replica)
        stored = store(kind, tmp_path)
        stored.open(writer(replica))
        stored.write([(1, load("a"))], 0, NOON)
        stored.close(0, NOON)

    assert report(kind, tmp_path).replicas == {"pod-1": 1, "pod-2": 1}


@pytest.mark.parametrize("kind", TABLES)
def test_a_brief_report_has_all_that_a_page_shows(kind: str, tmp_path: Path) -> None:
    for one in write(kind, tmp_path, some_events(8), 8):
        one._fold()
        one.close(0, NOON)

    whole, brief = (
        figures(report(kind, tmp_path, brief=chosen)) for chosen in (False, True)
    )

    left_out = "references_never_read", "synced", "may_mirror"
    for made in (whole, brief):
        for key in left_out:
            del made[key]
        for use in made["skills"]:
            for key, value in [*use.items()]:
                if isinstance(value, dict) or key in {"files", "conversations"}:
                    del use[key]
    assert brief["loads"]
    assert brief == whole
