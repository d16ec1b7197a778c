"""A long text in parts: cut at headings, else at lines, with an outline."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from satchel.errors import LimitExceededError, ToolError, echo
from satchel.load._tool_backend import StyleOptions
from satchel.load._wording import NEXT_PART, OUTLINE, PART
from satchel.model import Loaded
from satchel.protocols import TokenCounter
from satchel.text import clean_line, printable

# Of a bound, what is left for the lines above a part.
_LINES_SHARE: Final = 8
# Characters that are looked at for each token of a part: more than texts have.
_MOST_CHARS: Final = 16
_MAX_TITLES: Final = 40
_TITLE_CHARS: Final = 60
# A heading, or a code block, in which a `#` begins none.
_HEADING: Final = re.compile(
    r"^(`{3,}|~{3,})[^\n]*\n.*?(?:^\1|\Z)|^(#{1,6})[ \t]+([^\n]*?)[ \t#]*$",
    re.MULTILINE | re.DOTALL,
)


class _Heading(NamedTuple):
    at: int
    level: int
    title: str


def check_whole(loaded: Loaded, options: StyleOptions) -> Loaded:
    """Return what was loaded, for a style that answers whole or with an error.

    Raises:
        LimitExceededError: It is over the bound.
    """
    most = options.max_result_tokens
    if most is not None and (tokens := options.counter.count(loaded.text)) > most:
        where = printable(loaded.file, keep="")
        raise LimitExceededError("max_result_tokens", most, tokens, "tokens", where)
    return loaded


def first_part(text: str, most: int, counter: TokenCounter) -> str:
    """Return the beginning of a text up to a bound."""
    return text[: [*_starts(text, most, counter, [0]), len(text)][1]]


def part_of(
    text: str, most: int, counter: TokenCounter, part: str, anchor: str = ""
) -> tuple[str, list[str]]:
    """Return a part of a text, and lines to say above it. All parts are the text.

    ``part`` is the number of one, or the title of a section, of which this is what one
    part has. Without it this is the section of ``anchor``, else the first part.

    Raises:
        ToolError: There is no such part.
    """
    headings = [
        _Heading(match.start(), len(match[2]), clean_line(match[3])[:_TITLE_CHARS])
        for match in _HEADING.finditer(text)
        if match[2]
    ]
    room = max(1, most - most // _LINES_SHARE)
    starts = _starts(text, room, counter, [0, *(heading.at for heading in headings)])
    number, begin, end, name = 1, 0, len(text), ""
    slug = _slug(part or anchor)
    if part.isdecimal() and 0 < int(part) <= len(starts):
        number, begin = int(part), starts[int(part) - 1]
    elif section := next(
        (h for h in headings if slug and _slug(h.title) == slug), None
    ):
        begin, level, name = section
        number, name = bisect_right(starts, begin), f"{name!r} in "
        end = next((h.at for h in headings if h.at > begin and h.level <= level), end)
    elif part:
        message = f"there is no {echo(part)!r}: give 1 to {len(starts):,}, or a title"
        raise ToolError("part", message)
    stop = min(end, [*starts, end][number])
    lines = [PART.format(name, number, len(starts))]
    if stop < end:
        lines[0] += NEXT_PART.format(number + 1)
    if not begin and headings and len(starts) > 1:
        lines.append(_outline(headings, starts))
    return text[begin:stop], lines


def _outline(headings: Sequence[_Heading], starts: Sequence[int]) -> str:
    shown = sorted(sorted(headings, key=attrgetter("level"))[:_MAX_TITLES])
    titles = [f"{h.title} ({bisect_right(starts, h.at)})" for h in shown]
    more = len(headings) - len(shown)
    return OUTLINE.format(", ".join(titles), f" and {more:,} more" if more else "")


def _slug(title: str) -> str:
    return re.sub(r"[\W_]+", "-", title.casefold()).strip("-")


def _starts(
    text: str, room: int, counter: TokenCounter, cuts: Sequence[int]
) -> list[int]:
    """Return where the parts of a text begin, each of at most ``room`` tokens."""
    starts, start = [0], 0
    while True:
        end = min(len(text), start + room * _MOST_CHARS)
        while (tokens := counter.count(text[start:end])) > room and end > start + 1:
            end = start + max(1, min((end - start) * room // tokens, end - start - 1))
        if end == len(text):
            return starts
        half = start + (end - start) // 2  # so that no part is tiny
        heading = cuts[bisect_right(cuts, end) - 1]
        start = heading if heading > half else text.rfind("\n", half, end) + 1 or end
        starts.append(start)
