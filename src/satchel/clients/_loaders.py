"""What is known of each loader, measured or documented: two data files."""

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

# Each verdict and exactly what it means, the mildest first.
# The declared name and the folder's both count as right; descriptions are compared with
# their white space folded. `unknown` comes before the verdicts that are surely bad.
VERDICTS: Final[dict[LoaderVerdict, str]] = {
    "loaded": "listed with its name and its whole description",
    "cut": "listed, with a part of its description, from the beginning",
    "wrong": "listed, with an empty, mistaken or invented description or name",
    "unknown": "nobody measured or documented it",
    "dropped": "not listed; the packs next to it are",
    "breaks-neighbours": "not listed, and packs next to it are not listed either",
}


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """What a loader shows of a pack that it lists; None where it is unknown."""

    name: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one loader makes of one pack.

    ``reasons`` are the keys of the properties that cause the verdict, in the order of
    the table; for ``unknown`` the properties that nobody measured. ``fix`` says what
    to change so that this loader lists the pack; empty where nothing needs to change.
    ``shown`` is what the loader lists where that differs from the pack. ``by_property``
    has the verdict on each property of a pack that is not ``loaded``.
    """

    loader: "Loader"
    verdict: LoaderVerdict
    reasons: tuple[str, ...] = ()
    fix: str = ""
    shown: ShownEntry | None = None
    by_property: "Mapping[str, LoaderVerdict]" = field(
        default_factory=dict[str, LoaderVerdict], repr=False, compare=False
    )


_RANK: Final = {verdict: rank for rank, verdict in enumerate(VERDICTS)}


def worst_verdict(verdicts: Iterable[LoaderVerdict]) -> LoaderVerdict:
    worst: LoaderVerdict = "loaded"
    for verdict in verdicts:
        worst = max(worst, verdict, key=_RANK.__getitem__)
    return worst


LOADERS_SCHEMA_VERSION: Final = 1
LoaderKind = Literal["framework", "client", "validator"]
LOADER_TEXTS: Final = ("title", "version", "kind", "checked", "source")


@dataclass(frozen=True, slots=True)
class DocumentedClaim:
    """Where a verdict is documented, and the day it was read."""

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
    return _read("measured.json")


@cache
def read_documented() -> LoaderTable:
    return _read("documented.json")


def _read(name: str) -> LoaderTable:
    text = files("satchel.clients").joinpath(name).read_text("utf-8")
    return table_from_json(json.loads(text))


# `verdicts` has the keys of properties by verdict, `shown` what is listed where that
# differs from the pack, `claims` the source and the day of each verdict.
def table_from_json(data: Mapping[str, Any]) -> LoaderTable:
    """Return the table of such a file; ValueError for another schema."""
    if data.get("schema_version") != LOADERS_SCHEMA_VERSION:
        version = data.get("schema_version")
        raise ValueError(
            f"expected schema_version {LOADERS_SCHEMA_VERSION}, got {version!r}"
        )
    entries = {key: _entry(entry) for key, entry in data["loaders"].items()}
    return LoaderTable(tuple(data["properties"]), entries)


def _entry(data: Mapping[str, Any]) -> LoaderData:
    by_verdict = data["verdicts"].items()
    claims = data.get("claims", {}).items()
    return LoaderData(
        **{key: data[key] for key in LOADER_TEXTS},
        verdicts={key: verdict for verdict, keys in by_verdict for key in keys},
        shown=data.get("shown", {}),
        claims={key: DocumentedClaim(**claim) for key, claim in claims},
    )


@dataclass(frozen=True, slots=True, order=True)
class Loader:
    """A program that lists packs, in one version.

    ``kind`` is ``framework``, ``client``, or ``validator`` for a program that only says
    whether a pack is good. ``checked`` is the day, as ISO date, when it was measured or
    its documentation read. ``source`` is what was called, or where it is documented.
    """

    key: str
    title: str
    version: str
    kind: LoaderKind
    checked: str
    how: Literal["measured", "documented"]
    source: str


class UnknownLoaderError(SkillError, LookupError):
    """Nothing is known of a loader of this key."""

    code = "unknown-loader"

    def __init__(self, key: str, close: tuple[str, ...] = ()) -> None:
        super().__init__(key, close)
        self.key = key
        self.close = close

    def __str__(self) -> str:
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no loader {self.key!r}{close}"


@cache
def loaders() -> tuple[Loader, ...]:
    """Return every loader, measured ones first, each group by key.

    A loader in both tables counts as measured.
    """
    measured, documented = read_measured().loaders, read_documented().loaders
    # What was run counts more than what is written about it.
    read = {key: data for key, data in documented.items() if key not in measured}
    return (
        *(_loader(key, data, "measured") for key, data in sorted(measured.items())),
        *(_loader(key, data, "documented") for key, data in sorted(read.items())),
    )


def choose_loaders(keys: Iterable[str]) -> tuple[Loader, ...]:
    """Return the loaders of these keys, each once, in the order of the keys.

    ``_`` and ``-`` mean the same, and case does not count; ``all`` is every loader.

    Raises:
        UnknownLoaderError: Nothing is known of one; carries close keys.
    """
    by_key = {loader.key: loader for loader in loaders()}
    chosen: dict[str, Loader] = {}
    for name in keys:
        key = name.strip().lower().replace("_", "-")
        if key == "all":
            chosen |= by_key
        elif key in by_key:
            chosen[key] = by_key[key]
        else:
            raise UnknownLoaderError(name, _close(key, [*by_key]))
    return tuple(chosen.values())


def _close(key: str, keys: list[str]) -> tuple[str, ...]:
    longer = [other for other in keys if key and key in other]
    return tuple(dict.fromkeys([*longer, *nearest(key, keys, 3)]))[:3]


def _loader(
    key: str, data: LoaderData, how: Literal["measured", "documented"]
) -> Loader:
    return Loader(
        key, data.title, data.version, data.kind, data.checked, how, data.source
    )
