"""A SKILL.md with its frontmatter written down as `parse` read it.

Only what is broken is written anew: the fences, and the entries that are no YAML.
Every other byte stays, line ends and a byte order mark among them.
"""

import re
from collections.abc import Iterator
from typing import Final

from satchel.model import DEFAULT_LIMITS, Limits
from satchel.spec.entries import split_entries
from satchel.spec.fences import Span, span_of_text
from satchel.spec.frontmatter import Tree, read_tree
from satchel.spec.loose import HEADING, before_frontmatter, loose_span
from satchel.spec.repair import Mended, mend, without_controls

__all__ = ["corrected", "entry_text", "line_end", "set_entry"]

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_OPENING: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"(?:---|\.\.\.)[ \t]*(?:\r?\n|\r?\Z)")
_ENDS: Final = "\r\n"
_MARK: Final = "\ufeff"
_UNSEEN: Final = "\ufeff\u200b \t\r\n"
_LOSSY: Final = "translated-keys"
"""A repair that leaves text out: nobody but the author can write it down."""


def corrected(text: str, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Return the file with its frontmatter repaired; None where that cannot be done.

    What stood before the frontmatter becomes comments in it. The body is the same,
    to the byte. Whether the result is read as the file was is for the caller to check.
    """
    span = _span(text)
    if span is None:
        return None
    head = _head(text[span.head : span.end], limits)
    if head is None:
        return None
    end = line_end(text)
    if head and not head.endswith(("\n", "\r")):
        head += end
    opening, closing = text[: span.head], text[span.end : span.body]
    body = text[span.body :]
    if not _OPENING.fullmatch(opening):
        mark = _MARK if text.startswith(_MARK) else ""
        opening = f"{mark}---{end}{_as_comments(before_frontmatter(text), end)}"
    if not _CLOSING.fullmatch(closing) or (body and closing[-1] != "\n"):
        closing = f"---{end}"
    return f"{opening}{head}{closing}{body}"


def entry_text(text: str, key: str) -> str | None:
    """Return a top-level entry as it is written, each line ended by LF.

    Empty where there is none; None where there are two, or no frontmatter.
    """
    place = _place(text, key)
    if place is None:
        return None
    _, raw, at, count = place
    return "".join(f"{line.rstrip(_ENDS)}\n" for line in raw[at : at + count])


def set_entry(text: str, key: str, lines: str, *, first: bool = False) -> str | None:
    """Return the file with a top-level entry written as ``lines``, each line ended.

    One that is not there becomes the last, or the ``first``. None where `entry_text`
    gives None.
    """
    place = _place(text, key)
    if place is None:
        return None
    span, raw, at, count = place
    if not count and first:
        at = 0
    raw[at : at + count] = [lines.replace("\n", line_end(text))]
    return f"{text[: span.head]}{''.join(raw)}{text[span.end :]}"


def _place(text: str, key: str) -> tuple[Span, list[str], int, int] | None:
    """Return the lines of the frontmatter, and which of them are an entry's.

    Blank lines behind an entry are not its own. None where it stands there twice.
    """
    span = span_of_text(text)
    if span is None:
        return None
    raw = _LINE.findall(text[span.head : span.end])
    entries = split_entries([line.rstrip(_ENDS) for line in raw])
    named = [each for each in entries if each.key.strip("\"'") == key]
    if len(named) > 1:
        return None
    if not named:
        return span, raw, len(raw), 0
    at, count = named[0].line - 1, 1 + len(named[0].more)
    while count > 1 and not raw[at + count - 1].strip():
        count -= 1
    return span, raw, at, count


def line_end(text: str) -> str:
    """Return how the first line ends: CR LF, or LF."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _span(text: str) -> Span | None:
    span = span_of_text(text)
    if span is None or HEADING.search(text, span.head, span.end):
        loose = loose_span(text)
        return loose[0] if loose else None
    return span


def _head(head: str, limits: Limits) -> str | None:
    """Return the frontmatter as YAML; None where it cannot be, or loses something."""
    found = read_tree(head.encode("utf-8", "replace"), limits)
    if isinstance(found, Tree):
        return head
    mended = mend(head, found, limits)
    if not isinstance(mended, Mended) or _LOSSY in {f.code for f in mended.findings}:
        return None
    return "".join(_written(head, mended))


def _written(head: str, mended: Mended) -> Iterator[str]:
    """Yield the lines as they were, and the entries that were rewritten."""
    raw = _LINE.findall(head)
    end = line_end(head)
    at = 0
    for change in mended.changes:
        yield from map(without_controls, raw[at : change.line - 1])
        text = change.text.replace("\n", end)
        at = change.line - 1 + change.lines
        yield text
        kept = _behind(raw[change.line : at])
        if not text.endswith(kept):
            yield without_controls(kept)
    yield from map(without_controls, raw[at:])


def _behind(lines: list[str]) -> str:
    """Return the blank lines and comments that stand behind an entry."""
    first = len(lines)
    while first and (not lines[first - 1].strip() or lines[first - 1][0] == "#"):
        first -= 1
    return "".join(lines[first:])


def _as_comments(text: str, end: str) -> str:
    lines = (line.strip(_UNSEEN) for line in text.splitlines())
    return "".join(f"# {line}{end}" for line in lines if line)
