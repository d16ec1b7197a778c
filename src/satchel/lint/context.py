"""What a rule may look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from satchel.model import DEFAULT_LIMITS, Descriptor, Finding, Limits, Manifest

__all__ = ["Context", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One pack, and a way to its files.

    ``text`` is the whole SKILL.md; ``read`` takes its path or a listed one; ``told`` is
    what making the list of files had to say. A pack that the profile refuses is looked
    at too, as far as it can be read.
    """

    descriptor: Descriptor
    manifest: Manifest
    text: str
    read: Callable[[str], bytes]
    told: tuple[Finding, ...] = ()
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


Rule: TypeAlias = Callable[[Context], Iterator[Finding]]
"""A function from a pack to what it has to say of it; paths relative to the pack."""
