"""On which line of a SKILL.md the reason stands why a loader does not take it."""

from typing import Final

from satchel.compat import Candidate
from satchel.compat.reading import Reading

__all__ = ["Causes"]

_FIELDS: Final = (
    # The part of a property's key that tells the field, and the field.
    ("description", "description"),
    ("name-", "name"),
    ("-name", "name"),
    ("metadata", "metadata"),
    ("tools-", "allowed-tools"),
    ("compatibility", "compatibility"),
    ("license", "license"),
    ("triggers", "triggers"),
    ("version", "version"),
    ("tags", "tags"),
    ("hooks", "hooks"),
    ("no-model-invocation", "disable-model-invocation"),
    ("not-user-invocable", "user-invocable"),
)
_ANYWHERE: Final = ("missing-", "no-")
"""Beginnings of keys whose cause is what is not there: the top of the file."""


class Causes:
    """The lines of one pack; it is read when the first is asked for."""

    def __init__(self, candidate: Candidate) -> None:
        """Take the pack."""
        self._reading = Reading(candidate)
        self._lines: dict[str, int] | None = None

    def line(self, key: str) -> int:
        """Return the line, from 1, that brings a property about."""
        field = next((field for part, field in _FIELDS if part in key), "")
        at = self._fields().get(field)
        if at is not None:
            return at
        if not key.startswith(_ANYWHERE) and (told := self._told()):
            return told
        return 1

    def _fields(self) -> dict[str, int]:
        """Return the line of each field; of one that is there twice the last."""
        if self._lines is None:
            span = self._reading.span
            above = 0 if span is None else self._reading.text.count("\n", 0, span.head)
            self._lines = {
                entry.key: above + entry.line
                for entry in self._reading.entries
                if entry.key
            }
        return self._lines

    def _told(self) -> int | None:
        """Return the first line that reading it found fault with."""
        lines = [each.line for each in self._reading.parsed.findings if each.line]
        return min(lines, default=None)
