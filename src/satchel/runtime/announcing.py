"""What is logged of a library: a line for each thing that is not as it was asked for.

Quiet where all is well. What is logged is in `Satchel.findings` too, which hold more:
repairs, and what is only worth knowing.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from satchel.errors import (
    ConfigError,
    DuplicateSkillError,
    NoSkillsError,
    SkillError,
    SkillManifestError,
    SourceUnavailableError,
)
from satchel.text import printable

if TYPE_CHECKING:
    from satchel.model import Catalog, Finding

__all__ = ["Announcer", "as_error", "is_loud", "one_line", "unlogged"]

MOST: Final = 10
"""Findings of one code that get a line each; more of them are counted in one."""

_LOUD: Final = frozenset(
    {
        "broken-link",
        "link-leaves-root",
        "misspelled-field",
        "no-skills",
        "disabled-unknown",
    }
)
"""Warnings that say that something is not here, or not read as it was meant."""

_unlogged: ContextVar[bool] = ContextVar("satchel_unlogged", default=False)


@contextmanager
def unlogged() -> Generator[None]:
    """Log nothing here: whoever asks prints the findings for a person to read."""
    token = _unlogged.set(True)
    try:
        yield
    finally:
        _unlogged.reset(token)


def is_loud(finding: "Finding") -> bool:
    """Tell whether something was refused, unreachable, in conflict, or not found."""
    return finding.severity == "error" or finding.code in _LOUD


def one_line(finding: "Finding") -> str:
    """Return a finding and its fix as one line without control characters."""
    fix = f"; fix: {finding.fix}" if finding.fix else ""
    return printable(f"{finding}{fix}", keep="")


class Announcer:
    """Logs what is new since it was last told of the state of a library."""

    def __init__(self) -> None:
        """Know of nothing yet."""
        self._told: frozenset[Finding] = frozenset()

    def tell(self, findings: "Iterable[Finding]") -> None:
        """Log, at WARNING, each loud finding that was not there the last time."""
        loud = tuple(filter(is_loud, findings))
        new = [each for each in loud if each not in self._told]
        self._told = frozenset(loud)
        if not new or _unlogged.get():
            return
        import logging  # costs start-up time, and mostly there is nothing to say

        logger = logging.getLogger("satchel")
        for line in _lines(new):
            logger.warning("%s", line)


def _lines(findings: "Iterable[Finding]") -> list[str]:
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    lines: list[str] = []
    for code, alike in by_code.items():
        if len(alike) <= MOST:
            lines += map(one_line, alike)
        else:
            first = one_line(alike[0])
            lines.append(
                f"{len(alike):,} findings {code}, all in Satchel.findings; "
                f"the first: {first}"
            )
    return lines


def as_error(findings: "Iterable[Finding]", latest: "Catalog") -> SkillError | None:
    """Return the first loud finding as an error, the others as its notes.

    None where there is none.
    """
    loud = tuple(filter(is_loud, findings))
    if not loud:
        return None
    error = _error(loud[0], latest)
    for line in _lines(loud[1:]):
        error.add_note(line)
    return error


def _error(finding: "Finding", latest: "Catalog") -> SkillError:
    match finding.code:
        case DuplicateSkillError.code:
            conflict = latest.unresolved[0]
            first, second = (each.origin.location for each in conflict.owners[:2])
            return DuplicateSkillError(conflict.id, first, second, conflict.fix)
        case SourceUnavailableError.code:
            return SourceUnavailableError(finding.path, finding.message)
        case "disabled-unknown":
            return ConfigError(finding.path, finding.message)
        case NoSkillsError.code:
            return NoSkillsError(finding.path, finding.message)
        case _:
            return SkillManifestError(finding.path, finding.message, finding.line)
