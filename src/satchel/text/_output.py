"""Text for a terminal, a page of Markdown, and JSON."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from satchel.lazy import lazy_pattern
from satchel.text._plain import first_names, plural, printable

if TYPE_CHECKING:
    from satchel.model import Finding

# `##[error]`, `##vso[...]` and `##teamcity[...]` are commands anywhere in a line of a
# log of a CI system.
LOG_COMMAND: Final = lazy_pattern(r"##(?=[A-Za-z]{0,20}\[)")


def safe_in_log(text: str) -> str:
    """Return text of a pack that may stand in a log of a CI system."""
    return LOG_COMMAND.sub("## ", printable(text, keep=""))


def ascii_json(value: object) -> str:
    """Return JSON in printable ASCII, for any terminal, charset and locale."""
    # `json` escapes every control character but DEL, which terminals obey.
    return json.dumps(value, indent=2).replace("\x7f", "\\u007f")


# Letters of Europe, dashes and quotes, arrows, frames: one column each, fast to count.
_NARROW: Final = re.compile("[ -\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u257f]*")


def cells(text: str) -> int:
    """Return how many columns a printable text fills."""
    narrow = text.isascii() or _NARROW.fullmatch(text)
    return len(text) if narrow else sum(_cells_of_chars(text))


def _cells_of_chars(text: str) -> Iterator[int]:
    """Yield the columns of each character: 0, 1 or 2."""
    # As wcwidth and the newer terminals count: an emoji sequence is one wide character.
    base = joiner = ""
    for char in text:
        if unicodedata.category(char) in {"Mn", "Me"} or char in "\u200c\u200d":
            # Variation selector 16 makes a narrow symbol, such as a heart, wide.
            narrow = unicodedata.east_asian_width(base or "x") not in "WF"
            symbol = base and unicodedata.category(base) == "So"
            yield int(bool(char == "\ufe0f" and symbol and narrow))
            joiner = char if symbol else ""
            continue
        joined = joiner == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"
        # The last are vowels and finals of Hangul, which join a syllable.
        if (base and joined) or "\u1160" <= char <= "\u11ff":
            yield 0
        else:
            yield 2 if unicodedata.east_asian_width(char) in "WF" else 1
            base = char
        joiner = ""


def clip(text: str, columns: int | None, *, at_words: bool = False) -> str:
    """Return the text, cut with ``…`` if it is wider than ``columns``.

    ``at_words`` cuts before the word that does not fit, unless that is most of it.
    """
    if columns is None or cells(text) <= columns:
        return text
    end = _fitting(text, columns - 1)
    if at_words and not text[end].isspace():
        word = text.rfind(" ", 0, end)
        end = word if word > end // 2 else end
    return f"{text[:end].rstrip()}…"


def _fitting(text: str, columns: int) -> int:
    """Return how many characters fill at most ``columns``."""
    filled = accumulate(_cells_of_chars(text))
    return next((at for at, used in enumerate(filled) if used > columns), len(text))


def wrap(
    text: str, columns: int | None, *, first: str = "", rest: str = ""
) -> Iterator[str]:
    """Yield lines of at most ``columns``, begun by ``first`` and then by ``rest``.

    A word that is wider than a line is broken: what a terminal wraps by itself begins
    at its margin, where a text of a pack would look like a line of ours.
    """
    if columns is None:
        yield f"{first}{text}"
        return
    columns = max(columns, cells(rest) + 8)  # on a terminal with next to no columns
    begin, line = first, ""
    for at, word in enumerate(text.split(" ")):
        joined = f"{line} {word}" if at else word
        if cells(begin) + cells(joined) > columns and line:
            yield f"{begin}{line}"
            begin, joined = rest, word
        line = joined
        while line and cells(begin) + cells(line) > columns:
            end = max(1, _fitting(line, columns - cells(begin)))
            # No line begins as a command to the CI system that may show it.
            while end > 1 and line.startswith("::", end):
                end -= 1
            yield f"{begin}{line[:end]}"
            begin, line = rest, line[end:]
    yield f"{begin}{line}"


def count_severities(findings: "Iterable[Finding]", kind: str = "") -> str:
    """Return how many there are of each severity, as ``2 errors, 1 note``."""
    from satchel.model import SEVERITIES

    counts = Counter(finding.severity for finding in findings)
    return ", ".join(
        plural(counts[severity], f"{kind}{severity}")
        for severity in SEVERITIES
        if counts[severity]
    )


def unsearched_folders(findings: "Iterable[Finding]") -> str:
    """Return ``not searched: `` and the first folders; empty where there is none."""
    unsearched = (item for item in findings if item.code == "unsearched-folder")
    paths = [finding.path for finding in unsearched]
    return f"not searched: {first_names(paths)}" if paths else ""
