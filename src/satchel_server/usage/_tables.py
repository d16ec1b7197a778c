"""Events and their sums in the tables of a database: what both engines share."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar

from satchel_server.usage._records import WriterState, checked_day, typed
from satchel_server.usage._store import Writer, plain_text
from satchel_server.usage._sums import BY_HAND, CONSUMER, DIMENSIONS, EDGES, Sums

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
# Rows of one other writer that are summed at a time.
CHUNK: Final = 100_000
# Writers in one query; SQLite allows 1,000 terms.
WRITERS: Final = 200
# Rows in one statement: to begin one takes as long as to insert one or two.
ROWS: Final = 100
# Calls, or conversations, in one statement.
CALLS: Final = 1_000

_OF_WRITER: Final = "id", "process", "host", "pid", "bound", "started"
_T = TypeVar("_T")
_Row: TypeAlias = tuple[Any, ...]

# The statements are the same for both engines. Days are whole days since 1970-01-01,
# UTC. The row of a skill says how it was last on offer, and when it first was. An
# anchor is the one day by which `talks` counts a conversation, and `again` has its
# other days. Copies and imports have tables of their own, so that an earlier version,
# which reads the others, calls none a load.
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS writers (
    number {serial}, id TEXT NOT NULL UNIQUE, process TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, bound INTEGER NOT NULL,
    started DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL,
    closed DOUBLE PRECISION, dropped BIGINT NOT NULL DEFAULT 0,
    last_seq BIGINT NOT NULL DEFAULT 0, summed BIGINT NOT NULL DEFAULT 0,
    replica TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS loads (
    writer BIGINT NOT NULL REFERENCES writers, seq BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL CHECK (at < 253402300800), name TEXT NOT NULL,
    reference TEXT, script TEXT, source TEXT NOT NULL,
    duration_s DOUBLE PRECISION NOT NULL, error TEXT, file TEXT, via TEXT NOT NULL,
    digest TEXT NOT NULL, size_bytes BIGINT NOT NULL, code TEXT,
    tokens BIGINT NOT NULL, "release" TEXT NOT NULL, owner TEXT NOT NULL,
    agent TEXT NOT NULL, client TEXT NOT NULL, conversation TEXT NOT NULL DEFAULT '',
    caller TEXT NOT NULL DEFAULT '', PRIMARY KEY (writer, seq)
){rowless};
CREATE TABLE IF NOT EXISTS copies (
    writer BIGINT NOT NULL REFERENCES writers, seq BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL CHECK (at < 253402300800), name TEXT NOT NULL,
    file TEXT, source TEXT NOT NULL, via TEXT NOT NULL, code TEXT,
    client TEXT NOT NULL, PRIMARY KEY (writer, seq)
){rowless};
CREATE TABLE IF NOT EXISTS acts (
    writer BIGINT NOT NULL REFERENCES writers, seq BIGINT NOT NULL,
    act TEXT NOT NULL, PRIMARY KEY (writer, seq)
){rowless};
CREATE TABLE IF NOT EXISTS imports (
    writer BIGINT NOT NULL REFERENCES writers, seq BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL, name TEXT NOT NULL, client TEXT NOT NULL,
    conversation TEXT NOT NULL, PRIMARY KEY (writer, seq)
){rowless};
CREATE TABLE IF NOT EXISTS skills (
    name TEXT PRIMARY KEY, source TEXT NOT NULL, digest TEXT NOT NULL,
    owner TEXT NOT NULL, refs TEXT NOT NULL, first_day INTEGER NOT NULL,
    last_day INTEGER NOT NULL
){rowless};
CREATE TABLE IF NOT EXISTS offers (
    day INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (day, name)
){rowless};
CREATE TABLE IF NOT EXISTS calls (
    id TEXT NOT NULL PRIMARY KEY, day INTEGER NOT NULL
){rowless};
CREATE TABLE IF NOT EXISTS keys (
    id {serial}, name TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
    UNIQUE (kind, name, value)
);
CREATE TABLE IF NOT EXISTS sums (
    key INTEGER NOT NULL, day INTEGER NOT NULL, n INTEGER NOT NULL,
    tokens BIGINT NOT NULL, PRIMARY KEY (key, day)
){rowless};
CREATE TABLE IF NOT EXISTS talks (
    conversation TEXT NOT NULL, name TEXT NOT NULL, day INTEGER NOT NULL,
    PRIMARY KEY (conversation, name)
){rowless};
CREATE TABLE IF NOT EXISTS again (
    conversation TEXT NOT NULL, name TEXT NOT NULL, day INTEGER NOT NULL,
    anchor INTEGER NOT NULL, PRIMARY KEY (conversation, name, day)
){rowless}
"""
_NEW_CELLS: Final = (
    "CREATE TEMP TABLE new_cells (day INTEGER, name TEXT, kind TEXT, value TEXT, "
    "n INTEGER, tokens BIGINT)"
)
_TALKS: Final = """
SELECT t.conversation, t.name, t.day, a.day FROM talks t
LEFT JOIN again a ON a.conversation = t.conversation AND a.name = t.name
WHERE t.conversation IN ({})
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
        for start in range(0, len(rows), ROWS):
            some = rows[start : start + ROWS]
            self.run(
                f'INSERT INTO {table} ("{names}") VALUES '  # noqa: S608 - our own names
                f"{', '.join([f'({marks})'] * len(some))} ON CONFLICT DO NOTHING",
                [*chain.from_iterable(some)],
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


def add_writer(base: Base, writer: Writer, replica: str, origin: str = "") -> int:
    """Register a writer; return its number."""
    columns = *_OF_WRITER, "seen", "replica", "origin"
    marks = ", ".join("?" * len(columns))
    of = *attrgetter(*_OF_WRITER)(writer), writer.started, replica, origin
    ((number,),) = base.rows(
        f"INSERT INTO writers ({', '.join(columns)}) VALUES ({marks}) "  # noqa: S608 - our own names
        # The answer to an earlier try may have been lost.
        "ON CONFLICT (id) DO UPDATE SET seen = excluded.seen RETURNING number",
        [*map(storable, of)],
    )
    return int(number)


def first_of_calls(
    base: Base, rows: list[_Row], calls: Mapping[_Row, tuple[str, int]]
) -> list[_Row]:
    """Leave out rows of a call that is stored already.

    ``calls`` has its key and its day, by writer and number of the row.
    """
    of_rows = {calls[row[:2]] for row in rows if row[:2] in calls}
    ordered, new = sorted(of_rows), set[str]()
    for start in range(0, len(ordered), CALLS):
        some = ordered[start : start + CALLS]
        marks = ", ".join(["(?, ?)"] * len(some))
        stored = base.rows(
            f"INSERT INTO calls (id, day) VALUES {marks} ON CONFLICT DO NOTHING "  # noqa: S608 - our own text
            "RETURNING id",
            [value for pair in some for value in pair],
        )
        new.update(key for (key,) in stored)
    first: list[_Row] = []
    for row in rows:
        call = calls.get(row[:2])
        if call is None or call[0] in new:
            first.append(row)
        if call is not None:
            new.discard(call[0])
    return first


def storable(value: object) -> object:
    """Return a value that every engine can hold."""
    return plain_text(value) if isinstance(value, str) else value


def numbered(
    base: Base,
    table: str,
    rows: Sequence[_Row],
    writers: Mapping[str, WriterState],
    origin: str = "",
) -> tuple[tuple[str, ...], list[_Row]]:
    """Return the columns of rows of other stores, and the rows as they are here.

    They begin with the id of their writer, which is registered here if it is new.
    """
    ids = {row[0] for row in rows}
    numbers = {id: _number_of(base, id, writers, rows, origin) for id in ids}
    here = [(numbers[row[0]], *map(storable, row[1:])) for row in rows]
    return ("writer", "seq", *COLUMNS[table]), here


def _number_of(
    base: Base,
    id: str,
    writers: Mapping[str, WriterState],
    rows: Sequence[_Row],
    origin: str,
) -> int:
    for number, start, last in base.rows(
        "SELECT number, summed, last_seq FROM writers WHERE id = ?", (id,)
    ):
        # What it stored itself, and did not add to the sums, comes first.
        while start < last:
            start = fold_tails(base, [(number, start)])  # noqa: PLW2901 - a cursor
        return int(number)
    state = writers.get(id)
    if state is None:
        # The log of its start may have moved away, or it is an import.
        times = [row[2] for row in rows if row[0] == id and type(row[2]) is not str]
        at = float(min(times, default=0.0))
        state = WriterState(id, "", "", 0, 0, at, at, at, 0)
    number = add_writer(base, state, state.replica, state.origin or origin)
    base.run("UPDATE writers SET closed = ? WHERE number = ?", (state.closed, number))
    return number


def add_offers(base: Base, offers: Iterable[tuple[Any, ...]]) -> None:
    """Store a day, and name, source, digest, owner and references of its skills."""
    # In one order: several writers that store the same skills do not wait in a circle.
    ordered = sorted((day, *map(storable, skill)) for day, *skill in offers)
    base.many(_UPSERT, [(*skill, day, day) for day, *skill in ordered])
    base.many(_OFFER, [(day, name) for day, name, *_ in ordered])


def add_sums(base: Base, sums: Sums) -> None:
    """Add to the sums in the tables."""
    rows = [(*cell, *counts) for cell, counts in sums.cells.items()]
    firsts = _add_talks(base, sums.talks)
    rows += [(*key, "talk", "", count, 0) for key, count in firsts.items()]
    if rows:
        base.run(_NEW_CELLS)
        base.fill("new_cells", ("day", "name", "kind", "value", "n", "tokens"), rows)
        base.run(_KEYS)
        base.run(_SUMS)
        base.run("DROP TABLE new_cells")


def stored_talks(
    base: Base, talks: Iterable[tuple[int, str]]
) -> Iterator[tuple[str, str, int, int | None]]:
    """Yield what is stored of conversations: with each skill its anchor, and a day."""
    conversations = sorted({conversation for _, conversation in talks})
    for start in range(0, len(conversations), CALLS):
        some = conversations[start : start + CALLS]
        yield from base.rows(_TALKS.format(", ".join("?" * len(some))), some)


def _add_talks(
    base: Base, talks: Mapping[tuple[int, str], Collection[str]]
) -> Counter[tuple[int, str]]:
    """Store conversations; return by day and skill how many there were none of."""
    stored: set[tuple[str, str, int | None]] = set()
    anchors: dict[tuple[str, str], int] = {}
    for conversation, name, anchor, again_on in stored_talks(base, talks):
        stored |= {(conversation, name, anchor), (conversation, name, again_on)}
        anchors[conversation, name] = anchor
    new: list[tuple[str, str, int]] = []
    again: list[tuple[str, str, int, int]] = []
    for day, conversation in sorted(talks):
        for name in sorted(talks[day, conversation]):
            anchor = anchors.setdefault((conversation, name), day)
            talk = conversation, name, day
            if anchor != day and talk not in stored:
                again.append((*talk, anchor))
            elif talk not in stored:
                new.append(talk)
    base.fill("talks", ("conversation", "name", "day"), new)
    base.fill("again", ("conversation", "name", "day", "anchor"), again)
    return Counter((day, name) for _, name, day in new)


def fold_tails(base: Base, tails: Sequence[tuple[int, int]]) -> int:
    """Add to the sums what writers stored after the row that is given for each.

    Of each writer `CHUNK` rows at most; return the last row of the last writer.
    """
    end = 0
    for number, summed in tails:
        after = " UNION ALL ".join(
            f"SELECT seq FROM {table} WHERE writer = {number:d} AND seq > {summed:d}"  # noqa: S608 - our own text
            for table in ("loads", "copies", "imports")
        )
        part = f"SELECT seq FROM ({after}) t ORDER BY seq LIMIT {CHUNK:d}"  # noqa: S608
        ((end,),) = base.rows(f"SELECT max(seq) FROM ({part}) u")  # noqa: S608
        if end is None:
            # What it stored last are acts or catalogs, which are in no sum.
            moved = base.rows(
                "UPDATE writers SET summed = last_seq WHERE number = ? "
                "AND last_seq > summed RETURNING summed",
                (number,),
            )
            end = moved[0][0] if moved else summed
            continue
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


def tail_sums(
    base: Base, where: str, sums: Sums, parser: RowParser, mirrors: Collection[str] = ()
) -> None:
    """Sum up the rows of a condition."""
    load_sums(base, where, sums, parser, mirrors=mirrors)
    copies = base.rows(
        f"SELECT {base.day}, name, 'copy', '', count(*) FROM copies l "  # noqa: S608 - our own text
        f"WHERE code IS NULL AND ({where}) GROUP BY 1, 2"
    )
    imports = base.rows(
        f"SELECT {base.day}, name, 'imported', client, count(*) FROM imports l "  # noqa: S608 - our own text
        f"WHERE {where} GROUP BY 1, 2, 4"
    )
    for cell in parser.of(typed(int, str, str, str, int), [*copies, *imports]):
        sums.put(*cell)
    talks = base.rows(
        f"SELECT DISTINCT name, conversation, {base.day} FROM loads l "  # noqa: S608 - our own text
        f"WHERE conversation <> '' AND {uses(mirrors)} AND ({where})",
        (*mirrors,),
    )
    for talk in parser.of(typed(str, str, int), talks):
        sums.talk(*talk)


def load_sums(  # noqa: PLR0913 - by name, and each with a default
    base: Base,
    where: str,
    sums: Sums,
    parser: RowParser,
    *,
    values: Sequence[object] = (),
    mirrors: Collection[str] = (),
) -> None:
    """Sum up the loads of a condition, without their conversations."""
    tallies = base.rows(
        f"SELECT {base.day}, name, coalesce(code, ''), replica, count(*), "  # noqa: S608 - our own text
        "CAST(sum(tokens) AS BIGINT), coalesce(reference, script, ''), via, source, "
        '"release", owner, agent, client, caller, digest '
        f"FROM loads l JOIN writers w ON w.number = l.writer WHERE {where} "
        "GROUP BY 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        values,
    )
    for row in parser.of(_load, tallies):
        sums.add(row, mirrors)


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


_load_row = typed(int, str, str, str, int, int, *(str,) * len(DIMENSIONS))


def _load(*row: Any) -> tuple[Any, ...]:  # noqa: ANN401 - any file
    checked_day(row[0])
    return _load_row(*row)


def text_of(value: object) -> str:
    """Return a text; anything else means that Satchel did not write it."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value
