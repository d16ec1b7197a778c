"""What a check found: a value that the reporters put into words."""

import hashlib
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.model import Finding, Severity
from satchel.model.lint import FailOn

if TYPE_CHECKING:
    from satchel.lint.change import Change
    from satchel.lint.fixing import Fix

__all__ = ["FailOn", "Report", "counted", "fingerprint", "plural"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
_NAMED: Final = 3
"""Codes that a summary names before it only counts them."""


@dataclass(frozen=True, slots=True)
class Report:
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
    fixes: "tuple[Fix, ...]" = ()
    change: "Change | None" = None
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

    def mending(self) -> "dict[tuple[str, str], Fix]":
        """Return the fix that mends a finding, by the finding's path and code."""
        return {(fix.path, code): fix for fix in self.fixes for code in fix.codes}

    @property
    def summary(self) -> str:
        """One line: how many packs, how many findings, and what is not among them."""
        new = "" if self.change is None else "new "
        found = counted(self.findings, new) or f"no {new}findings"
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


def counted(findings: tuple[Finding, ...], kind: str = "") -> str:
    """Return how many there are of each severity, as ``2 errors, 1 note``."""
    counts = (
        (severity, sum(each.severity == severity for each in findings))
        for severity in SEVERITIES
    )
    return ", ".join(
        plural(count, f"{kind}{severity}") for severity, count in counts if count
    )


def plural(count: int, noun: str) -> str:
    """Return ``1 pack``, ``1,200 packs``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def fingerprint(finding: Finding) -> str:
    """Return 16 hex digits that stay the same while only the line changes."""
    path = posixpath.normpath(finding.path)
    what = f"{finding.code}\0{path}\0{finding.message}"
    return hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest()[:16]
