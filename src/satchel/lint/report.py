"""What a check found: a value that the reporters put into words."""

import hashlib
import posixpath
from dataclasses import dataclass
from typing import Literal, TypeAlias

from satchel.model import Finding, Severity

__all__ = ["FailOn", "Report", "fingerprint"]

FailOn: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of some packs, by path, line and code.

    ``packs`` counts those that were looked at, ``known`` the findings that a baseline
    took out.
    """

    packs: int
    findings: tuple[Finding, ...]
    profile: str = "spec"
    known: int = 0

    def count(self, severity: Severity) -> int:
        """Return how many findings are of exactly this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def fails(self, on: FailOn = "error") -> bool:
        """Tell whether a finding is at least as grave as ``on``."""
        grave = ("error", "warning") if on == "warning" else ("error",)
        return any(finding.severity in grave for finding in self.findings)

    @property
    def summary(self) -> str:
        """One line: how many packs, and how many findings of each severity."""
        parts = [
            _counted(self.count(severity), severity)
            for severity in ("error", "warning", "note")
            if self.count(severity)
        ]
        found = ", ".join(parts) or "no findings"
        known = f" ({self.known} more in the baseline)" if self.known else ""
        return f"{_counted(self.packs, 'pack')} checked: {found}{known}"


def fingerprint(finding: Finding) -> str:
    """Return 16 hex digits that stay the same while only the line changes."""
    path = posixpath.normpath(finding.path)
    what = f"{finding.code}\0{path}\0{finding.message}"
    return hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
