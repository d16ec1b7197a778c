"""Tags of our own envelope in any file of a pack (X12)."""

from collections.abc import Iterator

from satchel.lint.context import Context
from satchel.model import SKILL_FILE, Finding
from satchel.text import find_breakouts

__all__ = ["breakout"]


def breakout(pack: Context) -> Iterator[Finding]:
    """Yield each tag of the envelope, in SKILL.md and in each listed file."""
    for path, text in ((SKILL_FILE, pack.text), *pack.texts()):
        for line, tag in find_breakouts(text):
            yield Finding(
                "envelope-breakout",
                "warning",
                f"{tag!r} is a tag of the envelope that the text is handed out in",
                path,
                line,
                fix="write &lt; in place of <, or say it in other words",
            )
