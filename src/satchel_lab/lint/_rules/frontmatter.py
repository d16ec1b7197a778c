"""The text of the frontmatter: bytes and values that parsers stumble over."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding
from satchel.skill_md import find_span
from satchel_lab.lint._context import LintContext, body, bytes_of, matches_in, rule

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@rule("byte-order-mark")
def byte_order_mark(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning where SKILL.md begins with one."""
    # Measured (clients/measured.json): more than half of the loaders see no frontmatter
    # after it.
    if bytes_of(pack, SKILL_FILE).startswith(_BYTE_ORDER_MARK):
        yield Finding.of("byte-order-mark", SKILL_FILE, 1)


_TAB: Final = lazy_pattern(r"^([\w.-]+):[ ]*\t", re.MULTILINE)


@rule("tab-behind-colon")
def tab_behind_colon(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on the first one at the margin."""
    # Measured (clients/measured.json): half of the loaders drop the pack.
    head = pack.text[: len(pack.text) - len(body(pack).text)]
    match = _TAB.search(head) if "\t" in head else None
    if match:
        line = head.count("\n", 0, match.start()) + 1
        yield Finding.of("tab-behind-colon", SKILL_FILE, line, text=match[1])


# The form that YAML 1.1 calls a timestamp, at the end of its line or with a time; a
# value of its own, without quotes.
_DATE: Final = lazy_pattern(
    r"^[^#\"'\n]*?[:-][ \t]+(\d{4})-(\d\d?)-(\d\d?)(?=[ \t]*$|[Tt ]+\d)", re.MULTILINE
)


@rule("impossible-date")
def impossible_date(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on each such value in the frontmatter."""
    # Measured: clients with PyYAML fail on it with an error that they do not expect,
    # and some lose every other pack too.
    span = find_span(pack.text)
    if span is None:
        return
    for line, match in matches_in(pack.text, _DATE, span.head, span.end):
        if not _is_date(*(int(part) for part in match.groups())):
            written = "-".join(match.groups())
            yield Finding.of("impossible-date", SKILL_FILE, line, written=written)


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
