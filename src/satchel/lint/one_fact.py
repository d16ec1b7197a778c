"""One fact is one finding: what another finding of the same place says already."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from satchel.model import Finding

__all__ = ["SAID_BY", "once"]

_OF_DESCRIPTIONS: Final = (
    *("description-lacks-when", "description-late-point", "description-limits"),
    *("description-lines", "description-markup", "long-description"),
)
SAID_BY: Final[Mapping[str, frozenset[str]]] = {
    # A field that is unknown is one that some clients know, and that `convert` moves.
    "unknown-field": frozenset({"client-only-field", "spec-incompatible"}),
    # What is no name is not the folder's either.
    "name-characters": frozenset({"hidden-text", "name-not-folder"}),
    "name-too-long": frozenset({"name-not-folder"}),
    "field-kind": frozenset({"allowed-tools-form"}),
    # A description that is none yet, or is not whole, is judged when it is.
    "left-to-fill-in": frozenset(_OF_DESCRIPTIONS),
    "description-not-text": frozenset(_OF_DESCRIPTIONS),
    "description-comment-cut": frozenset(_OF_DESCRIPTIONS),
    # Both sides of a merge and its marks are no text of any language.
    "conflict-marker": frozenset(
        [
            *("description-markup", "duplicate-key", "json-syntax", "name-characters"),
            *("name-not-folder", "name-too-long", "python-syntax", "shell-syntax"),
            *("stray-text", "unindented-text"),
        ]
    ),
}
"""Code to the codes that are left out where it stands on their line.

`conflict-marker` leaves them out in its whole file.
"""
_WHOLE_FILE: Final = "conflict-marker"
_TOLD: Final = frozenset({"client-only-field"})
"""Codes whose message is kept, as advice of the finding that stays."""


def once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in their order, without those that another one says already."""
    found = tuple(findings)
    codes: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    told: dict[tuple[str, int | None], list[str]] = defaultdict(list)
    for each in found:
        codes[each.path, each.line].add(each.code)
        if each.code == _WHOLE_FILE:
            codes[each.path, None].add(each.code)
        if each.code in _TOLD:
            told[each.path, each.line].append(each.message)
    kept = (each for each in found if not _is_said(each, codes))
    return tuple(_with_advice(each, told[each.path, each.line]) for each in kept)


def _is_said(
    finding: Finding, codes: Mapping[tuple[str, int | None], set[str]]
) -> bool:
    here = codes[finding.path, finding.line]
    if _WHOLE_FILE in codes.get((finding.path, None), ()):
        here = here | {_WHOLE_FILE}
    return any(finding.code in SAID_BY.get(code, ()) for code in here)


def _with_advice(finding: Finding, messages: list[str]) -> Finding:
    """Return the finding with what was said of its line; once for each message."""
    advice = [each for each in messages if finding.code == "unknown-field"]
    if not advice:
        return finding
    return replace(finding, fix="; ".join(filter(None, (finding.fix, *advice))))
