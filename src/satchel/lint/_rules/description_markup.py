"""Angle brackets in a description."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding

_TAG: Final = re.compile(r"</?[A-Za-z][^<>\n]{0,60}>")


@rule("description-markup")
def description_markup(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a tag, a note on a bracket that stands alone.

    Source: platform.claude.com, "Agent Skills", on ``description``; and
    ``quick_validate.py`` of anthropics/skills, which refuses every bracket.
    """
    text = pack.manifest.description
    if "<" not in text and ">" not in text:
        return
    tag = _TAG.search(text)
    yield Finding(
        "description-markup",
        "warning" if tag else "note",
        f"the description holds {tag[0]!r}: Anthropic's upload refuses tags in it"
        if tag
        else "the description holds an angle bracket, which Anthropic's packaging "
        "of skills refuses",
        SKILL_FILE,
        pack.line_of("description"),
        fix="say it in words, without < and >",
    )
