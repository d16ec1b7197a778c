"""A description that costs every prompt more than it should."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.model import MAX_DESCRIPTION_CHARS, Finding
from satchel.text import EstimateCounter


@rule("long-description")
def long_description(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a valid description over the bound, white space folded."""
    text = " ".join(pack.manifest.description.split())
    bound = pack.thresholds.description_chars
    # Over the limit of the specification, the profile reports it.
    if 0 < bound < len(text) <= MAX_DESCRIPTION_CHARS:
        yield pack.finding_at(
            "long-description",
            "description",
            count=len(text),
            tokens=EstimateCounter().count(text),
            bound=bound,
        )
