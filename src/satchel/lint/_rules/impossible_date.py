"""Values that YAML 1.1 takes for a date that no calendar has."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding
from satchel.skill_md import find_span

# The form that YAML 1.1 calls a timestamp, at the end of its line or with a time; a
# value of its own, without quotes.
_DATE: Final = re.compile(
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
    for match in _DATE.finditer(pack.text, span.head, span.end):
        if not _is_date(*(int(part) for part in match.groups())):
            written = "-".join(match.groups())
            yield Finding.of(
                "impossible-date",
                SKILL_FILE,
                pack.text.count("\n", 0, match.start(1)) + 1,
                written=written,
            )


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
