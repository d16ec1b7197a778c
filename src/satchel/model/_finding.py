"""Something to tell the author of a pack: a value, never an exception."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning", "note"]

_RANK: Final = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was noticed, where, and what to do about it.

    ``error`` means that something was refused, ``warning`` that it was repaired or
    is likely to fail elsewhere, ``note`` that it is worth knowing.

    ``path`` is relative to the pack or the source, as the producer knows it; the
    registry puts the pack's location in front. ``line`` counts from 1; None is the
    whole file. ``before`` and ``after`` hold the text that a repair changed.
    """

    code: str
    severity: Severity
    message: str
    path: str = ""
    line: int | None = None
    fix: str = ""
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        """Return ``path:line: severity code: message``, leaving out what is empty."""
        place = ":".join(str(part) for part in (self.path, self.line) if part)
        head = f"{place}: " if place else ""
        return f"{head}{self.severity} {self.code}: {self.message}"


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the gravest severity among ``findings``; None where there is none."""
    return min(
        (finding.severity for finding in findings), key=_RANK.__getitem__, default=None
    )
