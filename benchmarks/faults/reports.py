"""What a validator reports of a pack: kinds, without names and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Level = Literal["error", "warning", "note"]

MAX_KIND_CHARS: Final = 110
# What differs from pack to pack: quoted text, sets, paths, numbers.
_VARIES: Final = (
    (re.compile(r"https?://\S+"), "URL"),
    (re.compile(r"(?<!\w)'[^']*'|\"[^\"]*\"|`[^`]*`"), "…"),
    (re.compile(r"\{[^}]*\}|\[[^\]]*\]"), "…"),
    (re.compile(r"(?<![\w.])[\w.-]*/[\w./-]*"), "PATH"),
    (re.compile(r"\d[\d,.]*"), "N"),
    # What there is in place of what is wanted differs between a pack and its twin.
    (re.compile(r",? got .*"), ""),
)


@dataclass(frozen=True, slots=True, order=True)
class Report:
    """One kind of report, and how severe its validator finds it."""

    kind: str
    level: Level

    @property
    def counts(self) -> bool:
        """Whether it is an error or a warning."""
        return self.level != "note"


@dataclass(frozen=True, slots=True)
class Said:
    """What a validator made of one pack; ``failed`` where it came to no end.

    ``failed`` is ``crash`` for a traceback or no answer, and ``hang`` for no end.
    """

    reports: frozenset[Report] = frozenset()
    failed: str = ""


def level_of(text: str) -> Level:
    """Return one of our three levels for a validator's own word."""
    word = text.lower()
    if word in {"error", "critical", "high"}:
        return "error"
    return "warning" if word in {"warning", "medium"} else "note"


def kind_of(message: str) -> str:
    """Return a message as one line, with what varies taken out."""
    text = " ".join(message.split())
    for pattern, instead in _VARIES:
        text = pattern.sub(instead, text)
    return text[:MAX_KIND_CHARS]
