"""What a check found, as values that the reporters print."""

import hashlib
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from satchel.model import FailOn, Finding, Severity
from satchel.text import plural

if TYPE_CHECKING:
    from satchel.lint._fixes import SkillFix


_OF_DESCRIPTIONS: Final = (
    *("description-lacks-when", "description-late-point", "description-limits"),
    *("description-lines", "description-markup", "long-description"),
)
COVERED_BY: Final[Mapping[str, frozenset[str]]] = {
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


def without_repeats(findings: Iterable[Finding]) -> tuple[Finding, ...]:
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
    return any(finding.code in COVERED_BY.get(code, ()) for code in here)


def _with_advice(finding: Finding, messages: list[str]) -> Finding:
    """Return the finding with what was said of its line; once for each message."""
    advice = [each for each in messages if finding.code == "unknown-field"]
    if not advice:
        return finding
    return replace(finding, fix="; ".join(filter(None, (finding.fix, *advice))))


Likeness: TypeAlias = Literal["name", "files", "description"]


@dataclass(frozen=True, slots=True, order=True)
class NewExecutable:
    """A file that runs, by its mode or by its look; ``new``, or with other bytes.

    ``why`` is what shows that it runs: ``mode``, ``#!``, ``scripts/``, ``.sh``.
    """

    path: str
    new: bool
    why: str


@dataclass(frozen=True, slots=True, order=True)
class SimilarPacks:
    """Two packs that are alike: one that is new or changed, and another."""

    path: str
    other: str
    likeness: Likeness


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryChange:
    """How a library differs from what it was at ``rev``; paths of packs, sorted.

    ``hidden`` are new findings of text that is made to deceive, whatever the settings
    turn off. ``moved`` are packs that are the same elsewhere, from and to.
    ``skills`` and ``tokens`` are those of the catalog section, before and after.
    """

    rev: str
    hidden: tuple[Finding, ...] = ()
    executables: tuple[NewExecutable, ...] = ()
    twins: tuple[SimilarPacks, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    skills: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)

    @property
    def packs(self) -> str:
        """How many packs were added, changed, moved and removed, in words."""
        counts = (
            (len(self.added), "added"),
            (len(self.changed), "changed"),
            (len(self.moved), "moved"),
            (len(self.removed), "removed"),
        )
        parts = [f"{count:,} {what}" for count, what in counts if count]
        return ", ".join(parts) or "no pack changed"

    @property
    def cost(self) -> str:
        """What the catalog costs every prompt, before and after, in words."""
        before, after = self.tokens
        return (
            f"{self.skills[0]:,} -> {self.skills[1]:,} skills, "
            f"{before:,} -> {after:,} tokens ({after - before:+,})"
        )


SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
_NAMED: Final = 3
"""Codes that a summary names before it only counts them."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings of some packs, by path, line and code.

    ``packs`` counts those that were looked at, ``known`` the findings that a baseline
    took out, ``off`` those that settings turned off, by the word of ``off_by``, and
    ``inline`` those that packs turned off themselves. ``unasked`` are the codes that
    were not even looked for. ``fixes`` is what can be mended, ``change`` what a change
    brought, where that was asked for. ``locations`` are the folders of the packs,
    ``places`` what was checked, as it is printed.
    """

    packs: int
    findings: tuple[Finding, ...]
    profile: str = "spec"
    known: int = 0
    off: int = 0
    off_by: str = ""
    inline: int = 0
    unasked: tuple[str, ...] = ()
    fixes: "tuple[SkillFix, ...]" = ()
    change: "LibraryChange | None" = None
    locations: frozenset[str] = frozenset()
    places: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        """Return how many findings are of exactly this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def cost(self) -> str:
        """What a changed catalog costs every prompt, and how many packs are in none."""
        if self.change is None:
            return ""
        aside = self.packs - self.change.skills[1]
        some = f"; {aside:,} of {plural(self.packs, 'pack')} not listed: satchel doctor"
        return f"{self.change.cost}{some if aside > 0 else ''}"

    def fails(self, on: FailOn = "error") -> bool:
        """Tell whether a finding is at least as grave as ``on``."""
        if on == "never":
            return False
        grave = SEVERITIES[: SEVERITIES.index(on) + 1]
        return any(finding.severity in grave for finding in self.findings)

    def pack_of(self, finding: Finding) -> str:
        """Return the folder of the pack that a finding is about; empty for none."""
        place = finding.path
        while place and place not in self.locations:
            place = place.rpartition("/")[0]
        return place

    @property
    def fixable(self) -> int:
        """How many of the findings `satchel check --fix` mends."""
        mending = self.mending()
        return sum((each.path, each.code) in mending for each in self.findings)

    def mending(self) -> "dict[tuple[str, str], SkillFix]":
        """Return the fix that mends a finding, by the finding's path and code."""
        return {(fix.path, code): fix for fix in self.fixes for code in fix.codes}

    @property
    def summary(self) -> str:
        """One line: how many packs, how many findings, and what is not among them."""
        new = "" if self.change is None else "new "
        found = count_by_severity(self.findings, new) or f"no {new}findings"
        aside = ", ".join(self._left_out())
        return (
            f"{plural(self.packs, 'pack')} checked: {found}"
            f"{f' ({aside})' if aside else ''}"
        )

    def _left_out(self) -> list[str]:
        parts: list[str] = []
        if self.known:
            where = "baseline" if self.change is None else "library before"
            parts.append(f"{self.known:,} more in the {where}")
        if self.off:
            parts.append(f"{self.off:,} turned off by {self.off_by}")
        if self.inline:
            parts.append(f"{self.inline:,} turned off in the packs")
        if len(self.unasked) > _NAMED:
            parts.append(f"{len(self.unasked)} codes not looked for")
        elif self.unasked:
            parts.append(f"not looked for: {', '.join(self.unasked)}")
        return parts


def count_by_severity(findings: tuple[Finding, ...], kind: str = "") -> str:
    """Return how many there are of each severity, as ``2 errors, 1 note``."""
    counts = (
        (severity, sum(each.severity == severity for each in findings))
        for severity in SEVERITIES
    )
    return ", ".join(
        plural(count, f"{kind}{severity}") for severity, count in counts if count
    )


def fingerprint(finding: Finding) -> str:
    """Return 16 hex digits that stay the same while only the line changes."""
    path = posixpath.normpath(finding.path)
    what = f"{finding.code}\0{path}\0{finding.message}"
    return hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest()[:16]
