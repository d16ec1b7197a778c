"""A description that costs every prompt more than it should (A02)."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.model import MAX_DESCRIPTION_CHARS, SKILL_FILE, Finding
from satchel.text import EstimateCounter


@rule("long-description")
def long_description(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a valid description over the bound, white space folded (R30).

    Above what the specification allows every profile but the lenient ones says so.
    """
    text = " ".join(pack.manifest.description.split())
    bound = pack.thresholds.description_chars
    if 0 < bound < len(text) <= MAX_DESCRIPTION_CHARS:
        yield Finding.of(
            "long-description",
            SKILL_FILE,
            pack.line_of("description"),
            count=len(text),
            tokens=EstimateCounter().count(text),
            bound=bound,
        )
