"""Tags of our own envelope in the files beside SKILL.md (X12)."""

from collections.abc import Iterator

from satchel.lint.context import Context
from satchel.model import Finding
from satchel.text import find_breakouts

__all__ = ["breakout"]


def breakout(pack: Context) -> Iterator[Finding]:
    """Yield each tag of the envelope in each listed file.

    SKILL.md itself is looked at when it is catalogued.
    """
    for path, text in pack.texts():
        for line, tag in find_breakouts(text):
            yield Finding(
                "envelope-breakout",
                "warning",
                f"{tag!r} is a tag of the envelope that the text is handed out in",
                path,
                line,
                fix="write &lt; in place of <, or say it in other words",
            )
