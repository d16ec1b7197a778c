"""A body without a title."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, body, document, rule
from satchel.model import SKILL_FILE, Finding

_H1: Final = re.compile(r"<h1\b", re.IGNORECASE)


@rule("missing-h1")
def missing_h1(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a body that has no heading of level 1."""
    text, line = body(pack)
    if not text.strip():
        return
    read = document(pack, SKILL_FILE)
    if any(heading.level == 1 for heading in read.headings):
        return
    # Many packs have a centred title, which takes HTML.
    if any(_H1.search(piece) for piece in read.html):
        return
    yield Finding.of(
        "missing-h1",
        SKILL_FILE,
        line + text[: len(text) - len(text.lstrip())].count("\n"),
    )
