"""A heading more than one level below the one before it."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, documents, rule
from satchel.model import Finding


@rule("skipped-heading")
def skipped_heading(pack: LintContext) -> Iterator[Finding]:
    """Yield each heading that skips a level; the first may have any."""
    for path, document in documents(pack):
        level = 6
        for heading in document.headings:
            # Headings in quotations and lists are not part of the outline.
            if heading.quoted:
                continue
            if heading.level > level + 1:
                yield Finding.of(
                    "skipped-heading",
                    path,
                    heading.line,
                    level=heading.level,
                    above=level,
                    marks="#" * (level + 1),
                )
            level = heading.level
