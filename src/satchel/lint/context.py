"""What a rule may look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from satchel.model import DEFAULT_LIMITS, Descriptor, Finding, Limits, Manifest
from satchel.model.lint import DEFAULT_THRESHOLDS, Thresholds

__all__ = ["Context", "Rule", "rule"]


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
    thresholds: Thresholds = DEFAULT_THRESHOLDS

    def line_of(self, field: str) -> int | None:
        """Return the line on which a top-level field of the frontmatter begins."""
        lines = self.text.split("\n")
        for number, line in enumerate(lines[1:], start=2):
            if line.startswith(("---", "...")):
                break
            if line.startswith((f"{field}:", f"'{field}':", f'"{field}":')):
                return number
        return None


@dataclass(frozen=True, slots=True)
class Rule:
    """A function from a pack to what it has to say of it; paths relative to the pack.

    ``codes`` are all that it may say, so that a rule of which every code is turned off
    is not asked. Empty where it hands on what others found.
    """

    look: Callable[[Context], Iterator[Finding]]
    codes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its function, which is that of its file."""
        return self.look.__name__

    def __call__(self, pack: Context) -> Iterator[Finding]:
        """Yield what the rule has to say of a pack."""
        return self.look(pack)


def rule(*codes: str) -> Callable[[Callable[[Context], Iterator[Finding]]], Rule]:
    """Make a rule of a function, with the codes that it may say."""

    def make(look: Callable[[Context], Iterator[Finding]]) -> Rule:
        return Rule(look, codes)

    return make
