"""A description that begins with words that fit any skill."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.lint._english import opening_chars
from satchel.model import SKILL_FILE, Finding


@rule("description-late-point")
def description_late_point(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where half of what short clients show passes before the point.

    That is: the description is longer than the bound, and its first words, up to half
    of it, are such as ``This skill should be used when the user wants to``.
    """
    room = pack.thresholds.description_point_chars
    text = " ".join(pack.manifest.description.split())
    opening = opening_chars(text) if len(text) > room else 0
    if 0 < room <= 2 * opening:
        yield Finding.of(
            "description-late-point",
            SKILL_FILE,
            pack.line_of("description"),
            opening=opening,
            room=room,
        )
