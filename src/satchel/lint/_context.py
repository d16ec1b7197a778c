"""What a lint rule may look at, and what a rule is."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar, TypeVarTuple, cast

from satchel.errors import SkillError
from satchel.lint._markdown import MarkdownDocument, read_markdown
from satchel.model import (
    DEFAULT_LIMITS,
    DEFAULT_THRESHOLDS,
    SKILL_FILE,
    Descriptor,
    Finding,
    Limits,
    Manifest,
    Thresholds,
    bucket_of,
)
from satchel.skill_md import body_of
from satchel.text import decode, is_text

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


def _no_neighbours(path: str) -> Neighbour | None:
    """Find nothing: the pack is all there is."""
    del path
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintContext:
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
    around: Callable[[str], Neighbour | None] = _no_neighbours
    told: tuple[Finding, ...] = ()
    profile: str = "spec"
    by_dialect: bool = False
    limits: Limits = DEFAULT_LIMITS
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    memory: dict[object, object] = field(
        default_factory=dict[object, object], init=False, repr=False, compare=False
    )

    def once(
        self, make: "Callable[[LintContext, *_Args], _Made]", *args: *_Args
    ) -> _Made:
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


def _frontmatter(pack: LintContext) -> tuple[str, ...]:
    """Return the lines from the second to the one before the closing fence."""
    end = _FENCE.search(pack.text)
    head = pack.text[: end.start()] if end else pack.text
    return tuple(head.split("\n")[1:])


@dataclass(frozen=True, slots=True)
class LintRule:
    """A function from a pack to what it has to say of it; paths relative to the pack.

    ``codes`` are all that it may say, so that a rule of which every code is turned off
    is not asked. Empty where it hands on what others found.
    """

    look: Callable[[LintContext], Iterator[Finding]]
    codes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its function, which is that of its file."""
        return self.look.__name__

    def __call__(self, pack: LintContext) -> Iterator[Finding]:
        """Yield what the rule has to say of a pack."""
        return self.look(pack)


def rule(
    *codes: str,
) -> Callable[[Callable[[LintContext], Iterator[Finding]]], LintRule]:
    """Make a rule of a function, with the codes that it may say."""

    def make(look: Callable[[LintContext], Iterator[Finding]]) -> LintRule:
        return LintRule(look, codes)

    return make


_MARKDOWN: Final = (".md", ".markdown")
_TEMPLATES: Final = re.compile(r"(?:\A|/)(?:assets|templates?)/|\.(?:tmpl|template)\b")


class SkillBody(NamedTuple):
    """What stands behind the frontmatter, and the file's line that it begins on."""

    text: str
    line: int

    def line_at(self, at: int) -> int:
        """Return the file's line of a character of the body."""
        return self.line + self.text.count("\n", 0, at)


def body(pack: LintContext) -> SkillBody:
    """Return the body of SKILL.md."""
    return pack.once(_body)


def _body(pack: LintContext) -> SkillBody:
    return _behind_frontmatter(pack.text)


def _behind_frontmatter(text: str) -> SkillBody:
    behind = body_of(text)
    return SkillBody(behind, 1 + text.count("\n", 0, len(text) - len(behind)))


def listed(pack: LintContext) -> frozenset[str]:
    """Return the paths that a load may ask for."""
    return pack.once(_listed)


def _listed(pack: LintContext) -> frozenset[str]:
    return frozenset((SKILL_FILE, *pack.descriptor.resources))


def bytes_of(pack: LintContext, path: str) -> bytes:
    """Return a listed file; nothing where it cannot be read, which `readable` says."""
    return pack.once(_bytes_of, path)


def _bytes_of(pack: LintContext, path: str) -> bytes:
    try:
        return pack.read(path)
    except SkillError:
        return b""


def text_of(pack: LintContext, path: str) -> str:
    """Return a listed file as text; nothing where it is none, or cannot be read."""
    return pack.text if path == SKILL_FILE else pack.once(_text_of, path)


def _text_of(pack: LintContext, path: str) -> str:
    data = bytes_of(pack, path)
    return decode(data).text.removeprefix("\ufeff") if is_text(data) else ""


def document(pack: LintContext, path: str) -> MarkdownDocument:
    """Return a listed file as Markdown, without its frontmatter."""
    return pack.once(_document, path)


def _document(pack: LintContext, path: str) -> MarkdownDocument:
    if path == SKILL_FILE:
        return read_markdown(*body(pack))
    text = text_of(pack, path)
    if text.startswith("---"):
        return read_markdown(*_behind_frontmatter(text))
    return read_markdown(text)


def documents(pack: LintContext) -> Iterator[tuple[str, MarkdownDocument]]:
    """Yield SKILL.md and every listed Markdown file, but for templates."""
    yield SKILL_FILE, document(pack, SKILL_FILE)
    for path in files_ending(pack, _MARKDOWN):
        yield path, document(pack, path)


def files_ending(pack: LintContext, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield the listed files with one of these endings, but for templates."""
    for path in pack.descriptor.resources:
        if path.lower().endswith(endings) and not is_template(path):
            yield path


def is_template(path: str) -> bool:
    """Tell whether a file is to become another: its links and code are not yet true.

    That is what lies below ``assets/`` or a folder of templates.
    """
    return bucket_of(path) == "assets" or _TEMPLATES.search(path) is not None
