"""Invisible characters in the files beside SKILL.md (E01)."""

from collections.abc import Iterator

from satchel.lint.context import Context
from satchel.model import Finding
from satchel.text import find_hidden

__all__ = ["hidden_text"]


def hidden_text(pack: Context) -> Iterator[Finding]:
    """Yield one warning for each kind of invisible character in each listed file.

    SKILL.md itself is looked at when it is catalogued.
    """
    for path, text in pack.texts():
        for hidden in find_hidden(text):
            yield Finding(
                "hidden-text",
                "warning",
                f"{hidden}, the first in this line",
                path,
                hidden.line,
                fix="remove them, unless a script needs them to be read",
            )
