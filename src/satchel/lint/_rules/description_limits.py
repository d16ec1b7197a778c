"""A description that another profile would refuse for its length (X06)."""

from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    STRICT_DESCRIPTION_CHARS,
    Finding,
)

_OF_STRICT: Final = frozenset(["assets", "references", "scripts", "trigger_keywords"])


@rule("description-limits")
def description_limits(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on fewer characters than any client takes, or than one refuses.

    The profile in use says of its own limits that they are broken, and
    `long_description` of what it is about. Limits of ``strict`` are for manifests with
    fields of its dialect: nobody else has heard of it.
    """
    text = pack.manifest.description
    length = len(" ".join(text.split()))
    shortest, longest = STRICT_DESCRIPTION_CHARS
    if not length or pack.profile == "strict":
        return
    if 0 < pack.thresholds.description_chars < length <= MAX_DESCRIPTION_CHARS:
        return
    if length < shortest:
        what = "too few to tell when the skill is meant"
    elif len(text) > MAX_DESCRIPTION_CHARS and pack.profile != "spec":
        what = "the public specification refuses more than 1,024"
    elif length > longest and pack.manifest.frontmatter.keys() & _OF_STRICT:
        what = "profile strict would refuse it"
    else:
        return
    yield Finding.of(
        "description-limits",
        SKILL_FILE,
        pack.line_of("description"),
        length=length,
        what=what,
        shortest=shortest,
        longest=longest,
    )
