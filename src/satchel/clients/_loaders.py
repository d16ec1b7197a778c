"""What is known of each loader: measured or documented, read from two data files."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from satchel.errors import SkillError
from satchel.text import nearest

LoaderVerdict = Literal[
    "loaded", "cut", "wrong", "unknown", "dropped", "breaks-neighbours"
]

VERDICTS: Final[dict[LoaderVerdict, str]] = {
    "loaded": "listed with its name and its whole description",
    "cut": "listed, with a part of its description, from the beginning",
    "wrong": "listed, with an empty, mistaken or invented description or name",
    "unknown": "nobody measured or documented it",
    "dropped": "not listed; the packs beside it are",
    "breaks-neighbours": "not listed, and packs beside it are not listed either",
}
"""Each verdict and exactly what it means, the mildest first.

A name counts as its own if it is the declared one or the folder's; descriptions are
compared with their white space folded. ``unknown`` stands before what is certain to
be no better.
"""


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """What a loader shows of a pack that it lists; None where it is not known."""

    name: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one loader makes of one pack.

    ``reasons`` are the keys of the properties that bring the verdict about, in the
    order of the table; for ``unknown`` those that nothing is known of. ``fix`` says
    what to change so that this loader takes the pack; empty where nothing needs to.
    ``shown`` says what it lists where that is not what the pack says.
    """

    loader: "Loader"
    verdict: LoaderVerdict
    reasons: tuple[str, ...] = ()
    fix: str = ""
    shown: ShownEntry | None = None


_RANK: Final = {verdict: rank for rank, verdict in enumerate(VERDICTS)}


def worst_verdict(verdicts: Iterable[LoaderVerdict]) -> LoaderVerdict:
    """Return the gravest of them; ``loaded`` where there is none."""
    worst: LoaderVerdict = "loaded"
    for verdict in verdicts:
        if _RANK[verdict] > _RANK[worst]:
            worst = verdict
    return worst


LOADERS_SCHEMA_VERSION: Final = 1
LoaderKind = Literal["framework", "client", "validator"]


@dataclass(frozen=True, slots=True)
class DocumentedClaim:
    """Where a verdict is documented, and the day that was read."""

    source: str
    checked: str


@dataclass(frozen=True, slots=True)
class LoaderData:
    """What is known of one loader; a property that is in no mapping is unknown."""

    title: str
    version: str
    kind: LoaderKind
    checked: str
    source: str
    verdicts: Mapping[str, LoaderVerdict]
    shown: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Any])
    claims: Mapping[str, DocumentedClaim] = field(
        default_factory=dict[str, DocumentedClaim]
    )


@dataclass(frozen=True, slots=True)
class LoaderTable:
    """One data file: the keys of its properties, and its loaders by key."""

    properties: tuple[str, ...]
    loaders: Mapping[str, LoaderData]


@cache
def read_measured() -> LoaderTable:
    """Return what was measured."""
    return _read("measured.json")


@cache
def read_documented() -> LoaderTable:
    """Return what is documented of clients that cannot be run."""
    return _read("documented.json")


def _read(name: str) -> LoaderTable:
    text = files("satchel.clients").joinpath(name).read_text("utf-8")
    return table_from_json(json.loads(text))


def table_from_json(data: Mapping[str, Any]) -> LoaderTable:
    """Return the table that such a file holds.

    Raises:
        ValueError: It is of another schema.
    """
    if data.get("schema_version") != LOADERS_SCHEMA_VERSION:
        said = data.get("schema_version")
        raise ValueError(f"want schema_version {LOADERS_SCHEMA_VERSION}, got {said!r}")
    entries = {key: _entry(said) for key, said in data["loaders"].items()}
    return LoaderTable(tuple(data["properties"]), entries)


def table_to_json(table: LoaderTable) -> dict[str, Any]:
    """Return what `table_from_json` reads; the same table gives the same bytes."""
    order = {key: at for at, key in enumerate(table.properties)}
    loaders = {
        key: _to_json(table.loaders[key], order) for key in sorted(table.loaders)
    }
    return {
        "schema_version": LOADERS_SCHEMA_VERSION,
        "properties": list(table.properties),
        "loaders": loaders,
    }


def _entry(said: Mapping[str, Any]) -> LoaderData:
    return LoaderData(
        title=said["title"],
        version=said["version"],
        kind=said["kind"],
        checked=said["checked"],
        source=said["source"],
        verdicts={
            key: verdict for verdict, keys in said["verdicts"].items() for key in keys
        },
        shown=said.get("shown", {}),
        claims={
            key: DocumentedClaim(**each) for key, each in said.get("claims", {}).items()
        },
    )


def _to_json(entry: LoaderData, order: Mapping[str, int]) -> dict[str, Any]:
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


@dataclass(frozen=True, slots=True, order=True)
class Loader:
    """A program that lists packs, in one version.

    ``kind`` is ``framework``, ``client``, or ``validator`` for one that only says
    whether a pack is good. ``checked`` is the day it was measured or its documentation
    read, as ISO date. ``source`` says what was called, or where it is documented.
    """

    key: str
    title: str
    version: str
    kind: Literal["framework", "client", "validator"]
    checked: str
    how: Literal["measured", "documented"]
    source: str


class UnknownLoaderError(SkillError, LookupError):
    """Nothing is known of a loader of this key."""

    code = "unknown-loader"

    def __init__(self, wanted: str, close: tuple[str, ...] = ()) -> None:
        """Keep the key as it was asked for, and close ones."""
        super().__init__(wanted, close)
        self.wanted = wanted
        self.close = close

    def __str__(self) -> str:
        """Return a sentence, with close keys where there are any."""
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no loader {self.wanted!r}{close}"


@cache
def loaders() -> tuple[Loader, ...]:
    """Return every loader, measured ones first, each kind by key.

    What was measured goes before what is documented of the same key.
    """
    measured, documented = read_measured().loaders, read_documented().loaders
    return (
        *(_loader(key, said, "measured") for key, said in sorted(measured.items())),
        *(
            _loader(key, said, "documented")
            for key, said in sorted(documented.items())
            if key not in measured
        ),
    )


def choose_loaders(keys: Iterable[str]) -> tuple[Loader, ...]:
    """Return the loaders of these keys, each once, in the order of the keys.

    ``_`` and ``-`` are the same here, and case does not count; ``all`` is all of them.

    Raises:
        UnknownLoaderError: Nothing is known of one; carries close keys.
    """
    known = {loader.key: loader for loader in loaders()}
    chosen: dict[str, Loader] = {}
    for wanted in keys:
        key = wanted.strip().lower().replace("_", "-")
        if key == "all":
            chosen |= known
        elif key in known:
            chosen[key] = known[key]
        else:
            raise UnknownLoaderError(wanted, _close(key, [*known]))
    return tuple(chosen.values())


def _close(key: str, known: list[str]) -> tuple[str, ...]:
    """Return those that a key is a part of, then those that are spelled like it."""
    parts = [each for each in known if key and key in each]
    return tuple(dict.fromkeys([*parts, *nearest(key, known, 3)]))[:3]


def _loader(
    key: str, said: LoaderData, how: Literal["measured", "documented"]
) -> Loader:
    return Loader(
        key, said.title, said.version, said.kind, said.checked, how, said.source
    )
