"""The ``Skills:`` index: one line a skill."""

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["Markdown"]

# What a Markdown reader would take for a character reference.
_REFERENCE: Final = re.compile(r"&(?=#|\w+;)")


class Markdown:
    """Requirement C's index, byte for byte, each line ended by a line feed.

    Of the characters of markup only ``<``, and ``&`` where it begins a character
    reference, are escaped, and the colon in an id: the rest cannot leave its place.
    """

    def __init__(self, highlight: str | None = None, role: str | None = None) -> None:
        """Take the id to mark with ``*``, and the one to name in a first line."""
        self._highlight = highlight
        self._role = role

    def entry(self, id: str, description: str | None) -> str:
        """Return one line."""
        mark = "*" if id == self._highlight else "-"
        shown = _escape(id)
        if ":" in shown:  # else an id could hold another's, and a description for it
            shown = shown.replace(":", "&#58;")
        if description is None:
            return f"{mark} {shown}\n"
        return f"{mark} {shown}: {_escape(description)}\n"

    def section(self, entries: Sequence[str], note: str) -> str:
        """Return the role line where there is one, the header, the lines, the note."""
        role = ""
        if self._role is not None:
            quoted = self._role.replace("\\", "\\\\").replace('"', '\\"')
            role = f'Role: {self._role}. load_skill(name="{quoted}").\n'
        return f"{role}Skills:\n{''.join(entries)}{self.bare(note) if note else ''}"

    def bare(self, note: str) -> str:
        """Return the note as a line."""
        return f"{note}\n"


def _escape(text: str) -> str:
    if "&" in text:
        text = _REFERENCE.sub("&amp;", text)
    return text.replace("<", "&lt;") if "<" in text else text
