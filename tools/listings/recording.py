"""What was recorded of each client, in one data file, and how it is measured.

Of made-up libraries it has, for each window, how many skills were shown whole,
shortened and left out, and a digest of the names and texts. Of public ones nothing is
kept but how many skills the rule predicted right: they are data of others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools.listings.judging import counts_of, digest_of, judge
from tools.listings.libraries import named, public, public_mix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tools.listings.clients import Lister, Seen
    from tools.listings.judging import Judged
    from tools.listings.libraries import Library

RECORDED: Final = Path(__file__).with_name("recorded.json")

FITTED: Final = tuple(
    f"{kind}-{count}-1"
    for kind, counts in {
        "short": (5, 20, 100, 400),
        "medium": (5, 20, 100, 400),
        "long": (5, 20, 100, 400),
        "mixed": (20, 100),
        "not-ascii": (20, 100),
        "fields": (20,),
        "names": (20,),
        "over": (5,),
    }.items()
    for count in counts
)
"""The libraries that rules are made from."""

OTHERS: Final = tuple(
    f"{kind}-{count}-2"
    for kind, counts in {
        "short": (20, 400),
        "medium": (5, 100),
        "long": (20, 100),
        "mixed": (5, 100, 400),
        "not-ascii": (5, 100, 400),
        "fields": (20, 100),
        "names": (20, 100),
        "over": (20,),
    }.items()
    for count in counts
)
"""Made-up libraries that no rule is made from."""

_FEW: Final = frozenset(
    [
        "medium-5",
        "short-20",
        "medium-20",
        "fields-20",
        "names-20",
        "mixed-100",
        "long-400",
    ]
)
"""The libraries that a slow client is run on, without their seeds."""

_MIXES: Final = ((5, 1), (20, 1), (100, 1), (100, 2), (400, 1), (400, 2))


@dataclass(slots=True)
class Agreed:
    """How many skills of other libraries were right, by window."""

    skills: dict[int, int] = field(default_factory=dict[int, int])
    right: dict[int, int] = field(default_factory=dict[int, int])
    out_of_order: int = 0

    def add(self, window: int, judged: Judged) -> None:
        """Count one library at one window."""
        self.skills[window] = self.skills.get(window, 0) + judged.skills
        self.right[window] = self.right.get(window, 0) + judged.right
        self.out_of_order += not judged.in_order


def today() -> str:
    """Return the day, as an ISO date."""
    return datetime.now(UTC).date().isoformat()


def record(client: Lister) -> dict[str, Any]:
    """Run a client on the libraries that rules are made from; return its entry."""
    version = client.prepare()
    windows: dict[str, dict[str, list[Any]]] = {}
    for library, seen in client.look([*map(named, _names(client, FITTED))]):
        counts = counts_of(client, library, seen.rows)
        rows = windows.setdefault(str(seen.window), {})
        rows[library.name] = [*counts, digest_of(client, seen.rows)]
    return {"version": version, "checked": today(), "windows": windows}


def others(client: Lister, public_root: Path | None) -> Iterator[Library]:
    """Yield the libraries that no rule is made from."""
    yield from map(named, _names(client, OTHERS))
    if public_root is not None:
        for folder in () if client.is_slow else sorted(public_root.iterdir()):
            yield public(public_root, folder.name)
        for count, seed in _MIXES[2:5] if client.is_slow else _MIXES:
            yield public_mix(public_root, count, seed)


def _names(client: Lister, names: Sequence[str]) -> list[str]:
    few = (name for name in names if name.rpartition("-")[0] in _FEW)
    return [*few] if client.is_slow else [*names]


def agree(
    client: Lister, libraries: Sequence[Library]
) -> Iterator[tuple[Library, Seen, Judged]]:
    """Run a client on libraries, and compare each with its rule."""
    client.prepare()
    for library, seen in client.look(libraries):
        yield library, seen, judge(client, library, seen)


def read_recorded() -> dict[str, Any]:
    """Return the entries by client."""
    entries: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
    return entries


def write_recorded(entries: Mapping[str, Any]) -> None:
    """Write these clients' entries, all others left as they are."""
    known = {**(read_recorded() if RECORDED.exists() else {}), **entries}
    lines = [
        f" {json.dumps(key)}: {_entry(entry)}" for key, entry in sorted(known.items())
    ]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _entry(entry: Mapping[str, Any]) -> str:
    """Return an entry with a line for each library at each window."""
    windows = [
        f"   {json.dumps(window)}: {{\n"
        + ",\n".join(
            f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()
        )
        + "\n   }"
        for window, rows in entry["windows"].items()
    ]
    head = ", ".join(
        f'"{key}": {json.dumps(entry[key])}' for key in ("version", "checked")
    )
    return "{\n  " + head + ',\n  "windows": {\n' + ",\n".join(windows) + "\n  }\n }"
