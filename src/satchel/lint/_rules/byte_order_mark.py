"""A byte order mark in front of the frontmatter."""

from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, bytes_of, rule
from satchel.model import SKILL_FILE, Finding

_MARK: Final = b"\xef\xbb\xbf"


@rule("byte-order-mark")
def byte_order_mark(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning where SKILL.md begins with one.

    Source: measured, `compat/measured.json`: more than half of the loaders see no
    frontmatter behind it.
    """
    if bytes_of(pack, SKILL_FILE).startswith(_MARK):
        yield Finding(
            "byte-order-mark",
            "warning",
            "the file begins with a byte order mark, behind which many clients see no "
            "frontmatter",
            SKILL_FILE,
            1,
            fix="save it as UTF-8 without a byte order mark",
        )
