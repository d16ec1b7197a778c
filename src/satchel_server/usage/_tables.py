"""Events and their sums in the tables of a database: what both engines share."""

import json
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager
from operator import attrgetter, itemgetter
from typing import Any, Final, TypeVar

from satchel.model import CatalogSynced, SkillSynced, UsageEvent
from satchel.usage import DAY_S
from satchel_server.usage._calls import call_key
from satchel_server.usage._records import checked, checked_day, replica_name
from satchel_server.usage._store import (
    NO_OFFER,
    Row,
    Writer,
    offered_skills,
    plain_text,
    without_repeats,
)
from satchel_server.usage._sums import BY_HAND, CONSUMER, EDGES, Sums, Tally

LOAD_COLUMNS: Final = (
    *("at", "name", "reference", "script", "source", "duration_s", "error", "file"),
    *("via", "digest", "size_bytes", "code", "tokens", "release", "owner", "agent"),
    *("client", "conversation", "caller"),
)
COPY_COLUMNS: Final = ("at", "name", "file", "source", "via", "code", "client")
IMPORT_COLUMNS: Final = ("at", "name", "client", "conversation")
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "loads": LOAD_COLUMNS,
    "copies": COPY_COLUMNS,
    "imports": IMPORT_COLUMNS,
    "acts": ("act",),
}
# Rows and seconds after which a writer adds its rows to the sums; until then a report
# adds them itself. A sum of one day is then written once for many rows.
FOLD_ROWS: Final = 262_144
# Different rows that are counted in memory before they are split into cells.
_DIFFERENT: Final = 32_768
FOLD_S: Final = 60.0
# Rows of one other writer that are summed at a time.
CHUNK: Final = 100_000
# Writers in one query; SQLite allows 1,000 terms.
WRITERS: Final = 200
# Calls in one statement.
CALLS: Final = 1_000

_values = attrgetter(*LOAD_COLUMNS)
_copy_values = attrgetter(*COPY_COLUMNS)
_writer_values = attrgetter("id", "process", "host", "pid", "bound", "started")
_writer_columns = ("id", "process", "host", "pid", "bound", "started", "seen")
# Source, digest, release, owner, agent, client and caller of a row of `loads`, which
# begins with its writer and number.
_origin = itemgetter(6, 11, 15, 16, 17, 18, 20)
_T = TypeVar("_T")
_RowT = TypeVar("_RowT", bound=Sequence[Any])

# The statements are the same for both engines. Days are whole days since 1970-01-01,
# UTC; an anchor is the one day by which `talks` counts a conversation, and `again` has
# its other days.
SUMS_SCHEMA: Final = """
CREATE TABLE keys (
    id {serial}, name TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
    UNIQUE (kind, name, value)
);
CREATE TABLE sums (
    key INTEGER NOT NULL, day INTEGER NOT NULL, n INTEGER NOT NULL,
    tokens BIGINT NOT NULL, PRIMARY KEY (key, day)
){rowless};
CREATE TABLE talks (
    conversation TEXT NOT NULL, name TEXT NOT NULL, day INTEGER NOT NULL,
    PRIMARY KEY (conversation, name)
){rowless};
CREATE TABLE again (
    conversation TEXT NOT NULL, name TEXT NOT NULL, day INTEGER NOT NULL,
    anchor INTEGER NOT NULL, PRIMARY KEY (conversation, name, day)
){rowless};
CREATE TABLE IF NOT EXISTS calls (
    id TEXT NOT NULL PRIMARY KEY, day INTEGER NOT NULL
){rowless};
CREATE TABLE imports (
    writer BIGINT NOT NULL REFERENCES writers, seq BIGINT NOT NULL,
    at {real} NOT NULL, name TEXT NOT NULL, client TEXT NOT NULL,
    conversation TEXT NOT NULL, PRIMARY KEY (writer, seq)
){rowless}
"""
_NEW_TALKS: Final = (
    "CREATE TEMP TABLE new_talks (name TEXT, conversation TEXT, day INTEGER)"
)
_NEW_CELLS: Final = (
    "CREATE TEMP TABLE new_cells (day INTEGER, name TEXT, kind TEXT, value TEXT, "
    "n INTEGER, tokens BIGINT)"
)
_TALKS: Final = """
INSERT INTO talks (conversation, name, day)
SELECT conversation, name, min(day) FROM new_talks WHERE true GROUP BY 1, 2
ON CONFLICT (conversation, name) DO NOTHING RETURNING name, conversation, day
"""
_AGAIN: Final = """
INSERT INTO again (conversation, name, day, anchor)
SELECT f.conversation, f.name, f.day, t.day FROM new_talks f
JOIN talks t ON t.conversation = f.conversation AND t.name = f.name
WHERE f.day <> t.day ON CONFLICT (conversation, name, day) DO NOTHING
"""
_KEYS: Final = """
INSERT INTO keys (name, kind, value) SELECT DISTINCT name, kind, value FROM new_cells c
WHERE NOT EXISTS (SELECT 1 FROM keys k
    WHERE k.kind = c.kind AND k.name = c.name AND k.value = c.value)
"""
_SUMS: Final = """
INSERT INTO sums (key, day, n, tokens)
SELECT k.id, c.day, c.n, c.tokens FROM new_cells c
JOIN keys k ON k.kind = c.kind AND k.name = c.name AND k.value = c.value
WHERE true ON CONFLICT (key, day)
DO UPDATE SET n = sums.n + excluded.n, tokens = sums.tokens + excluded.tokens
"""
# Several writers store late and in any order: an older day never replaces a newer row.
_UPSERT: Final = """
INSERT INTO skills (name, source, digest, owner, refs, first_day, last_day)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET source = excluded.source, digest = excluded.digest,
    owner = excluded.owner, refs = excluded.refs, last_day = excluded.last_day
    WHERE skills.last_day <= excluded.last_day
"""
_OFFER: Final = "INSERT INTO offers (day, name) VALUES (?, ?) ON CONFLICT DO NOTHING"


class Base:
    """A connection in one transaction; ``?`` marks a parameter for every engine.

    ``day`` is the day of the column ``at`` in SQL; ``tails`` selects number and last
    summed row of the writers that may have rows which are in no sum.
    """

    day: str
    tails: str

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - of an engine
        self.connection = connection

    def text(self, sql: str) -> str:
        """Return a statement in the dialect of the engine."""
        return sql

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement; return its rows."""
        # All at once: the next statement may change what this one reads.
        rows: list[tuple[Any, ...]] = self.connection.execute(
            self.text(sql), values
        ).fetchall()
        return rows

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Run a statement; return how many rows it changed."""
        return int(self.connection.execute(self.text(sql), values).rowcount)

    def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement for each row."""
        self.connection.cursor().executemany(self.text(sql), rows)

    def fill(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]
    ) -> None:
        """Add rows in the fastest way that there is; what exists stays as it is."""
        names, marks = '", "'.join(columns), ", ".join("?" * len(columns))
        self.many(
            f'INSERT INTO {table} ("{names}") VALUES ({marks}) ON CONFLICT DO NOTHING',  # noqa: S608 - our own names
            rows,
        )


class RowParser:
    """Makes a value of each row, and counts the rows that are damaged."""

    def __init__(self) -> None:
        self.unread = 0

    def of(
        self, make: Callable[..., _T], rows: Iterable[tuple[Any, ...]]
    ) -> Iterator[_T]:
        for row in rows:
            try:
                made = make(*row)
            # Deeply nested JSON raises RecursionError, which is no ValueError.
            except (TypeError, ValueError, RecursionError):
                self.unread += 1
            else:
                yield made


class Pending:
    """Counts of rows that are stored, and not yet in the sums."""

    def __init__(self, replica: str) -> None:
        self.count = 0
        self._replica = replica
        self._loads: dict[tuple[Any, ...], list[int]] = {}
        self._others: Counter[tuple[int, str, str, str]] = Counter()
        self._talks: set[tuple[str, str, int]] = set()
        self._sums = Sums()

    def add(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Count rows of a table; each begins with its writer and number."""
        self.count += len(rows)
        if table == "loads":
            self._add_loads(rows)
        elif table == "copies":
            for _, _, at, name, _, _, _, code, _ in rows:
                if code is None:
                    self._others[int(at // DAY_S), name, "copy", ""] += 1
        elif table == "imports":
            for _, _, at, name, client, _ in rows:
                self._others[int(at // DAY_S), name, "imported", client] += 1

    def _add_loads(self, rows: Sequence[Sequence[Any]]) -> None:
        # The whole row first: rows that are equal in this are split into cells once.
        loads, talks = self._loads, self._talks
        for row in rows:
            day, name, via, code = int(row[2] // DAY_S), row[3], row[10], row[13]
            key = (day, name, row[4] or row[5] or "", via, code or "", *_origin(row))
            counts = loads.get(key)
            if counts is None:
                loads[key] = [1, row[14]]
            else:
                counts[0] += 1
                counts[1] += row[14]
            if row[19] and is_use(via, code, row[18]):
                talks.add((name, row[19], day))
        if len(loads) > _DIFFERENT:
            self._split()

    def _split(self) -> None:
        for key, counts in self._loads.items():
            row: tuple[Any, ...] = (*key, self._replica, *counts)
            self._sums.add(Tally(*row))
        self._loads.clear()

    def sums(self) -> Sums:
        """Return the sums of these rows."""
        self._split()
        sums = self._sums
        for talk in self._talks:
            sums.talk(*talk)
        for cell, count in self._others.items():
            sums.put(*cell, count)
        return sums


class TableStore:
    """A store in tables; see `satchel.usage.EventStore`.

    The rows of a writer come in the order of their numbers, so that one number says
    which are stored, and one which are in the sums.
    """

    # All since `open`.
    connection: Any
    _number: int
    _replica: str
    _pending: Pending

    def __init__(self) -> None:
        self._offered = NO_OFFER
        self._last = self._folded = 0
        self._folded_at = 0.0

    def transaction(self, *, alone: bool = False) -> AbstractContextManager[Base]:
        """Return a transaction; ``alone`` keeps others away from the sums."""
        raise NotImplementedError

    def _register(self, base: Base, writer: Writer) -> None:
        self._replica = plain_text(replica_name())
        self._number = add_writer(base, writer, self._replica)
        self._pending = Pending(self._replica)
        self._folded_at = writer.started

    def _store(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Store the rows in one transaction."""
        try:
            self._store_as(rows, dropped, now)
        except UnicodeEncodeError:
            # A text that UTF-8 cannot encode is rare, and a look at each takes time.
            self._store_as(rows, dropped, now, clean=True)

    def _store_as(
        self, rows: Sequence[Row], dropped: int, now: float, *, clean: bool = False
    ) -> None:
        number = self._number
        rows = [row for row in rows if row[0] > self._last]
        news, offered = without_repeats(rows, self._offered)
        loads: list[tuple[Any, ...]] = [
            (number, seq, *_values(event))
            for seq, event in news
            if isinstance(event, UsageEvent)
        ]
        if clean:
            loads = [tuple(map(storable, row)) for row in loads]
        copies: list[tuple[Any, ...]] = []
        acts: list[tuple[Any, ...]] = []
        syncs: list[CatalogSynced] = []
        for seq, event in news if len(loads) < len(news) else ():
            if isinstance(event, CatalogSynced):
                syncs.append(event)
            elif isinstance(event, SkillSynced):
                copies.append((number, seq, *map(storable, _copy_values(event))))
            elif not isinstance(event, UsageEvent):
                acts.append((number, seq, json.dumps(event.as_dict())))
        filled = {"loads": loads, "copies": copies, "acts": acts}
        last = rows[-1][0] if rows else self._last
        calls = {
            seq: (_call_of(event), int(event.at // DAY_S))
            for seq, event in news
            if isinstance(event, UsageEvent) and event.call
        }
        with self.transaction() as base:
            if calls:
                filled["loads"] = first_of_calls(base, loads, lambda r: calls.get(r[1]))
            for table, new in filled.items():
                if new:
                    base.fill(table, ("writer", "seq", *COLUMNS[table]), new)
            for event in syncs:
                add_offers(base, _offers_of(event))
            base.run(
                "UPDATE writers SET seen = ?, dropped = ?, last_seq = ? "
                "WHERE number = ?",
                (now, dropped, last, number),
            )
        # Only after the commit: a transaction that failed stored nothing.
        self._offered, self._last = offered, last
        self._pending.add("loads", filled["loads"])
        self._pending.add("copies", copies)

    def _fold_if_due(self, now: float) -> None:
        """Add to the sums, if it is time."""
        if self._pending.count >= FOLD_ROWS or now - self._folded_at >= FOLD_S:
            self._folded_at = now
            try:
                self._fold()
            except BaseException:
                # Events go on; the next time SQL sums up what was counted here.
                self._folded, self._pending = -1, Pending(self._replica)
                raise
            self._fold_others(now)

    def _fold(self) -> None:
        """Add to the sums what this writer stored since it last did."""
        with self.transaction(alone=True) as base:
            ((summed,),) = base.rows(
                "SELECT summed FROM writers WHERE number = ?", (self._number,)
            )
            if summed == self._folded:
                add_sums(base, self._pending.sums())
                base.run(
                    "UPDATE writers SET summed = ? WHERE number = ?",
                    (self._last, self._number),
                )
                folded = self._last
            else:
                # Somebody else did, or this did, and the answer was lost.
                folded = -1
                while folded != summed:
                    folded, summed = summed, fold_tails(base, [(self._number, summed)])
        self._folded, self._pending = folded, Pending(self._replica)

    def _fold_others(self, now: float) -> None:
        """Add to the sums what writers left that ended, or that make no sums."""
        with self.transaction(alone=True) as base:
            gone = base.rows(
                f"SELECT number, summed FROM ({base.tails}) t WHERE number <> ? "  # noqa: S608 - our own text
                "AND (closed IS NOT NULL OR seen < ?) LIMIT 20",
                (self._number, now - 10 * FOLD_S),
            )
            fold_tails(base, [(number, summed) for number, summed in gone])

    def _close(self, dropped: int, now: float) -> None:
        with self.transaction() as base:
            base.run(
                "UPDATE writers SET seen = ?, closed = ?, dropped = ? WHERE number = ?",
                (now, now, dropped, self._number),
            )
        if self._pending.count:
            self._fold()


def add_writer(base: Base, writer: Writer, replica: str, origin: str = "") -> int:
    """Register a writer; return its number."""
    columns = (*_writer_columns, "replica", "origin")
    marks = ", ".join("?" * len(columns))
    values = (*_writer_values(writer), writer.started, replica, origin)
    ((number,),) = base.rows(
        f"INSERT INTO writers ({', '.join(columns)}) VALUES ({marks}) "  # noqa: S608 - our own names
        # The answer to an earlier try may have been lost.
        "ON CONFLICT (id) DO UPDATE SET seen = excluded.seen RETURNING number",
        values,
    )
    return int(number)


def _call_of(event: UsageEvent) -> str:
    return call_key(event.caller, event.call, event.name, event.file)


def first_of_calls(
    base: Base,
    rows: "list[_RowT]",
    call_of: Callable[[Any], tuple[str, int] | None],
) -> "list[_RowT]":
    """Leave out rows of a call that is stored already; ``call_of`` has key and day."""
    keyed = [(row, call_of(row)) for row in rows]
    days = {call[0]: call[1] for _, call in keyed if call}
    ordered, new = sorted(days.items()), set[str]()
    for start in range(0, len(ordered), CALLS):
        some = ordered[start : start + CALLS]
        marks = ", ".join(["(?, ?)"] * len(some))
        stored = base.rows(
            f"INSERT INTO calls (id, day) VALUES {marks} ON CONFLICT DO NOTHING "  # noqa: S608 - our own text
            "RETURNING id",
            [value for pair in some for value in pair],
        )
        new.update(key for (key,) in stored)
    first: list[_RowT] = []
    for row, call in keyed:
        if call is None or call[0] in new:
            first.append(row)
        if call is not None:
            new.discard(call[0])
    return first


def _offers_of(event: CatalogSynced) -> Iterator[tuple[Any, ...]]:
    """Yield the skills on offer on this day."""
    day = int(event.at // DAY_S)
    for *texts, references in offered_skills(event):
        yield day, *texts, json.dumps(references)


def storable(value: object) -> object:
    """Return a value that every engine can hold."""
    return plain_text(value) if isinstance(value, str) else value


def is_use(via: str, code: str | None, client: str) -> bool:
    """Return whether a load is use: it worked, and no person or copier made it."""
    return code is None and via != BY_HAND and (via, client) != CONSUMER


def add_offers(base: Base, offers: Iterable[tuple[Any, ...]]) -> None:
    """Store a day, and name, source, digest, owner and references of its skills."""
    # In one order: several writers that store the same skills do not wait in a circle.
    ordered = sorted(offers)
    base.many(_UPSERT, [(*skill, day, day) for day, *skill in ordered])
    base.many(_OFFER, [(day, name) for day, name, *_ in ordered])


def add_sums(base: Base, sums: Sums) -> None:
    """Add to the sums in the tables."""
    rows = [(*cell, *counts) for cell, counts in sums.cells.items()]
    if sums.talks:
        base.run(_NEW_TALKS)
        columns = ("name", "conversation", "day")
        base.fill("new_talks", columns, [*sums.talks])
        new = base.rows(_TALKS)
        if rest := sums.talks.difference(new):
            base.run("DELETE FROM new_talks")
            base.fill("new_talks", columns, [*rest])
            base.run(_AGAIN)
        firsts = Counter((day, name) for name, _, day in new)
        base.run("DROP TABLE new_talks")
        rows += [(*key, "talk", "", count, 0) for key, count in firsts.items()]
    if rows:
        base.run(_NEW_CELLS)
        base.fill("new_cells", ("day", "name", "kind", "value", "n", "tokens"), rows)
        base.run(_KEYS)
        base.run(_SUMS)
        base.run("DROP TABLE new_cells")


def fold_tails(base: Base, tails: Sequence[tuple[int, int]]) -> int:
    """Add to the sums what writers stored after the row that is given for each.

    Of each writer `CHUNK` rows at most; return the last row of the last writer.
    """
    end = 0
    for number, summed in tails:
        rows = " UNION ALL ".join(
            f"SELECT {{}}(seq) AS seq FROM {table} WHERE writer = {number:d} AND {{}}"  # noqa: S608 - our own text
            for table in ("loads", "copies", "imports")
        )
        after = rows.format(*("min", f"seq > {summed:d}") * 3)
        ((next_seq,),) = base.rows(f"SELECT min(seq) FROM ({after}) t")  # noqa: S608
        end = summed
        if next_seq is None:
            # What it stored last are acts or catalogs, which are in no sum.
            base.run(
                "UPDATE writers SET summed = last_seq WHERE number = ? "
                "AND last_seq > summed",
                (number,),
            )
            ((end,),) = base.rows(
                "SELECT summed FROM writers WHERE number = ?", (number,)
            )
            continue
        until = rows.format(*("max", f"seq < {next_seq + CHUNK:d}") * 3)
        ((end,),) = base.rows(f"SELECT max(seq) FROM ({until}) t")  # noqa: S608
        where = f"l.writer = {number:d} AND l.seq > {summed:d} AND l.seq <= {end:d}"
        sums = Sums()
        tail_sums(base, where, sums, RowParser())
        add_sums(base, sums)
        base.run("UPDATE writers SET summed = ? WHERE number = ?", (end, number))
    return end


def tail_where(tails: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield conditions in SQL for the rows that are in no sum."""
    for start in range(0, len(tails), WRITERS):
        part = tails[start : start + WRITERS]
        yield " OR ".join(
            f"l.writer = {number:d} AND l.seq > {summed:d}" for number, summed in part
        )


def tail_sums(  # noqa: PLR0913 - by name, and each with a default
    base: Base,
    where: str,
    sums: Sums,
    parser: RowParser,
    *,
    values: Sequence[object] = (),
    mirrors: Collection[str] = (),
    has: Callable[[str], bool] = lambda _: True,
) -> None:
    """Sum up the rows of a condition; ``has`` says which columns and tables are."""

    def column(name: str) -> str:
        return name if has(name) else "''"

    tallies = base.rows(
        f"SELECT {base.day}, name, coalesce(reference, script, ''), via, "  # noqa: S608 - our own text
        "coalesce(code, ''), source, digest, \"release\", owner, agent, client, "
        f"{column('caller')}, {column('replica')}, count(*), "
        "CAST(sum(tokens) AS BIGINT) FROM loads l JOIN writers w "
        f"ON w.number = l.writer WHERE {where} "
        "GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13",
        values,
    )
    for tally in parser.of(_tally, tallies):
        sums.add(tally, mirrors)
    if has("copies"):
        copies = base.rows(
            f"SELECT {base.day}, name, count(*) FROM copies l "  # noqa: S608 - our own text
            f"WHERE code IS NULL AND ({where}) GROUP BY 1, 2"
        )
        for day, name, count in parser.of(_copied, copies):
            sums.put(day, name, "copy", "", count)
    if has("imports"):
        imports = base.rows(
            f"SELECT {base.day}, name, client, count(*) FROM imports l "  # noqa: S608 - our own text
            f"WHERE {where} GROUP BY 1, 2, 3"
        )
        for day, name, client, count in parser.of(_imported, imports):
            sums.put(day, name, "imported", client, count)
    if has("conversation"):
        talks = base.rows(
            f"SELECT DISTINCT name, conversation, {base.day} FROM loads l "  # noqa: S608 - our own text
            f"WHERE conversation <> '' AND {uses(mirrors)} AND ({where})",
            (*mirrors,),
        )
        for talk in parser.of(_talk, talks):
            sums.talk(*talk)


def uses(mirrors: Collection[str] = ()) -> str:
    """Return the condition for loads that are use; its parameters are the mirrors."""
    via, client = CONSUMER
    text = (
        f"code IS NULL AND via <> '{BY_HAND}' "
        f"AND NOT (via = '{via}' AND client = '{client}')"
    )
    if mirrors:
        edges, marks = "', '".join(EDGES), ", ".join("?" * len(mirrors))
        text += f" AND NOT (via IN ('{edges}') AND client IN ({marks}))"
    return text


def _tally(day: object, *rest: Any) -> Tally:  # noqa: ANN401 - any file
    return checked(Tally(checked_day(day), *rest))


def _copied(day: object, name: object, count: int) -> tuple[int, str, int]:
    return checked_day(day), text_of(name), count


def _imported(
    day: object, name: object, client: object, count: int
) -> tuple[int, str, str, int]:
    return checked_day(day), text_of(name), text_of(client), count


def _talk(name: object, conversation: object, day: object) -> tuple[str, str, int]:
    return text_of(name), text_of(conversation), checked_day(day)


def text_of(value: object) -> str:
    """Return a text; anything else means that Satchel did not write it."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value
