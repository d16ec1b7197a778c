"""What is known of each loader, read from the two files that ship beside this one.

Both are JSON with ``schema_version`` 1, ``properties`` (their keys, in the order of the
table) and ``loaders``. For each loader:

- ``title``, ``version``, ``kind``, ``checked``, ``source``: see `Loader`;
- ``verdicts``: verdict to the keys of the properties that it is the verdict of;
- ``shown``: optional, property to what is listed where that is not what the pack says;
- ``claims``: in ``documented.json``, property to the ``source`` (an address) and the
  day it was ``checked``, for each property in ``verdicts``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from satchel.compat.verdict import Verdict

__all__ = [
    "SCHEMA_VERSION",
    "Claim",
    "Entry",
    "Table",
    "read_documented",
    "read_measured",
    "table_from_json",
    "table_to_json",
]

SCHEMA_VERSION: Final = 1
Kind = Literal["framework", "client", "validator"]


@dataclass(frozen=True, slots=True)
class Claim:
    """Where a verdict is documented, and the day that was read."""

    source: str
    checked: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one loader; a property that is in no mapping is unknown."""

    title: str
    version: str
    kind: Kind
    checked: str
    source: str
    verdicts: Mapping[str, Verdict]
    shown: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Any])
    claims: Mapping[str, Claim] = field(default_factory=dict[str, Claim])


@dataclass(frozen=True, slots=True)
class Table:
    """One data file: the keys of its properties, and its loaders by key."""

    properties: tuple[str, ...]
    loaders: Mapping[str, Entry]


@cache
def read_measured() -> Table:
    """Return what was measured."""
    return _read("measured.json")


@cache
def read_documented() -> Table:
    """Return what is documented of clients that cannot be run."""
    return _read("documented.json")


def _read(name: str) -> Table:
    text = files("satchel.compat").joinpath(name).read_text("utf-8")
    return table_from_json(json.loads(text))


def table_from_json(data: Mapping[str, Any]) -> Table:
    """Return the table that such a file holds.

    Raises:
        ValueError: It is of another schema.
    """
    if data.get("schema_version") != SCHEMA_VERSION:
        said = data.get("schema_version")
        raise ValueError(f"want schema_version {SCHEMA_VERSION}, got {said!r}")
    entries = {key: _entry(said) for key, said in data["loaders"].items()}
    return Table(tuple(data["properties"]), entries)


def table_to_json(table: Table) -> dict[str, Any]:
    """Return what `table_from_json` reads; the same table gives the same bytes."""
    order = {key: at for at, key in enumerate(table.properties)}
    loaders = {
        key: _to_json(table.loaders[key], order) for key in sorted(table.loaders)
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "properties": list(table.properties),
        "loaders": loaders,
    }


def _entry(said: Mapping[str, Any]) -> Entry:
    return Entry(
        title=said["title"],
        version=said["version"],
        kind=said["kind"],
        checked=said["checked"],
        source=said["source"],
        verdicts={
            key: verdict for verdict, keys in said["verdicts"].items() for key in keys
        },
        shown=said.get("shown", {}),
        claims={key: Claim(**each) for key, each in said.get("claims", {}).items()},
    )


def _to_json(entry: Entry, order: Mapping[str, int]) -> dict[str, Any]:
    def sort(keys: Mapping[str, Any]) -> list[str]:
        return sorted(keys, key=lambda key: (order.get(key, len(order)), key))

    by_verdict: dict[str, list[str]] = {}
    for key in sort(entry.verdicts):
        by_verdict.setdefault(entry.verdicts[key], []).append(key)
    said: dict[str, Any] = {
        "title": entry.title,
        "version": entry.version,
        "kind": entry.kind,
        "checked": entry.checked,
        "source": entry.source,
        "verdicts": dict(sorted(by_verdict.items())),
    }
    if entry.shown:
        said["shown"] = {key: dict(entry.shown[key]) for key in sort(entry.shown)}
    if entry.claims:
        said["claims"] = {
            key: {
                "source": entry.claims[key].source,
                "checked": entry.claims[key].checked,
            }
            for key in sort(entry.claims)
        }
    return said
