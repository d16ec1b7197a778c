"""The line that a finding is about, cut to the width, and the part of it to mark."""

import re
import unicodedata
from typing import Final, NamedTuple

from satchel.lint._reporters._formats import safe_in_log
from satchel.model import Finding
from satchel.text import cells, clip

_TAB: Final = " " * 4
# Characters of a line and of a message that are looked at: a pack may have millions.
_LONGEST_LINE: Final = 10_000
_LONGEST_MESSAGE: Final = 500
_QUOTED: Final = re.compile(r"'([^']+)'")
# A word of a message that can only be a path, a link, a field, a tag or a variable.
_TERM: Final = re.compile(r"[^\s,;:()`'\"]*[/.$<#_-][^\s,;:()`'\"]*")
_FIELD: Final = re.compile(r"(\s*)([A-Za-z][\w-]*)\s*:")
_MARKER: Final = re.compile(r"\s*([#`~]+|-{3,})")
# Where no word of the message is the one to mark: group 1 of these is.
_MARKED_BY_CODE: Final = {
    code: re.compile(pattern)
    for code, pattern in {
        "unquoted-colon": r"[^:]*:\s(?:[^:]|:(?=\S))*(:)",
        "reserved-character": r"[^:]*:\s*(\S)",
        "unlimited-shell": r".*?\b(Bash|Shell)\b",
    }.items()
}


class Excerpt(NamedTuple):
    """A line as it is printed, and the columns of its marked part: first, number."""

    text: str
    column: int = 0
    columns: int = 0


def excerpt(finding: Finding, line: str, room: int) -> Excerpt:
    """Return the line of a finding in at most ``room`` columns, its part in view."""
    text = safe_in_log(line[:_LONGEST_LINE].replace("\t", _TAB).rstrip())
    at, end = _span(finding, text)
    if cells(text[:end]) > room:  # not the beginning of the line, but its marked part
        start, before = at, room // 3
        for start in range(at, 0, -1):
            if cells(text[start - 1 : at]) > before:
                break
        text, at, end = f"…{text[start:]}", at - start + 1, end - start + 1
    text = clip(text, room)
    # A terminal may show these from the right, where no column can be counted.
    letters = () if text.isascii() else text
    if any(unicodedata.bidirectional(char) in {"R", "AL"} for char in letters):
        return Excerpt(text)
    return Excerpt(text, cells(text[:at]), cells(text[at:end]))


def _span(finding: Finding, text: str) -> tuple[int, int]:
    """Return where the part begins and ends; equal where nothing is to be marked."""
    by_code = _MARKED_BY_CODE.get(finding.code)
    if by_code is not None and (match := by_code.match(text)):
        return match.span(1)
    message = safe_in_log(finding.message[:_LONGEST_MESSAGE])
    terms = _TERM.findall(message)
    for term in (*_QUOTED.findall(message), *sorted(terms, key=len, reverse=True)):
        # A link may have its target as its text; the target is what is wrong.
        for part in (term.rstrip("."), term.removeprefix("metadata.")):
            at = _only_place(part, text)
            if at >= 0:
                return at, at + len(part)
    field = _FIELD.match(text)
    if field and re.search(rf"\b{field[2]}\b", message):
        return field.span(2)
    marker = _MARKER.match(text)
    return marker.span(1) if marker else (0, 0)


def _only_place(part: str, text: str) -> int:
    """Return where the part is, once or once as the target of a link; -1 if nowhere."""
    count = text.count(part) if part else 0
    if count > 1:
        count, at = text.count(f"]({part}"), text.find(f"]({part}") + 2
    else:
        at = text.find(part)
    return at if count == 1 else -1
