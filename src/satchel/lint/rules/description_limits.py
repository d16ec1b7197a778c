"""A description that another profile would refuse for its length (X06)."""

from collections.abc import Iterator

from satchel.lint.context import Context, rule
from satchel.model import SKILL_FILE, Finding
from satchel.spec.profiles import MAX_DESCRIPTION_CHARS, STRICT_DESCRIPTION_CHARS

__all__ = ["description_limits"]


@rule("description-limits")
def description_limits(pack: Context) -> Iterator[Finding]:
    """Yield a note that names the strictest profile whose limits are broken.

    The profile in use says of its own limits that they are broken, and
    `long_description` of what it is about.
    """
    text = pack.manifest.description
    length = len(" ".join(text.split()))
    shortest, longest = STRICT_DESCRIPTION_CHARS
    if not length or shortest <= length <= longest or pack.profile == "strict":
        return
    if 0 < pack.thresholds.description_chars < length <= MAX_DESCRIPTION_CHARS:
        return
    refusing = "strict would refuse"
    if len(text) > MAX_DESCRIPTION_CHARS:
        if pack.profile == "spec":
            return
        refusing = "strict, and spec too, would refuse"
    yield Finding(
        "description-limits",
        "note",
        f"the description has {length:,} characters; profile {refusing} it",
        SKILL_FILE,
        pack.line_of("description"),
        fix=f"{shortest} to {longest} characters are fine everywhere",
    )
