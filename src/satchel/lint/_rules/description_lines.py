"""A description with lines that read as something else in a prompt."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import Finding

# A heading, an item, a quotation, a fence, a rule: after the first line of the text.
_MARKED: Final = re.compile(
    r"(?<=\n)[ \t]*(?:#{1,6}[ \t]|[-*+>][ \t]|\d+[.)][ \t]|```|~~~|---+[ \t]*$)",
    re.MULTILINE,
)


@rule("description-lines")
def description_lines(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a line of the description that begins like Markdown."""
    # Measured: most loaders put line breaks of a description into their prompt as they
    # are.
    text = pack.manifest.description.strip()
    if "\n" not in text:
        return
    match = _MARKED.search(text)
    if match:
        yield pack.finding_at(
            "description-lines", "description", start=match[0].strip()
        )
