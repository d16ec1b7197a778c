"""A description that does not say when to use the skill."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.lint._english import is_english
from satchel.model import Finding

_CUES: Final = re.compile(
    r"""\b(?:when(?:ever)?|if|before|after|while|during|upon|once|until|unless
    |whether|(?:as\ soon|any\ ?time|every\ time|each\ time)
    |us(?:e|ed|eful|ing)\ (?:it\ |this\ |this\ skill\ |\w+ly\ )?
        (?:for|to|in|on|as|with|at|by|proactively|instead|only|any)
    |use\ cases?|designed\ (?:for|to)|intended\ for|suit(?:ed|able)|ideal\ for
    |perfect\ for|best\ for|good\ for|great\ for|helps?\ with|applies\ (?:to|for)
    |trigger(?:s|ed|ing)?|invok(?:e|ed|es)|activat(?:e|ed|es)|asks?|asked|asking
    |mentions?|mentioned|requested|(?:up)?on\ requests?|users?'?s?\ requests?
    |(?<!pull\ )(?<!merge\ )(?<!-)requests?
        \ (?:an?|for|to|like|about|that|involving|help)
    |wants?|needs?|needed|says?|users?\ provides?
    |must\ be|should\ be|required\ for|in\ case|where\ the|scenarios?|for\ tasks?
    |tasks?\ (?:like|such|involving|related|that)|questions?\ about)\b""",
    re.IGNORECASE | re.VERBOSE,
)


@rule("description-lacks-when")
def description_lacks_when(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on an English description without a word that says when."""
    text = pack.manifest.description
    if text and not _CUES.search(text) and is_english(text):
        yield pack.finding_at("description-lacks-when", "description")
