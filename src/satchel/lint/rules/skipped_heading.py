"""A heading more than one level below the one before it (A31, R36)."""

from collections.abc import Iterator

from satchel.lint.context import Context, rule
from satchel.lint.reading import documents
from satchel.model import Finding

__all__ = ["skipped_heading"]


@rule("skipped-heading")
def skipped_heading(pack: Context) -> Iterator[Finding]:
    """Yield each heading that skips a level; the first may have any.

    Headings in quotations and lists are no part of the outline.
    """
    for path, document in documents(pack):
        level = 6
        for heading in document.headings:
            if heading.quoted:
                continue
            if heading.level > level + 1:
                yield Finding(
                    "skipped-heading",
                    "warning",
                    f"a heading of level {heading.level} follows one of level {level}",
                    path,
                    heading.line,
                    fix=f"write it with {'#' * (level + 1)}",
                )
            level = heading.level
