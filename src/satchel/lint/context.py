"""What a rule may look at."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar, TypeVarTuple, cast

from satchel.model import DEFAULT_LIMITS, Descriptor, Finding, Limits, Manifest
from satchel.model.lint import DEFAULT_THRESHOLDS, Thresholds

__all__ = ["Context", "Neighbour", "Rule", "rule"]

_FENCE: Final = re.compile(r"\n(?=---|\.\.\.)")
_Made = TypeVar("_Made")
_Args = TypeVarTuple("_Args")


class Neighbour(NamedTuple):
    """A file or folder outside of the pack: the folder of the skill that holds it.

    ``skill`` is empty for what is in no skill; ``inside`` is the path in the pack
    itself, where a path leads out of it and back.
    """

    skill: str = ""
    inside: str = ""


def _alone(path: str) -> Neighbour | None:
    """Find nothing: the pack is all there is."""
    del path
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One pack, and a way to its files.

    ``text`` is the whole SKILL.md; ``read`` takes its path or a listed one; ``told`` is
    what making the list of files had to say. ``around`` finds what lies outside: a path
    from the pack's root that begins with ``..``, with ``/`` for the root of the
    project, or with ``//NAME/`` for another skill of the library; it finds nothing
    where only the pack is known. A pack that the profile
    refuses is looked at too, as far as it can be read. ``by_dialect`` is that nobody
    chose ``profile``: it is that of the dialect that the pack is written in.
    """

    descriptor: Descriptor
    manifest: Manifest
    text: str
    read: Callable[[str], bytes]
    around: Callable[[str], Neighbour | None] = _alone
    told: tuple[Finding, ...] = ()
    profile: str = "spec"
    by_dialect: bool = False
    limits: Limits = DEFAULT_LIMITS
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    memory: dict[object, object] = field(
        default_factory=dict[object, object], init=False, repr=False, compare=False
    )

    def once(self, make: "Callable[[Context, *_Args], _Made]", *args: *_Args) -> _Made:
        """Return what ``make`` makes of this pack, made once for all rules that ask."""
        key = (make, args)
        if key not in self.memory:
            self.memory[key] = make(self, *args)
        return cast("_Made", self.memory[key])

    def line_of(self, field: str) -> int | None:
        """Return the line on which a field of the frontmatter begins.

        A field at the top, or one in ``metadata`` as ``metadata.key``; where that key
        has no line of its own, the line of ``metadata``.
        """
        top, _, inner = field.partition(".")
        starts = (f"{top}:", f"'{top}':", f'"{top}":')
        lines = self.once(_frontmatter)
        for number, line in enumerate(lines, start=2):
            if line.startswith(starts):
                return _line_within(lines, number, inner) if inner else number
        return None


def _line_within(lines: tuple[str, ...], number: int, key: str) -> int:
    starts = (f"{key}:", f"'{key}':", f'"{key}":')
    for below, line in enumerate(lines[number - 1 :], start=number + 1):
        if line.lstrip().startswith(starts):
            return below
        if line.strip() and not line.startswith((" ", "\t")):
            break
    return number


def _frontmatter(pack: Context) -> tuple[str, ...]:
    """Return the lines from the second to the one before the closing fence."""
    end = _FENCE.search(pack.text)
    head = pack.text[: end.start()] if end else pack.text
    return tuple(head.split("\n")[1:])


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
