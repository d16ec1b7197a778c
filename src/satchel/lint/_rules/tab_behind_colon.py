"""A tab between a key of the frontmatter and its value."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, body, rule
from satchel.model import SKILL_FILE, Finding

_TAB: Final = re.compile(r"^([\w.-]+):[ ]*\t", re.MULTILINE)


@rule("tab-behind-colon")
def tab_behind_colon(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on the first one at the margin."""
    # Measured (clients/measured.json): half of the loaders drop the pack.
    head = pack.text[: len(pack.text) - len(body(pack).text)]
    match = _TAB.search(head) if "\t" in head else None
    if match:
        yield Finding.of(
            "tab-behind-colon",
            SKILL_FILE,
            head.count("\n", 0, match.start()) + 1,
            text=match[1],
        )
