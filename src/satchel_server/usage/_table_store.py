"""A store of events in tables: what both engines do with a batch, and with the sums."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from operator import attrgetter, itemgetter
from typing import Any, Final

from satchel.model import CatalogSynced, SkillSynced, UsageEvent
from satchel.usage import DAY_S
from satchel_server.usage._calls import call_key
from satchel_server.usage._records import replica_name
from satchel_server.usage._store import (
    NO_OFFER,
    Row,
    Writer,
    offered_skills,
    plain_text,
    without_repeats,
)
from satchel_server.usage._sums import Sums, kind_of
from satchel_server.usage._tables import (
    COLUMNS,
    COPY_COLUMNS,
    LOAD_COLUMNS,
    Base,
    add_offers,
    add_sums,
    add_writer,
    first_of_calls,
    fold_tails,
    storable,
)

# Rows and seconds after which a writer adds its rows to the sums; until then a report
# adds them itself. A sum of one day is then written once for many rows.
FOLD_ROWS: Final = 262_144
FOLD_S: Final = 60.0

_values = attrgetter(*LOAD_COLUMNS)
_copy_values = attrgetter(*COPY_COLUMNS)
# Of a row of `loads`, which begins with its writer and number: the skill, and values
# that mostly go together. So there are few different ones to be split into cells.
_file = itemgetter(3, 4, 5, 6, 11, 15, 16)
_OF_FILE: Final = "file", "source", "digest", "release", "owner"
_reader = itemgetter(3, 10, 17, 18, 20)
_OF_READER: Final = "via", "agent", "client", "caller"


class Pending:
    """Counts of rows that are stored, and not yet in the sums."""

    def __init__(self, replica: str) -> None:
        self.count = 0
        self._replica = replica
        self._sums = Sums()
        # By day: counts of both groups, and the tokens of skills.
        self._uses: defaultdict[int, tuple[Counter[Any], ...]] = defaultdict(
            lambda: (Counter(), Counter(), Counter())
        )

    def add(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Count rows of a table; each begins with its writer and number."""
        self.count += len(rows)
        if table == "loads":
            self._add_loads(rows)
        elif table == "copies":
            for _, _, at, name, _, _, _, code, _ in rows:
                if code is None:
                    self._sums.put(int(at // DAY_S), name, "copy", "", 1)
        elif table == "imports":
            for _, _, at, name, client, _ in rows:
                self._sums.put(int(at // DAY_S), name, "imported", client, 1)

    def _add_loads(self, rows: Sequence[Sequence[Any]]) -> None:
        uses: defaultdict[int, list[Sequence[Any]]] = defaultdict(list)
        talks = self._sums.talks
        for row in rows:
            day, name, conversation = int(row[2] // DAY_S), row[3], row[19]
            kind, value = kind_of(row[10], row[13], row[18])
            if kind == "load":
                uses[day].append(row)
                if conversation:
                    talks[day, conversation].add(name)
            elif kind:
                self._sums.put(day, name, kind, value, 1)
        for day, its in uses.items():
            files, readers, tokens = self._uses[day]
            files.update(map(_file, its))
            readers.update(map(_reader, its))
            for row in its:
                tokens[row[3]] += row[14]

    def sums(self) -> Sums:
        """Return the sums of these rows, of which there will be no more."""
        sums = self._sums
        for names in sums.talks.values():
            names.add("")
        for day, (files, readers, tokens) in self._uses.items():
            for (name, reference, script, *rest), count in files.items():
                file = reference or script
                values = dict[str, Any](zip(_OF_FILE, (file, *rest), strict=True))
                sums.split(day, name, values, count)
                sums.put(day, name, "load", "", count)
            for (name, *rest), count in readers.items():
                sums.split(day, name, dict(zip(_OF_READER, rest, strict=True)), count)
            for name, count in tokens.items():
                sums.put(day, name, "load", "", 0, count)
            if self._replica:
                sums.put(day, "", "replica", self._replica, files.total())
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

    def connect(self) -> None:
        """Connect, and make the tables that are missing."""
        raise NotImplementedError

    def open(self, writer: Writer) -> None:
        """Connect, and register the writer."""
        self.connect()
        try:
            with self.transaction() as base:
                self._replica = plain_text(replica_name())
                self._number = add_writer(base, writer, self._replica)
        except BaseException:
            self.connection.close()
            raise
        self._pending = Pending(self._replica)
        self._folded_at = writer.started

    def transaction(self, *, alone: bool = False) -> AbstractContextManager[Base]:
        """Return a transaction; ``alone`` keeps others away from the sums."""
        raise NotImplementedError

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
            (number, seq): (
                call_key(event.caller, event.call, event.name, event.file),
                int(event.at // DAY_S),
            )
            for seq, event in news
            if isinstance(event, UsageEvent) and event.call
        }
        with self.transaction() as base:
            if calls:
                filled["loads"] = first_of_calls(base, loads, calls)
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


def _offers_of(event: CatalogSynced) -> Iterator[tuple[Any, ...]]:
    """Yield the skills on offer on this day."""
    day = int(event.at // DAY_S)
    for *texts, references in offered_skills(event):
        yield day, *texts, json.dumps(references)
