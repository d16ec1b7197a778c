"""Angle brackets in a description."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import Finding

_TAG: Final = re.compile(r"</?[A-Za-z][^<>\n]{0,60}>")


@rule("description-markup")
def description_markup(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a tag, a note on a single bracket."""
    # platform.claude.com, "Agent Skills", on `description`; `quick_validate.py` of
    # anthropics/skills refuses every bracket.
    text = pack.manifest.description
    if "<" not in text and ">" not in text:
        return
    tag = _TAG.search(text)
    if tag:
        yield pack.finding_at("description-markup", "description", tag=tag[0])
    else:
        yield pack.finding_at(
            "description-markup", "description", severity="note", sentence="bracket"
        )
