"""Broken frontmatter mended entry by entry, each repair said."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from satchel.model import Finding, Limits
from satchel.spec.entries import Entry, split_entries
from satchel.spec.frontmatter import Problem, Tree, read_tree
from satchel.spec.rewrites import (
    Rewrite,
    entry_rewrites,
    line_rewrite,
    literal_rewrites,
    translated,
)

__all__ = ["Mended", "mend", "repaired"]

MAX_BROKEN: Final = 50
"""Broken entries in one frontmatter; the most seen in 11,793 public files: 3."""
_MAX_BROKEN_LINES: Final = 50
_SHOWN_CHARS: Final = 300
_FINAL: Final = frozenset(["yaml-alias", "yaml-anchor", "yaml-tag", "limit-exceeded"])
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Mended:
    """What broken frontmatter came to: the tree, the YAML it was read from, repairs.

    The lines of ``head`` are numbered as they were in the file.
    """

    tree: Tree
    head: bytes
    findings: tuple[Finding, ...]


def mend(head: str, problem: Problem, limits: Limits) -> Mended | Problem:
    """Return what the frontmatter means that the parser refused; else why nothing.

    What is valid YAML is never touched: an alias, an anchor or a tag stays refused.
    """
    if problem.code in _FINAL:
        return problem
    findings: list[Finding] = []
    text = _cleaned(head, findings)
    parts: list[str] = []
    for entry in split_entries(text.removesuffix("\n").split("\n")):
        mended = _mend_entry(entry, limits)
        if isinstance(mended, Problem):
            return mended
        if mended is None:
            parts.append(entry.text)
            continue
        if len(findings) >= MAX_BROKEN:
            return problem
        before, after = entry.text, mended.text
        findings.append(repaired(mended.code, entry.line, before, after))
        parts.append(after + "\n" * (before.count("\n") - after.count("\n")))
    whole = "".join(parts).encode("utf-8", "replace")
    tree = read_tree(whole, limits)
    if isinstance(tree, Problem):
        return tree
    return Mended(tree, whole, tuple(findings))


def _cleaned(head: str, findings: list[Finding]) -> str:
    """Return the text with one kind of line end, and no character YAML forbids."""
    text = head.replace("\r\n", "\n").replace("\r", "\n")
    control = _CONTROL.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        findings.append(repaired("control-characters", line))
        text = _CONTROL.sub("", text)
    fields = translated(text)
    if fields is not None:
        findings.append(repaired("translated-keys", 1, text, fields))
        text = fields
    return text


def _mend_entry(entry: Entry, limits: Limits) -> Rewrite | Problem | None:
    """Return the entry rewritten; None where it is fine as it is."""
    if not entry.key:
        return _without_stray(entry)
    problem = _problem(entry.text, limits)
    if problem is None and not entry.slipped:
        return None
    if problem is not None and problem.code in _FINAL:
        line = entry.line - 1 + problem.line if problem.line else entry.line
        return Problem(problem.code, problem.message, line)
    for rewrite in chain(
        entry_rewrites(entry), _mend_lines(entry, limits), literal_rewrites(entry)
    ):
        if _problem(rewrite.text, limits) is None:
            return rewrite
    return problem


def _without_stray(entry: Entry) -> Rewrite | None:
    """Return what stands before the first key as comments, unless it is YAML already."""
    lines = (entry.first, *entry.more)
    if all(not line.strip() or line.lstrip().startswith("#") for line in lines):
        return None
    return Rewrite("stray-text", "".join(f"# {line}\n" for line in lines))


def _mend_lines(entry: Entry, limits: Limits) -> Iterator[Rewrite]:
    """Yield a nested entry with its broken lines quoted, one after the other."""
    lines = entry.text.removesuffix("\n").split("\n")
    code = ""
    for _ in range(_MAX_BROKEN_LINES):
        problem = _problem("\n".join(lines), limits)
        if problem is None:
            yield Rewrite(code, "".join(f"{line}\n" for line in lines))
        at = _quote_near(lines, problem.line) if problem and problem.line else None
        if at is None:
            return
        code = code or at


def _quote_near(lines: list[str], number: int) -> str | None:
    """Quote the value that the parser stumbled over, on its line or one above it."""
    for index in range(min(number, len(lines)) - 1, 0, -1)[:3]:
        rewrite = line_rewrite(lines[index])
        if rewrite is not None and rewrite.text != lines[index]:
            lines[index] = rewrite.text
            return rewrite.code
    return None


def _problem(text: str, limits: Limits) -> Problem | None:
    read = read_tree(text.encode("utf-8", "replace"), limits)
    return read if isinstance(read, Problem) else None


def repaired(code: str, line: int | None, before: str = "", after: str = "") -> Finding:
    """Return the finding of one repair."""
    message, fix = _MEANING[code]
    shown = after.rstrip("\n")
    return Finding(
        code,
        "warning",
        message,
        line=line,
        fix=fix,
        before=_shortened(before.rstrip("\n")),
        after=_shortened(shown),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


_QUOTE_IT: Final = "put the value in double quotes"
_MEANING: Final = {
    "unquoted-colon": ("a value with a colon in it is not in quotes", _QUOTE_IT),
    "reserved-character": (
        "a value begins with a character that means something else in YAML",
        _QUOTE_IT,
    ),
    "block-text": (
        "text stands on the line of > or |, which want it below",
        "take the > or | away and put the value in double quotes",
    ),
    "bad-quotes": (
        "the quotes of a value do not add up",
        "put the value in double quotes, and a backslash before each one inside",
    ),
    "bad-escape": (
        "a backslash in double quotes begins no escape that YAML knows",
        "write two backslashes for one, and the character itself for others",
    ),
    "tab-indentation": ("a line is indented with a tab", "indent with blanks"),
    "indentation": (
        "a field is indented, or glued to its value",
        "begin the field at the margin, with one blank behind its colon",
    ),
    "unindented-text": (
        "a text runs on at the margin, where YAML expects the next field",
        "indent every line of the text below its field, behind `key: |`",
    ),
    "kept-as-text": ("the value is not YAML; it was kept as it was written", _QUOTE_IT),
    "description-not-text": (
        "the description is a list or a mapping; it was taken as it is written",
        _QUOTE_IT,
    ),
    "control-characters": (
        "the frontmatter holds control characters; they were left out",
        "delete them",
    ),
    "translated-keys": (
        "the names of the fields are translated; the rest was left out",
        "write `name:` and `description:`",
    ),
    "stray-text": (
        "text stands before the first field; it was left out",
        "delete it, or write a # before it",
    ),
}
