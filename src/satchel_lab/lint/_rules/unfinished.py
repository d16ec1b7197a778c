"""What is not finished: placeholders, and merges."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding
from satchel.text import plural
from satchel_lab.lint._context import (
    MARKDOWN,
    LintContext,
    body,
    decoded_bytes,
    document,
    documents,
    is_template,
    rule,
    text_of,
)
from satchel_lab.lint._review import block_at

_WORD: Final = r"(?:TODO|TBD|TBC|FIXME)"
_NO_TEXT: Final = lazy_pattern(r"\s*(?:\Z|#)")
_LOREM: Final = lazy_pattern(r"\blorem ipsum dolor sit amet\b", re.IGNORECASE)
_UNWRITTEN: Final = lazy_pattern(
    rf"[\[(<{{*\s]*{_WORD}(?:\s*[:\])>}}*-]|\s*\Z)|.*[\[(<]{_WORD}\b", re.DOTALL
)
_IN_BRACKETS: Final = lazy_pattern(
    r"\[[^\[\]]*\]|<[^<>]*>|\{\{[^{}]*\}\}|\$\{[^{}]*\}|[\W_]+"
)
# How the description of a template begins.
_OF_A_TEMPLATE: Final = lazy_pattern(
    r"(?:replace (?:this )?(?:with|text)|add|enter|insert|put|write|provide)\b.{0,30}"
    r"\bdescription (?:of (?:the|this|your) skill|here)\b"
    r"|(?:(?:a|an|the|one|your|brief|clear|concise|detailed|line|sentence|short"
    r"|skill)[ -])*description of (?:what )?(?:the|this|your) skill(?:'s)?\b"
    r"|(?:your |the )?(?:skill(?:'s)? )?description (?:goes )?here\b"
    r"|(?:describe|explain|say) (?:in one (?:line|sentence) )?"
    r"(?:here )?what (?:it|this skill|the skill|your skill) (?:does|is for)\b"
    r"|what (?:it|this skill|your skill) does,? and when to use it\W*\Z"
    r"|lorem ipsum dolor\b|skill converted from\b|converted from [\w.-]+\.md\W*\Z",
    re.IGNORECASE,
)
# A line of Markdown, without its marks, that is only a placeholder.
_WORD_ALONE: Final = lazy_pattern(
    rf"{_WORD}[.:]?|(?:\*\*|__)?{_WORD}:(?:\*\*|__)?\s.*|\[{_WORD}\b.*\][.:]?"
)
_ADD: Final = lazy_pattern(
    r"\[(?:add|enter|insert|provide|put|replace|write)\b[^\]]*"
    r"\b(?:here|content|description|instructions?|steps?)\][.:]?"
    r"|(?:add|enter|insert|put|write) (?:the |your |skill )*"
    r"(?:content|instructions?|text) (?:here|below)[.:]?",
    re.IGNORECASE,
)
# How all begins that `satchel new` leaves to its user.
_OURS: Final = "TODO: say "
_SENTENCES: Final = (
    _OURS,
    # What init_skill.py of anthropics/skills writes.
    'Delete this entire "Structuring This Skill" section when done',
    "This is a placeholder script that can be executed directly.",
    "This is a placeholder for detailed reference documentation.",
    "This placeholder represents where asset files would be stored.",
)
# What a line with a placeholder contains: only those are looked at closely.
_MAY: Final = lazy_pattern(
    rf"{_WORD}|(?i:lorem ipsum|\[(?:add|enter|insert|provide|put|replace|write)\b)"
    r"|(?:content|nstructions?|text) (?:here|below)[.:]?$|"
    + "|".join(map(re.escape, _SENTENCES)),
    re.MULTILINE,
)
_MARKS: Final = lazy_pattern(
    r"\A[ \t]*(?:(?:[-*+>]|\d+[.)]|#{1,6})[ \t]+)*(?:\[[ x]\] )?"
)
_COMMENT: Final = lazy_pattern(
    r"^[ \t]*(?:#|//|/?\*|\"\"\"|''').*$|^[ \t]*pass$", re.MULTILINE
)
_TODO: Final = lazy_pattern(r"\b(?:TODO|FIXME|TBD)\b")
_TEMPLATE_FOLDERS: Final = frozenset(["template", "templates"])
_NO_NAME: Final = lazy_pattern(
    r"(?:(?:my|your|new)-)?skill(?:-name|-template)?|(?:my|your|new)-skill.*|template"
    r"|template-.*|.*-template|\W.*"
)
_MAX_CHARS: Final = 64 * 1024
_HEAD_LINES: Final = 10
# In the middle of a script that `satchel new` made.
_WORK: Final = lazy_pattern(r"[ \t]*# TODO: say here what to do with the file\.")
_MOST_LINES: Final = 12


@rule("left-to-fill-in", of_skills=True)
def left_to_fill_in(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a description that is a placeholder, and each file's first."""
    # One for each file, since placeholders come in numbers. Code and templates are left
    # out.
    if _is_of_a_template(pack):
        return
    text = " ".join(pack.manifest.description.split())
    if text and (
        _UNWRITTEN.match(text)
        or _IN_BRACKETS.fullmatch(text)
        or _OF_A_TEMPLATE.match(text)
    ):
        line = pack.line_of("description")
        yield _left(SKILL_FILE, line, f"the description {text[:60]!r}")
    for path, _ in documents(pack):
        yield from _left_in(path, list(_lines_left(pack, path)))
    for path in (*pack.descriptor.references, *pack.descriptor.scripts):
        text = text_of(pack, path)
        if path.endswith(".md") or is_template(path) or len(text) > _MAX_CHARS:
            continue
        if not _MAY.search(text):
            continue
        # Further down, such a sentence is what a program writes into other packs.
        places = [
            (number, line.strip())
            for number, line in enumerate(text.split("\n"), start=1)
            if any(sentence in line for sentence in _SENTENCES)
            and (number <= _HEAD_LINES or _WORK.match(line))
        ]
        yield from _left_in(path, places)
        if not places and _TODO.search(text) and not _COMMENT.sub("", text).strip():
            yield _left(path, None, "a program that does nothing yet")


def _is_of_a_template(pack: LintContext) -> bool:
    """Tell whether others copy the pack, so that they fill it in.

    Never if it has a sentence of `satchel new`: its author is to fill that in, whatever
    the skill is called and wherever it is kept.
    """
    if _OURS in pack.text:
        return False
    places = [origin.location.split("/") for origin in pack.descriptor.origins]
    is_kept = any(not _TEMPLATE_FOLDERS.isdisjoint(folders) for folders in places)
    return is_kept or _NO_NAME.fullmatch(pack.manifest.name) is not None


def _left(path: str, line: int | None, what: str) -> Finding:
    return Finding.of("left-to-fill-in", path, line, what=what)


def _left_in(path: str, places: list[tuple[int, str]]) -> Iterator[Finding]:
    """Yield one finding on the first place, which names the lines of the others."""
    if not places:
        return
    (line, text), *others = places
    lines = ", ".join(str(number) for number, _ in others[:_MOST_LINES])
    more = plural(len(others), "more place")
    head = "line" if len(others) == 1 else "lines"
    dots = ", ..." if len(others) > _MOST_LINES else ""
    yield Finding.of(
        *("left-to-fill-in", path, line),
        sentence="several" if others else "",
        what=f"{text[:60]!r}",
        more=f"{more} ({head} {lines}{dots})",
    )


def _lines_left(pack: LintContext, path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a Markdown file that are left to fill in."""
    text = text_of(pack, path)
    first = body(pack).line if path == SKILL_FILE else 1
    number, counted, end = 1, 0, -1
    for match in _MAY.finditer(text):
        if match.start() <= end:  # on a line that was checked already
            continue
        begin = text.rfind("\n", 0, match.start()) + 1
        number += text.count("\n", counted, begin)
        counted = begin
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        line = text[begin:end]
        # Four spaces are code, or deep in a list.
        if number < first or line.startswith(("    ", "\t")):
            continue
        bare = _MARKS.sub("", line).strip()
        # The title of a list of tasks is what it says.
        is_title = line.startswith("#") and not _NO_TEXT.match(text, end)
        if not is_title and _is_left(bare) and not block_at(pack, path, number):
            yield number, bare


def _is_left(line: str) -> bool:
    if any(sentence in line for sentence in _SENTENCES):
        return True
    lorem = _LOREM.search(line)
    if lorem:
        return not line[: lorem.start()].rstrip().endswith(("`", '"', "'", "\u201c"))
    return bool(_WORD_ALONE.fullmatch(line) or _ADD.fullmatch(line))


_BEGIN: Final = b"<<<<<<< "
_MIDDLE: Final = b"======="
_END: Final = b">>>>>>> "


@rule("conflict-marker")
def conflict_marker(pack: LintContext) -> Iterator[Finding]:
    """Yield an error on the first conflict of each file: three marks in order."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        data = decoded_bytes(pack, path)
        # A search for bytes spares most files the look at each line.
        if _BEGIN not in data:
            continue
        for line, lines in _conflicts(data):
            if not _is_shown(pack, path, line, lines):
                yield Finding.of("conflict-marker", path, line)
                break


def _conflicts(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the first line of each conflict, and how many lines follow it."""
    begin = middle = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.startswith(_BEGIN):
            begin, middle = number, 0
        # Alone it may underline a heading, so it counts only after the first mark.
        elif begin and line.rstrip(b"\r") == _MIDDLE:
            middle = number
        elif middle and line.startswith(_END):
            yield begin, number - begin
            begin = middle = 0


def _is_shown(pack: LintContext, path: str, line: int, lines: int) -> bool:
    if not path.lower().endswith(MARKDOWN):
        return False
    return any(
        block.closed and block.line < line and line + lines < block.line + block.lines
        for block in document(pack, path).blocks
    )
