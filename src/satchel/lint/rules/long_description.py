"""A description that costs every prompt more than it should (A02)."""

from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, rule
from satchel.model import SKILL_FILE, Finding

__all__ = ["MAX_CHARS", "long_description"]

MAX_CHARS: Final = 800
"""Characters of what always stands in the prompt (R30)."""

SPEC_MAX_CHARS: Final = 1_024
"""From here on every profile but the lenient ones says so itself."""


@rule("long-description")
def long_description(pack: Context) -> Iterator[Finding]:
    """Yield a note on a valid description over `MAX_CHARS`, white space folded."""
    length = len(" ".join(pack.manifest.description.split()))
    if MAX_CHARS < length <= SPEC_MAX_CHARS:
        yield Finding(
            "long-description",
            "note",
            f"the description has {length:,} characters and stands in every prompt; "
            f"{MAX_CHARS} are plenty",
            SKILL_FILE,
            pack.line_of("description"),
            fix="say what it does and when to use it; move the rest into the body",
        )
