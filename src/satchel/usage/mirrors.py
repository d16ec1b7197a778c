"""Clients that make copies of skills, and what of their reads is no load."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from satchel.usage.records import Copied, Listed, Tally

__all__ = ["parted", "suspects"]

_EDGES: Final = frozenset({"http", "mcp"})
"""Edges over which somebody else's programs read."""
_CONSUMER: Final = "http", "satchel"
"""Edge and client of what an earlier version called loads: another Satchel's syncs."""
_LEAST: Final = 5
"""Skills on offer on a day; of fewer a busy agent may well load each."""
_SHARE: Final = 0.9
"""The share of them that no agent loads on one day."""


def parted(
    tallies: Iterable[Tally], mirrors: Collection[str]
) -> tuple[list[Tally], list[Copied]]:
    """Return the loads, and apart from them what mirrors read.

    ``mirrors`` are clients, by what they call themselves.
    """
    loads: list[Tally] = []
    copies: list[Copied] = []
    for tally in tallies:
        edge = tally.via, tally.client
        if edge != _CONSUMER and not (tally.via in _EDGES and tally.client in mirrors):
            loads.append(tally)
        elif not tally.code:
            copies.append(Copied(tally.day, tally.name, tally.count))
    return loads, copies


def suspects(
    tallies: Iterable[Tally], listed: Mapping[str, Listed]
) -> dict[str, tuple[int, int]]:
    """Return clients that read nearly all on one day: how many skills, of how many.

    They may copy what they read, which cannot be told from loads.
    """
    offered = Counter(day for each in listed.values() for day in each.days)
    read: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for tally in tallies:
        if tally.via in _EDGES and tally.client and not tally.code:
            read[tally.client, tally.day].add(tally.name)
    found: dict[str, tuple[int, int]] = {}
    for (client, day), names in sorted(read.items()):
        many, most = len(names), offered[day]
        if most >= _LEAST and many >= _SHARE * most:
            found[client] = max(found.get(client, (0, 0)), (many, most))
    return found
