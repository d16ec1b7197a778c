"""Placeholders that a template or an author in a hurry left."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import (
    LintContext,
    body,
    document,
    documents,
    is_template,
    rule,
    text_of,
)
from satchel.model import SKILL_FILE, Finding

_WORD: Final = r"(?:TODO|TBD|TBC|FIXME)"
_LOREM: Final = re.compile(r"\blorem ipsum dolor sit amet\b", re.IGNORECASE)
_UNWRITTEN: Final = re.compile(
    rf"[\[(<{{*\s]*{_WORD}(?:\s*[:\])>}}*-]|\s*\Z)|.*[\[(<]{_WORD}\b", re.DOTALL
)
_IN_BRACKETS: Final = re.compile(
    r"\[[^\[\]]*\]|<[^<>]*>|\{\{[^{}]*\}\}|\$\{[^{}]*\}|[\W_]+"
)
# How the description of a template begins.
_OF_A_TEMPLATE: Final = re.compile(
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
_WORD_ALONE: Final = re.compile(
    rf"{_WORD}[.:]?|(?:\*\*|__)?{_WORD}:(?:\*\*|__)?\s.*|\[{_WORD}\b.*\][.:]?"
)
_ADD: Final = re.compile(
    r"\[(?:add|enter|insert|provide|put|replace|write)\b[^\]]*"
    r"\b(?:here|content|description|instructions?|steps?)\][.:]?"
    r"|(?:add|enter|insert|put|write) (?:the |your |skill )*"
    r"(?:content|instructions?|text) (?:here|below)[.:]?",
    re.IGNORECASE,
)
_SENTENCES: Final = (
    # What `satchel new` writes.
    "Replace this text with what a colleague would have to know",
    "Say what usually fails, how to notice it, and what to do then.",
    "Say here what is too long, or too rare, for SKILL.md.",
    "Say in a line what ",
    ": say when to read it, such as before step 2.",
    ": say what it does.",
    # What init_skill.py of anthropics/skills writes.
    'Delete this entire "Structuring This Skill" section when done',
    "This is a placeholder script that can be executed directly.",
    "This is a placeholder for detailed reference documentation.",
    "This placeholder represents where asset files would be stored.",
)
# What a line with a placeholder contains: only those are looked at closely.
_MAY: Final = re.compile(
    rf"{_WORD}|(?i:lorem ipsum|\[(?:add|enter|insert|provide|put|replace|write)\b)"
    r"|(?:content|nstructions?|text) (?:here|below)[.:]?$|"
    + "|".join(map(re.escape, _SENTENCES)),
    re.MULTILINE,
)
_MARKS: Final = re.compile(
    r"\A[ \t]*(?:(?:[-*+>]|\d+[.)]|#{1,6})[ \t]+)*(?:\[[ x]\] )?"
)
_COMMENT: Final = re.compile(
    r"^[ \t]*(?:#|//|/?\*|\"\"\"|''').*$|^[ \t]*pass$", re.MULTILINE
)
_TODO: Final = re.compile(r"\b(?:TODO|FIXME|TBD)\b")
_MAX_CHARS: Final = 64 * 1024
_HEAD_LINES: Final = 10


@rule("left-to-fill-in")
def left_to_fill_in(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a description that is a placeholder, and each file's first."""
    # One for each file, since placeholders come in numbers. Code and templates are left
    # out.
    text = " ".join(pack.manifest.description.split())
    if text and (
        _UNWRITTEN.match(text)
        or _IN_BRACKETS.fullmatch(text)
        or _OF_A_TEMPLATE.match(text)
    ):
        line = pack.line_of("description")
        yield _left(SKILL_FILE, line, f"the description {text[:60]!r}")
    for path, _ in documents(pack):
        place = _first_line(pack, path)
        if place is not None:
            yield _left(path, *place)
    for path in (*pack.descriptor.references, *pack.descriptor.scripts):
        text = text_of(pack, path)
        if path.endswith(".md") or is_template(path) or len(text) > _MAX_CHARS:
            continue
        # Further down, such a sentence is what a program writes into other packs.
        for number, head in enumerate(text.split("\n")[:_HEAD_LINES], start=1):
            if any(sentence in head for sentence in _SENTENCES):
                yield _left(path, number, f"{head.strip()[:60]!r}")
                break
        else:
            if _TODO.search(text) and not _COMMENT.sub("", text).strip():
                yield _left(path, None, "a program that does nothing yet")


def _left(path: str, line: int | None, what: str) -> Finding:
    return Finding.of("left-to-fill-in", path, line, what=what)


def _first_line(pack: LintContext, path: str) -> tuple[int, str] | None:
    """Return the first line of a Markdown file that is left to fill in."""
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
        if _is_left(bare) and not _is_code(pack, path, number):
            return number, f"{bare[:60]!r}"
    return None


def _is_code(pack: LintContext, path: str, line: int) -> bool:
    return any(
        block.line <= line < block.line + block.lines
        for block in document(pack, path).blocks
    )


def _is_left(line: str) -> bool:
    if any(sentence in line for sentence in _SENTENCES):
        return True
    lorem = _LOREM.search(line)
    if lorem:
        return not line[: lorem.start()].rstrip().endswith(("`", '"', "'", "\u201c"))
    return bool(_WORD_ALONE.fullmatch(line) or _ADD.fullmatch(line))
