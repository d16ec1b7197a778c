"""The outline of a text: its headings and its code blocks."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding
from satchel_lab.lint._context import LintContext, body, document, documents, rule


@rule("empty-body")
def empty_body(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning where loading the skill gives nothing to follow."""
    if pack.text.strip() and not body(pack).text.strip():
        yield Finding.of("empty-body", SKILL_FILE)


_SEVERAL: Final = 2
_H1: Final = lazy_pattern(r"<h1\b", re.IGNORECASE)


@rule("missing-h1", of_skills=True)
def missing_h1(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a body of several sections that has no heading of level 1."""
    text, line = body(pack)
    read = document(pack, SKILL_FILE)
    sections = [heading for heading in read.headings if not heading.quoted]
    if len(sections) < _SEVERAL or any(one.level == 1 for one in read.headings):
        return
    # Many packs have a centred title, which takes HTML.
    if any(_H1.search(piece) for piece in read.html):
        return
    first = line + text[: len(text) - len(text.lstrip())].count("\n")
    yield Finding.of("missing-h1", SKILL_FILE, first)


@rule("skipped-heading")
def skipped_heading(pack: LintContext) -> Iterator[Finding]:
    """Yield each heading that skips a level; the first may have any.

    A comment of code that lost its fence is read as a heading: so nothing is said of a
    file with a fence inside of another, nor after a second title.
    """
    for path, page in documents(pack):
        level, titles = 6, 0
        for heading in () if page.nested_fence else page.headings:
            # Headings in quotations and lists are not part of the outline.
            if heading.quoted:
                continue
            titles += heading.level == 1
            if heading.level > level + 1 and (level > 1 or titles == 1):
                at, marks = ("skipped-heading", path, heading.line), "#" * (level + 1)
                yield Finding.of(*at, level=heading.level, above=level, marks=marks)
            level = heading.level


@rule("unclosed-fence")
def unclosed_fence(pack: LintContext) -> Iterator[Finding]:
    """Yield the first fence of each file that is not closed."""
    for path, page in documents(pack):
        for block in page.blocks:
            if not block.closed:
                yield Finding.of("unclosed-fence", path, block.line)
                # What follows is read the wrong way round, so further ones mean
                # nothing.
                break
