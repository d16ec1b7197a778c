"""Where the frontmatter of a SKILL.md begins and ends, by the letter."""

import re
from typing import AnyStr, Final, NamedTuple

__all__ = ["Span", "span_of_bytes", "span_of_text"]

# A fence stands on a line of its own. `...` ends a YAML document as `---` does. A line
# that only begins like a fence stops the search, with no group matched: what its
# author meant is for `loose_span` to find out.
_OPENING: Final = r"(?:{mark})?---[ \t]*\r?(?=\n)"
_CLOSING: Final = r"\n(?:---|\.\.\.(?=\s|\Z))[ \t]*(\r?\n|\r?\Z)?"
_OPENING_TEXT: Final = re.compile(_OPENING.format(mark="\ufeff"))
_CLOSING_TEXT: Final = re.compile(_CLOSING)
_OPENING_BYTES: Final = re.compile(_OPENING.format(mark="\\xef\\xbb\\xbf").encode())
_CLOSING_BYTES: Final = re.compile(_CLOSING.encode())


class Span(NamedTuple):
    """Offsets: the frontmatter is ``[head:end]``, the body begins at ``body``.

    ``line`` is the number of the frontmatter's first line.
    """

    head: int
    end: int
    body: int
    line: int = 2


def span_of_bytes(data: bytes) -> Span | None:
    """Return the span of a file that begins with a fence and has a second one."""
    return _span(data, _OPENING_BYTES, _CLOSING_BYTES)


def span_of_text(text: str) -> Span | None:
    """Return the same for decoded text, in characters."""
    return _span(text, _OPENING_TEXT, _CLOSING_TEXT)


def _span(
    data: AnyStr, opening: re.Pattern[AnyStr], closing: re.Pattern[AnyStr]
) -> Span | None:
    first = opening.match(data)
    if first is None:
        return None
    last = closing.search(data, first.end())
    if last is None or last.lastindex is None:
        return None
    return Span(first.end() + 1, last.start() + 1, last.end())
