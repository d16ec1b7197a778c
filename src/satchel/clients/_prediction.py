"""What each loader makes of a pack: predicted from its properties."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from satchel.clients._loaders import (
    Loader,
    LoaderData,
    LoaderVerdict,
    Prediction,
    ShownEntry,
    loaders,
    read_documented,
    read_measured,
    worst_verdict,
)
from satchel.clients._pack import Candidate, PackReader
from satchel.clients._properties._all import PLAIN, PROPERTIES, properties_in

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


def folded(text: str) -> str:
    return " ".join(text.split())


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
    return tuple(
        predict_for(loader, _entry(loader), keys, reading)
        for loader in (loaders() if chosen is None else chosen)
    )


def predict_for(
    loader: Loader, entry: LoaderData, keys: tuple[str, ...], reading: PackReader
) -> Prediction:
    verdicts: dict[str, LoaderVerdict] = {
        key: entry.verdicts.get(key, "unknown") for key in keys
    }
    verdict = worst_verdict(verdicts.values())
    is_listed = verdict in {"loaded", "cut", "wrong"}
    shown = shown_entry(entry.shown, keys, reading) if is_listed else None
    if verdict == "loaded":
        return Prediction(loader, verdict, shown=shown)
    reasons = tuple(key for key in keys if verdicts[key] == verdict)
    if verdict == "unknown":
        return Prediction(loader, verdict, reasons, by_property=verdicts)
    # PLAIN is no property: nothing in a plain pack can be changed for a loader.
    fixes = [PROPERTIES[key].fix for key in reasons if key in PROPERTIES]
    fix = "; ".join(dict.fromkeys(fixes))
    return Prediction(loader, verdict, reasons, fix, shown, verdicts)


def _entry(loader: Loader) -> LoaderData:
    table = read_measured() if loader.how == "measured" else read_documented()
    return table.loaders[loader.key]
