"""A description that begins with words that fit any skill."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.lint._english import opening_chars
from satchel.model import Finding


@rule("description-late-point")
def description_late_point(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where filler takes half of what clients with little room show."""
    room = pack.thresholds.description_point_chars
    text = " ".join(pack.manifest.description.split())
    opening = opening_chars(text) if len(text) > room else 0
    if 0 < room <= 2 * opening:
        yield pack.finding_at(
            "description-late-point", "description", opening=opening, room=room
        )
