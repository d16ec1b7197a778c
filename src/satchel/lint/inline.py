"""What the author of a pack asks not to be told, in the pack itself.

A pack may be anybody's, so that it cannot turn off what whoever reviews it has to see:
no error, and nothing that `NEVER` names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from satchel.lint.aliases import codes_named
from satchel.lint.pages import UnknownCodeError
from satchel.model import SKILL_FILE, Finding
from satchel.spec import body_of

__all__ = ["NEVER", "Inline", "read_inline"]

NEVER: Final = frozenset({"hidden-text", "envelope-breakout", "client-envelope"})
"""Codes that tell of text which is made to deceive."""

_MARK: Final = "satchel:"
_IN_FRONTMATTER: Final = re.compile(
    r"^[ \t]*#[ \t]*satchel:[ \t]*ignore\b([^\r\n]*)", re.MULTILINE
)
_IN_BODY: Final = re.compile(
    r"^[ \t]*<!--\s{0,9}satchel:\s{0,9}ignore\b([^>]{0,400}?)-->", re.MULTILINE
)
_NAME: Final = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Inline:
    """The codes that a pack asks to be left out, and what is not heeded of that."""

    codes: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()

    def hides(self, finding: Finding) -> bool:
        """Tell whether a finding of the pack is left out."""
        return (
            finding.code in self.codes
            and finding.severity != "error"
            and finding.code not in NEVER
        )


_NOTHING: Final = Inline()


def read_inline(text: str) -> Inline:
    """Return what a SKILL.md asks for: a comment in its frontmatter or in its body.

    ``# satchel: ignore CODE, CODE`` costs nothing when the skill is loaded;
    ``<!-- satchel: ignore CODE -->`` is loaded with the body.
    """
    if _MARK not in text:
        return _NOTHING
    codes: set[str] = set()
    findings: list[Finding] = []
    for name, line in _names(text):
        try:
            meant = codes_named(name)
        except UnknownCodeError as error:
            findings.append(_unheeded(str(error), line, "write a code as it is shown"))
            continue
        codes.update(meant)
        if not NEVER.isdisjoint(meant):
            message = f"{name} cannot be turned off from inside a pack"
            findings.append(_unheeded(message, line, "turn it off in satchel.toml"))
    return Inline(frozenset(codes), tuple(findings))


def _names(text: str) -> Iterator[tuple[str, int]]:
    """Yield each name that a comment has, with its line."""
    head = len(text) - len(body_of(text))
    for pattern, begin, end in (
        (_IN_FRONTMATTER, 0, head),
        (_IN_BODY, head, len(text)),
    ):
        for match in pattern.finditer(text, begin, end):
            line = text.count("\n", 0, match.start()) + 1
            for name in _NAME.findall(match[1]):
                yield name, line


def _unheeded(message: str, line: int, fix: str) -> Finding:
    return Finding("unheeded-ignore", "note", message, SKILL_FILE, line, fix)
