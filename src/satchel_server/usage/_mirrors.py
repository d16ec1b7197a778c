"""Clients that copy skills rather than use them, and what they read."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from satchel_server.usage._records import CopiedSkill, ListedSkill, Tally

# Edges over which other programs read.
_EDGES: Final = frozenset({"http", "mcp"})
# Edge and client of another Satchel's syncs, which older versions called loads.
_CONSUMER: Final = "http", "satchel"
# Of fewer skills a busy agent may well load each on one day.
_MIN_SKILLS: Final = 5
# The share of all skills that no agent loads on one day.
_MIRROR_SHARE: Final = 0.9


def split_mirrors(
    tallies: Iterable[Tally], mirrors: Collection[str]
) -> tuple[list[Tally], list[CopiedSkill]]:
    """Return the loads, and what clients read that copy skills: the ``mirrors``."""
    loads: list[Tally] = []
    copies: list[CopiedSkill] = []
    for tally in tallies:
        edge = tally.via, tally.client
        if edge != _CONSUMER and not (tally.via in _EDGES and tally.client in mirrors):
            loads.append(tally)
        elif not tally.code:
            copies.append(CopiedSkill(tally.day, tally.name, tally.count))
    return loads, copies


def suspected_mirrors(
    tallies: Iterable[Tally], listed: Mapping[str, ListedSkill]
) -> dict[str, tuple[int, int]]:
    """Return clients that read nearly all skills on one day: how many, of how many."""
    offered = Counter(day for skill in listed.values() for day in skill.days)
    read: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for tally in tallies:
        if tally.via in _EDGES and tally.client and not tally.code:
            read[tally.client, tally.day].add(tally.name)
    suspects: dict[str, tuple[int, int]] = {}
    for (client, day), names in sorted(read.items()):
        many, most = len(names), offered[day]
        if most >= _MIN_SKILLS and many >= _MIRROR_SHARE * most:
            suspects[client] = max(suspects.get(client, (0, 0)), (many, most))
    return suspects
