"""A library in at most ten lines: how many, from where, what is wrong, what to do."""

from typing import TYPE_CHECKING, Final

from satchel.runtime.announcing import is_loud
from satchel.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from satchel.catalog import Registry
    from satchel.model import Finding, SourceState

__all__ = ["summary"]

PLACES: Final = 3
"""Sources that get a line each."""
KINDS: Final = 4
"""Kinds of what is wrong that get a line each."""
CHARS: Final = 200
"""Characters of a line; paths may be long, and errors of a source longer."""


def summary(registry: "Registry", findings: "Iterable[Finding]") -> str:
    """Return the summary of a library as it is now."""
    catalog = registry.catalog
    states = catalog.sources
    kinds: dict[str, list[Finding]] = {}
    for finding in filter(is_loud, findings):
        kinds.setdefault(finding.code, []).append(finding)
    excluded = len(catalog.withheld)
    counts = [f"{_many(len(catalog), 'skill')} from {_many(len(states), 'source')}"]
    counts += [f"{excluded:,} not listed (see .catalog.withheld)"] if excluded else []
    lines = [", ".join(counts)]
    lines += [f"  {_place(state)}" for state in states[:PLACES]]
    if len(states) > PLACES:
        lines.append(f"  and {_many(len(states) - PLACES, 'source')} more")
    shown = KINDS if len(kinds) <= KINDS else KINDS - 1
    lines += [f"  {_kind(alike)}" for alike in list(kinds.values())[:shown]]
    if len(kinds) > shown:
        lines.append(f"  and {len(kinds) - shown} more kinds of trouble")
    if kinds:
        first = next(iter(kinds.values()))[0]
        lines.append(f"to do: {first.fix}; .findings has everything")
    return "\n".join(map(_cut, lines))


def _place(state: "SourceState") -> str:
    away = f", did not answer: {state.error}" if state.error else ""
    return f"{state.label}: {_many(state.packs, 'pack')}{away}"


def _kind(alike: "list[Finding]") -> str:
    more = f" (and {len(alike) - 1:,} more {alike[0].code})" if len(alike) > 1 else ""
    return f"{alike[0]}{more}"


def _cut(line: str) -> str:
    text = printable(line, keep="")
    return text if len(text) <= CHARS else f"{text[: CHARS - 1]}…"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
