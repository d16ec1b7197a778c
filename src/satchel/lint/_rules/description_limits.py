"""A description that another profile would refuse for its length."""

from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import MAX_DESCRIPTION_CHARS, STRICT_DESCRIPTION_CHARS, Finding

_OF_STRICT: Final = frozenset(["assets", "references", "scripts", "trigger_keywords"])


@rule("description-limits")
def description_limits(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a length that another profile or client refuses."""
    text = pack.manifest.description
    length = len(" ".join(text.split()))
    shortest, longest = STRICT_DESCRIPTION_CHARS
    if not length or pack.profile == "strict":
        return
    # `long_description` reports these.
    if 0 < pack.thresholds.description_chars < length <= MAX_DESCRIPTION_CHARS:
        return
    if length < shortest:
        what = "too few to tell when the skill is meant"
    elif len(text) > MAX_DESCRIPTION_CHARS and pack.profile != "spec":
        what = "the public specification refuses more than 1,024"
    # The limits of `strict` are for manifests with fields of its dialect.
    elif length > longest and pack.manifest.frontmatter.keys() & _OF_STRICT:
        what = "profile strict would refuse it"
    else:
        return
    yield pack.finding_at(
        "description-limits",
        "description",
        length=length,
        what=what,
        shortest=shortest,
        longest=longest,
    )
