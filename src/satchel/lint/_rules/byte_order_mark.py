"""A byte order mark before the frontmatter."""

from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, bytes_of, rule
from satchel.model import SKILL_FILE, Finding

_MARK: Final = b"\xef\xbb\xbf"


@rule("byte-order-mark")
def byte_order_mark(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning where SKILL.md begins with one."""
    # Measured (clients/measured.json): more than half of the loaders see no frontmatter
    # after it.
    if bytes_of(pack, SKILL_FILE).startswith(_MARK):
        yield Finding.of("byte-order-mark", SKILL_FILE, 1)
