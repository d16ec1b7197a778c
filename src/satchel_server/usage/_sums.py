"""Sums by day, from which reports are made: what is summed, and by what."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

NOT_FOUND: Final = "skill-not-found"
# When a person looks at a skill on the command line, no agent uses it.
BY_HAND: Final = "cli"
# Edges over which other programs read.
EDGES: Final = ("http", "mcp")
# Edge and client of another Satchel's syncs, which older versions called loads.
CONSUMER: Final = "http", "satchel"

# What of a load is summed, next to the skill; an empty value is not. The digest is
# that of SKILL.md alone.
DIMENSIONS: Final = (
    *("file", "via", "source", "release", "owner", "agent", "client", "caller"),
    "digest",
)
# Those that are summed over all skills, too: their trend needs no look at each skill.
OVER_ALL: Final = frozenset({"release", "owner", "agent", "client", "caller"})

# A day, the skill, what is summed (such as ``owner``), and its value.
Cell: TypeAlias = tuple[int, str, str, str]
Counts: TypeAlias = Counter[tuple[str, str, str]]


def kind_of(
    via: str, code: str | None, client: str, mirrors: Collection[str] = ()
) -> tuple[str, str]:
    """Return kind and value of the cell that counts a load; both are empty for none.

    The kind is ``load`` if it is use: it worked, and no person or copier made it.
    """
    if (via, client) == CONSUMER or (via in EDGES and client in mirrors):
        return ("", "") if code else ("copy", "")
    if code:
        return "error", code
    return ("hand" if via == BY_HAND else "load"), ""


@dataclass(slots=True)
class Sums:
    """Sums of events: for each cell how many, and their tokens.

    A cell of the kind ``load`` counts the loads of one skill on one day. Those of
    `DIMENSIONS` split it, ``digest`` that of SKILL.md alone, and ``reader`` has the
    clients over HTTP and MCP. ``error`` counts failures by code, ``hand`` loads of the
    command line, ``copy`` files that were copied, ``imported`` what is from a session
    of a client. ``talks`` has the skills of a conversation on a day, and an empty name
    for all of them. A cell without a skill counts all of them: by `OVER_ALL` and
    ``replica``.
    """

    cells: dict[Cell, list[int]] = field(default_factory=dict[Cell, list[int]])
    talks: defaultdict[tuple[int, str], set[str]] = field(
        default_factory=lambda: defaultdict(set[str])
    )

    def add(self, row: Sequence[Any], mirrors: Collection[str] = ()) -> None:
        """Add equal loads; what ``mirrors`` read over HTTP and MCP are copies.

        The row has the day, the skill, the code of a failure, the replica that recorded
        them, their count, their tokens, and `DIMENSIONS`; no file is SKILL.md.
        """
        day, name, code, replica, count, tokens, *rest = row
        values = dict[str, str](zip(DIMENSIONS, rest, strict=True))
        kind, value = kind_of(values["via"], code, values["client"], mirrors)
        if kind == "load":
            self.put(day, name, "load", "", count, tokens)
            if replica:
                self.put(day, "", "replica", replica, count)
            self.split(day, name, values, count)
        elif kind:
            self.put(day, name, kind, value, count)

    def split(self, day: int, name: str, values: dict[str, str], count: int) -> None:
        """Add to the cells of values by their dimensions, some or all of them."""
        if values.get("via") in EDGES:
            values["reader"] = values["client"]
        if values.get("file"):
            del values["digest"]
        # Here most of the time goes that sums take.
        cells = self.cells
        for kind, value in values.items():
            if value or kind == "digest":
                for whose in (name, "") if kind in OVER_ALL else (name,):
                    key = (day, whose, kind, value)
                    cell = cells.get(key)
                    if cell is None:
                        cells[key] = [count, 0]
                    else:
                        cell[0] += count

    def put(  # noqa: PLR0913, PLR0917 - a cell, and its sums
        self, day: int, name: str, kind: str, value: str, count: int, tokens: int = 0
    ) -> None:
        """Add to one cell."""
        key = (day, name, kind, value)
        cell = self.cells.get(key)
        if cell is None:
            self.cells[key] = [count, tokens]
        else:
            cell[0] += count
            cell[1] += tokens

    def talk(self, name: str, conversation: str, day: int) -> None:
        """Note that a skill was loaded in a conversation."""
        self.talks[day, conversation].update((name, ""))

    def talks_of(self, first: int, until: int) -> set[tuple[str, str]]:
        """Return conversations of these days, and their skills."""
        return {
            (conversation, name)
            for (day, conversation), names in self.talks.items()
            for name in (names if first <= day <= until else ())
        }


@dataclass(slots=True)
class Figures:
    """Sums of a period, and what is needed of the days before it.

    ``now`` and ``before`` count by skill, kind and value, in the period and in the one
    before. ``by_day`` and ``readers`` are of the period, and ``by_day`` may be over all
    skills unless a report of some is read; ``last`` is the last day of a skill with a
    load, ``files`` what was ever read of it. ``talks`` counts different conversations
    by skill, and all of them under no skill.
    """

    now: Counts = field(default_factory=Counts)
    before: Counts = field(default_factory=Counts)
    tokens: Counter[str] = field(default_factory=Counter[str])
    by_day: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    last: dict[str, int] = field(default_factory=dict[str, int])
    files: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    readers: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    talks: Counter[str] = field(default_factory=Counter[str])

    def include(self, sums: Sums, first: int, until: int) -> None:
        """Add sums; the period is from ``first`` to ``until``, both included."""
        for cell, counts in sums.cells.items():
            if cell[0] <= until:
                self._put(cell, counts, first, 2 * first - until - 1)
        readers = Counter(
            (value, day)
            for day, _, kind, value in sums.cells
            if kind == "reader" and first <= day <= until
        )
        for reader, skills in readers.items():
            # The sums on disk may have the same skills: the higher number is right, or
            # too low.
            self.readers[reader] = max(self.readers[reader], skills)
        self.talks.update(name for _, name in sums.talks_of(first, until))

    def _put(self, cell: Cell, counts: list[int], first: int, before: int) -> None:
        (day, name, kind, value), (count, tokens) = cell, counts
        if day >= first:
            self.now[name, kind, value] += count
        elif day >= before:
            self.before[name, kind, value] += count
        if kind == "file":
            self.files.add((name, value))
        elif kind == "load":
            self.last[name] = max(day, self.last.get(name, day))
            if day >= first:
                self.tokens[name] += tokens
                self.by_day[day, name] += count
