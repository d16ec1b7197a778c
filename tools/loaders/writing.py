"""Measurements as data: the words for what a loader showed, and the table as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from satchel_lab.clients._loaders import (
    LOADER_TEXTS,
    LOADERS_SCHEMA_VERSION,
    declared_name,
    description_line,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from satchel_lab.clients import PackReader, ShownEntry
    from satchel_lab.clients._loaders import LoaderData, LoaderTable

__all__ = ["table_to_json", "words_for"]

_LEAST_CUT: Final = 100
"""With fewer characters the text ends at a line, not where a loader cuts."""


def words_for(shown: ShownEntry, reading: PackReader) -> dict[str, str]:
    """Return the words for what was listed; none where that is what the pack says."""
    words: dict[str, str] = {}
    folder = reading.candidate.folder
    if shown.name is not None and shown.name != declared_name(reading):
        words["name"] = "folder" if shown.name == folder else "other"
    if shown.description is not None:
        listed, right = _folded(shown.description), _folded(reading.description)
        if listed != right:
            words["description"] = _word_for(listed, right, reading)
    return words


def _folded(text: str) -> str:
    return " ".join(text.split())


def _word_for(listed: str, right: str, reading: PackReader) -> str:
    if not listed:
        return "nothing"
    if listed == _folded(description_line(reading)):
        return "line"
    # A loader may mark its cut with dots, which the pack's own text does not have.
    start = listed.rstrip(".… ")
    if len(start) >= _LEAST_CUT and right.startswith(start):
        return f"first-{len(listed)}"
    return "other"


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


def _to_json(entry: LoaderData, order: Mapping[str, int]) -> dict[str, Any]:
    def sort(keys: Mapping[str, Any]) -> list[str]:
        return sorted(keys, key=lambda key: (order.get(key, len(order)), key))

    by_verdict: dict[str, list[str]] = {}
    for key in sort(entry.verdicts):
        by_verdict.setdefault(entry.verdicts[key], []).append(key)
    data: dict[str, Any] = {key: getattr(entry, key) for key in LOADER_TEXTS}
    data["verdicts"] = dict(sorted(by_verdict.items()))
    if entry.shown:
        data["shown"] = {key: dict(entry.shown[key]) for key in sort(entry.shown)}
    if entry.claims:
        data["claims"] = {key: asdict(entry.claims[key]) for key in sort(entry.claims)}
    return data
