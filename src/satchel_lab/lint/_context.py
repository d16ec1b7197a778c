"""What a lint rule may look at, and what a rule is."""

import re
from collections.abc import Callable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar, cast

from satchel.errors import SkillError
from satchel.lazy import lazy_pattern
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    Finding,
    Limits,
    Manifest,
    Thresholds,
    bucket_of,
)
from satchel.skill_md import body_of, is_of_a_skill
from satchel.text import decode, is_text
from satchel_lab.lint._markdown import MarkdownDocument, read_markdown
from satchel_lab.lint._programs import ProgramCheck, compile_python

DEFAULT_THRESHOLDS: Final = Thresholds()

_FENCE: Final = lazy_pattern(r"\n(?=---|\.\.\.)")
MARKDOWN: Final = (".md", ".markdown")
_TEMPLATES: Final = lazy_pattern(
    r"(?:\A|/)(?:assets|templates?)/|\.(?:tmpl|template)\b"
)
# A pack about writing packs, whose texts name files of others.
_OF_SKILLS: Final = lazy_pattern(
    r"\bskill\.md\b|\b(?:audit|author|build|convert|creat|design|develop|evaluat"
    r"|extract|generat|improv|packag|review|scaffold|updat|validat|writ)(?:e|es|ing)?\b"
    r"[^.]{0,40}\bskills?\b|\bskill[ -](?:author|build|creat|develop|design|generat)",
    re.IGNORECASE,
)
_Value = TypeVar("_Value")
_Args = ParamSpec("_Args")


class Neighbour(NamedTuple):
    """A file or folder outside of the pack, and the folder of the skill around it."""

    # `skill` is empty where it is in no skill; `inside` is the path in the pack itself,
    # where a path leads out of it and back.

    skill: str = ""
    inside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintContext:
    """One pack, and a way to its files.

    Rules also run on a pack that the profile refuses, as far as it can be read.

    ``text`` is the whole SKILL.md; ``read`` takes its path or a listed one.
    ``file_findings`` were made with the list of files. ``around`` finds what is outside
    of the pack: it takes a path from the pack's root that begins with ``..``, with
    ``/`` for the root of the project, or with ``//NAME/`` for another skill of the
    library; it finds nothing where only the pack is known. ``may_run`` tells whether a
    file has a run bit, or nothing shows that it has none. ``by_dialect`` says that
    ``profile`` was not chosen: it is that of the dialect of the pack. ``clients`` are
    those whose folder or plugin the pack is in, so that what they document is fine.
    ``compile`` says what Python finds in files; no shell finds an error in the scripts
    that are in ``sound``.
    """

    descriptor: Descriptor
    manifest: Manifest
    text: str
    read: Callable[[str], bytes]
    around: Callable[[str], Neighbour | None] = lambda _: None
    compile: Callable[[Sequence[bytes]], tuple[ProgramCheck, ...]] = compile_python
    sound: AbstractSet[bytes] = frozenset()
    may_run: Callable[[str], bool] = lambda _: True
    file_findings: tuple[Finding, ...] = ()
    profile: str = "spec"
    by_dialect: bool = False
    clients: frozenset[str] = frozenset()
    limits: Limits = DEFAULT_LIMITS
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    # In the context and not in the module, so that it is freed with its pack.
    cache: dict[object, object] = field(
        default_factory=dict[object, object], init=False, repr=False, compare=False
    )

    def finding_at(self, code: str, field: str, /, **values: Any) -> Finding:  # noqa: ANN401
        """Make a finding on the line of a field of SKILL.md, as `Finding.of` does."""
        return Finding.of(code, SKILL_FILE, self.line_of(field), **values)

    def line_of(self, field: str) -> int | None:
        """Return the line on which a field of the frontmatter begins.

        A field in ``metadata`` is ``metadata.key``; where that key has no line of its
        own, this is the line of ``metadata``.
        """
        top, _, inner = field.partition(".")
        lines = _frontmatter(self)
        # Line 1 is the opening fence.
        for number, line in enumerate(lines, start=2):
            if line.startswith(_key_forms(top)):
                return _line_within(lines, number, inner) if inner else number
        return None


def once_per_pack(
    make: Callable[Concatenate[LintContext, _Args], _Value],
) -> Callable[Concatenate[LintContext, _Args], _Value]:
    """Make a function of a pack run once for all rules that call it."""

    def cached(pack: LintContext, /, *args: _Args.args, **more: _Args.kwargs) -> _Value:
        # The function is part of the key, so that two of one name do not mix.
        key = make, args
        if key not in pack.cache:
            pack.cache[key] = make(pack, *args, **more)
        return cast("_Value", pack.cache[key])

    return wraps(make)(cached)


@once_per_pack
def _frontmatter(pack: LintContext) -> tuple[str, ...]:
    """Return the lines from the second to the one before the closing fence."""
    end = _FENCE.search(pack.text)
    head = pack.text[: end.start()] if end else pack.text
    return tuple(head.split("\n")[1:])


def _key_forms(key: str) -> tuple[str, ...]:
    return f"{key}:", f"'{key}':", f'"{key}":'


def _line_within(lines: tuple[str, ...], number: int, key: str) -> int:
    for below, line in enumerate(lines[number - 1 :], start=number + 1):
        if line.lstrip().startswith(_key_forms(key)):
            return below
        if line.strip() and not line.startswith((" ", "\t")):
            break
    return number


@dataclass(frozen=True, slots=True)
class LintRule:
    """A function that yields the findings of a pack, with paths relative to the pack.

    ``codes`` are all that it may yield, so that a rule whose codes are all turned off
    does not run. They are empty for a rule that passes on what others found.
    ``of_skills`` is for what is a fault in a skill only: the rule is silent on a report
    or a lesson that is called SKILL.md, of which other findings say enough.
    """

    look: Callable[[LintContext], Iterator[Finding]]
    codes: tuple[str, ...]
    of_skills: bool = False

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.look.__name__

    def __call__(self, pack: LintContext) -> Iterator[Finding]:
        if self.of_skills and not is_of_a_skill(pack.manifest.frontmatter):
            return iter(())
        return self.look(pack)


def rule(
    *codes: str, of_skills: bool = False
) -> Callable[[Callable[[LintContext], Iterator[Finding]]], LintRule]:
    return lambda look: LintRule(look, codes, of_skills)


class SkillBody(NamedTuple):
    """The text after the frontmatter, and the line of the file that it begins on."""

    text: str
    line: int

    def line_at(self, at: int) -> int:
        return self.line + self.text.count("\n", 0, at)


@once_per_pack
def body(pack: LintContext) -> SkillBody:
    return _after_frontmatter(pack.text)


def _after_frontmatter(text: str) -> SkillBody:
    after = body_of(text)
    return SkillBody(after, 1 + text.count("\n", 0, len(text) - len(after)))


def matches_in(
    text: str, pattern: re.Pattern[str], begin: int = 0, end: int | None = None
) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each match between two offsets, with its line in the text, from 1."""
    # Lines are counted as the search goes on, once for the whole text.
    line, counted = 1, 0
    for match in pattern.finditer(text, begin, len(text) if end is None else end):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield line, match


@once_per_pack
def listed(pack: LintContext) -> frozenset[str]:
    return frozenset((SKILL_FILE, *pack.descriptor.resources))


@once_per_pack
def bytes_of(pack: LintContext, path: str) -> bytes:
    """Return a listed file; empty where it cannot be read, which `readable` reports."""
    try:
        return pack.read(path)
    except SkillError:
        return b""


def decoded_bytes(pack: LintContext, path: str) -> bytes:
    if path == SKILL_FILE:
        return pack.text.encode("utf-8", "replace")
    return bytes_of(pack, path)


@once_per_pack
def text_of(pack: LintContext, path: str) -> str:
    """Return a listed file as text; empty where it is not text or cannot be read."""
    if path == SKILL_FILE:
        return pack.text
    data = bytes_of(pack, path)
    # A byte order mark would hide the `---` or the heading of the first line.
    return decode(data).text.removeprefix("\ufeff") if is_text(data) else ""


@once_per_pack
def document(pack: LintContext, path: str) -> MarkdownDocument:
    if path == SKILL_FILE:
        return read_markdown(*body(pack))
    text = text_of(pack, path)
    if text.startswith("---"):
        return read_markdown(*_after_frontmatter(text))
    return read_markdown(text)


def documents(pack: LintContext) -> Iterator[tuple[str, MarkdownDocument]]:
    yield SKILL_FILE, document(pack, SKILL_FILE)
    for path in pack.descriptor.resources:
        if path.lower().endswith(MARKDOWN) and not is_template(path):
            yield path, document(pack, path)


def is_template(path: str) -> bool:
    """Tell whether a file becomes another one: its links and code are not true yet."""
    return bucket_of(path) == "assets" or _TEMPLATES.search(path) is not None


@once_per_pack
def is_about_skills(pack: LintContext) -> bool:
    about = f"{pack.manifest.name} {pack.manifest.description}"
    return _OF_SKILLS.search(about) is not None
