"""What a rule may look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from satchel.errors import SkillError
from satchel.model import DEFAULT_LIMITS, Descriptor, Finding, Limits, Manifest

__all__ = ["Context", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One pack that was read well, and a way to its other files.

    ``text`` is the whole SKILL.md. ``read`` takes a listed path.
    """

    descriptor: Descriptor
    manifest: Manifest
    text: str
    read: Callable[[str], bytes]
    profile: str = "spec"
    limits: Limits = DEFAULT_LIMITS

    def line_of(self, field: str) -> int | None:
        """Return the line on which a top-level field of the frontmatter begins."""
        lines = self.text.split("\n")
        for number, line in enumerate(lines[1:], start=2):
            if line.startswith(("---", "...")):
                break
            if line.startswith((f"{field}:", f"'{field}':", f'"{field}":')):
                return number
        return None

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of each listed file that is readable as UTF-8 text."""
        for path in self.descriptor.resources:
            try:
                yield path, self.read(path).decode("utf-8")
            except (SkillError, UnicodeDecodeError):
                continue


Rule: TypeAlias = Callable[[Context], Iterator[Finding]]
"""A function from a pack to what it has to say of it; paths relative to the pack."""
