"""What is known of each loader, measured or documented: two data files."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from satchel.errors import SkillError
from satchel.text import nearest
from satchel_lab.clients._pack import Candidate, PackReader
from satchel_lab.clients._properties import PLAIN, PROPERTIES, properties_in

LoaderVerdict = Literal[
    "loaded", "cut", "wrong", "unknown", "hidden", "dropped", "breaks-neighbours"
]

# Each verdict and exactly what it means, the mildest first.
# The declared name and the folder's both count as right; descriptions are compared with
# their white space folded. `unknown` comes before the verdicts that are surely bad.
VERDICTS: Final[dict[LoaderVerdict, str]] = {
    "loaded": "listed with its name and its whole description",
    "cut": "listed, with a part of its description, from the beginning",
    "wrong": "listed, with an empty, mistaken or invented description or name",
    "unknown": "nobody measured or documented it",
    "hidden": "not listed on purpose: the pack says that the model may not start it",
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
Evidence = Literal["measured", "documented"]
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

    def verdict(self, key: str) -> LoaderVerdict:
        """Return the verdict on a property, as it is read."""
        verdict: LoaderVerdict = self.verdicts.get(key, "unknown")
        # A loader that accepts other fields, and drops for this one, obeys it.
        if key == "no-model-invocation" and verdict == "dropped":
            obeys = self.verdicts.get("unknown-field") != verdict
            return "hidden" if obeys else verdict
        return verdict


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
    text = files("satchel_lab.clients").joinpath(name).read_text("utf-8")
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
    entries = {key: _read_entry(entry) for key, entry in data["loaders"].items()}
    return LoaderTable(tuple(data["properties"]), entries)


def _read_entry(data: Mapping[str, Any]) -> LoaderData:
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
    how: Evidence
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
        keys = close or f"; known are {', '.join(one.key for one in loaders())}"
        return f"no loader {self.key!r}{keys}"


@cache
def loaders() -> tuple[Loader, ...]:
    """Return every loader, measured ones first, each group by key.

    A loader in both tables counts as measured.
    """
    measured, documented = read_measured().loaders, read_documented().loaders
    # What was run counts more than what is written about it.
    read = {key: data for key, data in documented.items() if key not in measured}
    tables: dict[Evidence, Mapping[str, LoaderData]]
    tables = {"measured": measured, "documented": read}
    return tuple(
        Loader(key, data.title, data.version, data.kind, data.checked, how, data.source)
        for how, table in tables.items()
        for key, data in sorted(table.items())
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


_NO_FORM: Final = "leave the field out: no other form suits all of these loaders"
_FIRST: Final = re.compile(r"first-(\d+)")


# The words for what is shown instead: for a name `folder` or `other`; for a description
# `nothing`, `first-N`, `line` (as written there) or `other`.
def shown_entry(
    words: Mapping[str, Mapping[str, str]], keys: tuple[str, ...], reading: PackReader
) -> ShownEntry | None:
    """Return what is listed of a pack with these properties; None for what it says."""
    name = [words[key]["name"] for key in keys if "name" in words.get(key, {})]
    text = [
        words[key]["description"] for key in keys if "description" in words.get(key, {})
    ]
    # Of several properties the last with a word counts.
    if not (name or text):
        return None
    return ShownEntry(
        _name(name[-1], reading) if name else declared_name(reading),
        _description(text[-1], reading) if text else reading.description,
    )


def _name(word: str, reading: PackReader) -> str | None:
    return reading.candidate.folder if word == "folder" else None


def _description(word: str, reading: PackReader) -> str | None:
    if word == "nothing":
        return ""
    if word == "line":
        return description_line(reading)
    first = _FIRST.fullmatch(word)
    return reading.description[: int(first[1])] if first else None


def declared_name(reading: PackReader) -> str | None:
    manifest = reading.parsed.manifest
    return reading.source("name") or (manifest.name if manifest else None)


def description_line(reading: PackReader) -> str:
    entry = reading.entry("description")
    return entry.value.strip() if entry is not None else ""


def predict(
    candidate: Candidate, chosen: Iterable[Loader] | None = None
) -> tuple[Prediction, ...]:
    """Return what each loader makes of a pack, in the order of ``chosen``.

    Each property counts by itself, and the worst verdict is the pack's. A property that
    nobody measured has the verdict ``unknown``.

    Args:
        candidate: The pack as it is on disk.
        chosen: The loaders to predict for; None is all.
    """
    reading = PackReader(candidate)
    # A pack without any property is measured too, under a key of its own.
    keys = properties_in(reading) or (PLAIN,)
    asked = loaders() if chosen is None else tuple(chosen)
    return tuple(
        predict_for(loader, _entry(loader), keys, reading, asked) for loader in asked
    )


def predict_for(
    loader: Loader,
    entry: LoaderData,
    keys: tuple[str, ...],
    reading: PackReader,
    asked: tuple[Loader, ...] = (),
) -> Prediction:
    verdicts: dict[str, LoaderVerdict] = {key: entry.verdict(key) for key in keys}
    verdict = worst_verdict(verdicts.values())
    is_listed = verdict in {"loaded", "cut", "wrong"}
    shown = shown_entry(entry.shown, keys, reading) if is_listed else None
    if verdict == "loaded":
        return Prediction(loader, verdict, shown=shown)
    reasons = tuple(key for key in keys if verdicts[key] == verdict)
    if verdict in {"unknown", "hidden"}:
        return Prediction(loader, verdict, reasons, by_property=verdicts)
    # PLAIN is no property: nothing in a plain pack can be changed for a loader.
    fixes = [advice_for(key, asked) for key in reasons if key in PROPERTIES]
    fix = "; ".join(dict.fromkeys(fixes))
    return Prediction(loader, verdict, reasons, fix, shown, verdicts)


def advice_for(key: str, asked: Iterable[Loader]) -> str:
    """Return how a pack loses a property, in a way that suits all of some loaders."""
    own = PROPERTIES[key]
    field, entries = key.partition("-")[0], [_entry(loader) for loader in asked]
    ways = (one for k, one in PROPERTIES.items() if k.startswith(f"{field}-"))
    for way in (own, *ways) if own.makes else ():
        verdicts = {entry.verdict(way.makes) for entry in entries}
        if way.makes not in {"", key} and verdicts <= {"loaded", "unknown"}:
            return way.fix
    return _NO_FORM if own.makes else own.fix


def _entry(loader: Loader) -> LoaderData:
    table = read_measured() if loader.how == "measured" else read_documented()
    return table.loaders[loader.key]
