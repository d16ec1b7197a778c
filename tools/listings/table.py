"""Write docs/reference/listings.md from the rules and what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from satchel_lab.clients import WINDOWS, listing_rules, loaders
from tools.listings.recording import read_recorded
from tools.loaders.known import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from satchel_lab.clients import ListingRule, Loader

PAGE: Final = ROOT / "docs" / "reference" / "listings.md"
_SAMPLES: Final = tuple(
    f"{kind}-{count}-1"
    for kind in ("short", "medium", "long")
    for count in (5, 20, 100, 400)
)
_HEAD: Final = """# What clients show of a whole library

How many skills of a library each client shows whole, shortens or leaves out, and in
which order it decides. `satchel predict --library` applies these rules to your
library: see [see a pack as other clients will see it](../how-to/check-for-clients.md).

Clients marked *measured* were run, in the version and on the day in the table, on
made-up libraries of 5 to 400 skills against a model on the same machine, which keeps
what it is sent. A rule was made from these lists. It was then compared with the lists
of other libraries, made up and public ones: *right* is the share of their skills for
which the rule says exactly what was shown. Other versions were not measured.

`python -m tools.listings table` makes this page. `python -m tools.listings changes`
installs the newest releases, runs them again, and prints what changed as a table.

"""
_TAIL: Final = """
## What this does not show

- Another model, other settings, plug-ins, or skills elsewhere on the machine change the
  room that is left. Each client was run with its own defaults and no other skill.
- What a client shows later in a conversation, and what it shows of skills that it found
  by a search of its own.
- Clients that rank skills by how often they were used did not have any use to rank by.
"""


def write() -> Path:
    """Write the page, and return its path."""
    PAGE.write_text(_HEAD + "\n".join(_lines()) + "\n" + _TAIL, "utf-8")
    return PAGE


def _lines() -> Iterator[str]:
    rules = listing_rules().values()
    yield "| client | version | how | day | right | rule |"
    yield "|---|---|---|---|---:|---|"
    for rule in rules:
        told = f"{rule.about} Order: {rule.order}" if rule.order else rule.about
        facts = (rule.title, rule.version, rule.how, rule.checked, _right(rule), told)
        yield f"| {' | '.join(facts)} |"
    unknown = [one.title for one in loaders() if _is_unknown(one)]
    yield ""
    yield f"Not known: {', '.join(unknown)}."
    yield ""
    yield "## By window"
    yield ""
    yield "Skills shown whole / shortened / left out, of libraries with descriptions of"
    yield "20 to 80 characters (short), 120 to 320 (medium) and 1,024 (long)."
    recorded = read_recorded()
    for rule in rules:
        if rule.key in recorded:
            yield from _windows(rule, recorded[rule.key])


def _is_unknown(loader: Loader) -> bool:
    return loader.kind == "client" and loader.key not in listing_rules()


def _right(rule: ListingRule) -> str:
    skills = sum(count for _, count in rule.agreed.values())
    right = sum(right for right, _ in rule.agreed.values())
    return f"{right / skills:.2%} of {skills:,}" if skills else ""


def _windows(rule: ListingRule, entry: dict[str, Any]) -> Iterator[str]:
    names = {str(size): name for name, size in WINDOWS.items()}
    windows = [str(window) for window in entry["windows"]]
    yield ""
    yield f"### {rule.title}"
    yield ""
    yield f"| library | {' | '.join(names.get(one, one) for one in windows)} |"
    yield f"|---|{'---|' * len(windows)}"
    for name in _SAMPLES:
        cells = [_counts(entry["windows"][one].get(name)) for one in windows]
        kind, count, _ = name.split("-")
        yield f"| {count} {kind} | {' | '.join(cells)} |"
    for window, (right, skills) in rule.agreed.items():
        size = names.get(window, window)
        yield f"\nRight at {size}: {right:,} of {skills:,} skills of other libraries."


def _counts(row: list[Any] | None) -> str:
    return " / ".join(str(count) for count in row[:3]) if row else ""
