"""What it costs to store events and to report on them: SQLite and PostgreSQL.

``python -m benchmarks.usage.stores ingest`` writes the same rows through a store and
bare, with COPY or executemany. ``... report`` fills a store with 1, 10 and 20 million
events and reads the report, and the brief one that the page reads. Times are of
processors: this process, and the process of the server that works for it. PostgreSQL is
where ``SATCHEL_TEST_POSTGRES`` says.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sqlite3
import tempfile
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.measure import Spread, ratio, table
from satchel.model import UsageEvent
from satchel_server.usage import read_report
from satchel_server.usage._background import BATCH
from satchel_server.usage._location import StoreLocation, store_at
from satchel_server.usage._sqlite_store import SqliteStore
from satchel_server.usage._store import Writer
from satchel_server.usage._table_store import Pending, TableStore
from satchel_server.usage._tables import LOAD_COLUMNS, add_sums
from tests.unit.usage.postgres import database, execute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DAY: Final = 86_400
LAST: Final = 20_060
DAYS: Final = 60
PART: Final = 100_000


def events(
    count: int, seed: int = 7, *, days: int = DAYS, talks: bool = True
) -> Iterator[UsageEvent]:
    """Yield loads of 60 days: 500 skills, 24 callers, 12 agents, 8 clients."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    ranks = [1 / (1 + rank) for rank in range(500)]
    names = [f"skill-{number:03}" for number in range(500)]
    chosen = chance.choices(range(500), ranks, k=count)
    for number, skill in enumerate(chosen):
        draw = chance.random()
        who = int(draw * 1e6)
        day = LAST - days + 1 + number * days // count
        conversation = f"{seed}-{number // 5:08x}" if talks and who % 2 else ""
        file = f"references/{who % 7}.md" if who % 10 in {0, 1, 2} else None
        error = "denied by the policy" if who % 50 == 0 else None
        yield UsageEvent(
            names[skill],
            file,
            None,
            f"team-{skill % 9}",
            0.0012 + draw / 1e3,
            error,
            file or "SKILL.md",
            ("mcp", "http", "tool", "mcp")[who % 4],
            f"sha256:{skill:064x}",
            4_000 + who % 900,
            "denied-by-policy" if error else None,
            900 + who % 100,
            f"sha256-tree-v1:{day // 14:064x}",
            f"@org/team-{skill % 9}",
            f"agent-{who % 12}",
            f"client-{who % 8}",
            day * DAY + draw * DAY,
            conversation,
            f"team-{who % 6}.caller-{who % 24}",
        )


def rows_of(made: Sequence[UsageEvent]) -> list[tuple[Any, ...]]:
    """Return the rows of the table of loads."""
    return [
        (1, seq, *(getattr(event, name) for name in LOAD_COLUMNS))
        for seq, event in enumerate(made, 1)
    ]


def server_s(url: str, pid: int = 0) -> float:
    """Return the processor time of a process of the server, on this machine."""
    del url
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def place_of(kind: str, folder: Path) -> str:
    """Return where the store of this folder is."""
    return database(str(folder)) if kind == "postgresql" else str(folder / "usage.db")


def backend(store: TableStore) -> int:
    """Return the process of the server that works for a connection; 0 for none."""
    if isinstance(store, SqliteStore):
        return 0
    with store.transaction() as base:
        ((pid,),) = base.rows("SELECT pg_backend_pid()")
    return int(pid)


def stored(kind: str, made: Sequence[UsageEvent]) -> tuple[float, float]:
    """Write events as a server does; return seconds of processors, and by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        place = place_of(kind, Path(folder))
        store = store_at(StoreLocation(kind, place))()
        assert isinstance(store, TableStore)  # noqa: S101 - of these kinds
        store.open(Writer("w", "p", "h", 1, 1, time.time()))
        pid = backend(store)
        before = server_s(place, pid) if pid else 0.0
        start, clock = time.process_time(), time.perf_counter()
        seq = 1
        for at in range(0, len(made), BATCH):
            part = made[at : at + BATCH]
            store.write([*enumerate(part, seq)], 0, time.time())
            seq += len(part)
        store._fold()  # noqa: SLF001 - as a minute later
        used = time.process_time() - start
        used += server_s(place, pid) - before if pid else 0.0
        clock = time.perf_counter() - clock
        store.close(0, time.time())
        loads = read_report(place, now=(LAST + 0.5) * DAY, days=DAYS).loads
        assert loads == sum(event.code is None for event in made), loads  # noqa: S101
    return used, clock


def bare(kind: str, rows: Sequence[tuple[Any, ...]]) -> tuple[float, float]:
    """Write the same rows into the same table, and nothing else."""
    columns = ("writer", "seq", *LOAD_COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        place = place_of(kind, Path(folder))
        store = store_at(StoreLocation(kind, place))()
        assert isinstance(store, TableStore)  # noqa: S101 - of these kinds
        store.open(Writer("w", "p", "h", 1, 1, time.time()))
        pid = backend(store)
        before = server_s(place, pid) if pid else 0.0
        start, clock = time.process_time(), time.perf_counter()
        with store.transaction() as base:
            if pid:
                base.fill("loads", columns, rows)
            else:
                marks = ", ".join("?" * len(columns))
                base.many(f"INSERT INTO loads VALUES ({marks})", rows)  # noqa: S608
        used = time.process_time() - start
        used += server_s(place, pid) - before if pid else 0.0
        clock = time.perf_counter() - clock
        store.connection.close()
    return used, clock


def ingest(kind: str, count: int, rounds: int, *, talks: bool) -> tuple[str, ...]:
    """Measure in turn; return a row of the table."""
    made = [*events(count, days=1, talks=talks)]
    rows = rows_of(made)
    gc.collect()
    gc.freeze()  # what was made before is not looked at again and again
    ours: list[float] = []
    theirs: list[float] = []
    clocks: list[float] = []
    for number in range(rounds):
        for which in ("bare", "store") if number % 2 else ("store", "bare"):
            if which == "bare":
                theirs.append(bare(kind, rows)[0])
            else:
                used, clock = stored(kind, made)
                ours.append(used)
                clocks.append(clock)
    return (
        f"{kind}{'' if talks else ', no conversations'}",
        f"{Spread.of(1e6 * it / count for it in ours):.1f}",
        f"{Spread.of(1e6 * it / count for it in theirs):.1f}",
        f"{ratio(ours, theirs):.2f}",
        f"{count / Spread.of(clocks).median:,.0f}",
    )


def fill(kind: str, place: str, count: int) -> None:
    """Fill a store with events and their sums, as fast as it goes."""
    store = store_at(StoreLocation(kind, place))()
    assert isinstance(store, TableStore)  # noqa: S101 - of these kinds
    store.open(Writer(f"w{count}", "p", "h", 1, 1, time.time()))
    columns = ("writer", "seq", *LOAD_COLUMNS)
    seq, made = 0, events(count)
    while seq < count:
        part = [*islice(made, min(PART, count - seq))]
        rows = [
            (store._number, number, *row[2:])  # noqa: SLF001 - filled past it
            for number, row in enumerate(rows_of(part), seq + 1)
        ]
        seq += len(rows)
        pending = Pending("replica")
        pending.add("loads", rows)
        with store.transaction(alone=True) as base:
            base.fill("loads", columns, rows)
            add_sums(base, pending.sums())
            base.run("UPDATE writers SET summed = ?, last_seq = ?", (seq, seq))
    with store.transaction() as base:
        base.many(
            "INSERT INTO offers (day, name) VALUES (?, ?)",
            [
                (day, f"skill-{number:03}")
                for day in range(LAST - DAYS + 1, LAST + 1)
                for number in range(500)
            ],
        )
    store._last = store._folded = seq  # noqa: SLF001 - filled past it
    store.close(0, time.time())
    if kind == "postgresql":
        execute("ANALYZE", place)


def report(kind: str, place: str, *, brief: bool = False) -> tuple[float, float, int]:
    """Read the report; return seconds of processors, by the clock, and the loads."""
    pids: list[int] = []
    if kind == "postgresql":
        from satchel_server.usage._postgres_store import PostgresStore

        connect = PostgresStore.connect

        def noted(self: PostgresStore, *, read_only: bool = False) -> None:
            connect(self, read_only=read_only)
            pids.append(self.connection.info.backend_pid)
            close = self.connection.close

            def last() -> None:
                pids.append(int(1e6 * server_s(place, pids[0])))
                close()

            self.connection.close = last  # type: ignore[method-assign]

        PostgresStore.connect = noted  # type: ignore[method-assign]
    start, clock = time.process_time(), time.perf_counter()
    made = read_report(place, now=(LAST + 0.5) * DAY, days=30, brief=brief)
    used, clock = time.process_time() - start, time.perf_counter() - clock
    if kind == "postgresql":
        PostgresStore.connect = connect  # type: ignore[method-assign]
        used += pids[1] / 1e6
    return used, clock, made.loads


def main() -> None:
    """Run what is asked for, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("ingest", "report"))
    parser.add_argument("--kinds", nargs="+", default=("sqlite", "postgresql"))
    parser.add_argument("--events", type=int, nargs="+", default=())
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    if chosen.what == "ingest":
        (count,) = chosen.events or (300_000,)
        rows += [
            ingest(kind, count, chosen.rounds, talks=talks)
            for kind in chosen.kinds
            for talks in (False, True)
        ]
        head = ("store", "us an event", "bare", "ratio", "events a second")
        print(table(head, rows))
        return
    for kind in chosen.kinds:
        for count in chosen.events or (1_000_000, 10_000_000, 20_000_000):
            with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
                place = place_of(kind, Path(folder))
                fill(kind, place, count)
                times = [report(kind, place) for _ in range(chosen.rounds)]
                briefs = [
                    report(kind, place, brief=True)[0] for _ in range(chosen.rounds)
                ]
                rows.append(
                    (
                        f"{kind}, {count:,} events",
                        f"{Spread.of(it[0] for it in times):.2f}",
                        f"{Spread.of(it[1] for it in times):.2f}",
                        f"{Spread.of(briefs):.2f}",
                        f"{times[0][2]:,}",
                    )
                )
                print(rows[-1], flush=True)
                if kind == "postgresql":
                    name = place.rpartition("/")[2]
                    execute(f"DROP DATABASE {name} WITH (FORCE)")
    head = ("report of 30 days", "s of processors", "by the clock", "brief", "loads")
    print(table(head, rows))


if __name__ == "__main__":
    with closing(sqlite3.connect(":memory:")):
        main()
