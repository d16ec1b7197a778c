"""The ``## Agent Skills`` section: ids in XML, under the two steps to take."""

from collections.abc import Sequence
from typing import Final

from satchel.model import Style
from satchel.text import escape_xml

__all__ = ["XmlId"]

# Each style's own load tool, in the words of the contract (D04).
_LOAD_TOOL: Final[dict[Style, str]] = {
    "agent-skills": "load_skill with skill id",
    "packs": "load_skill with name",
    "references": "load_skill_instructions with skill name",
}
_HEAD: Final = """\
## Agent Skills
You have access to a library of agent skills. Find skill by:
1. Review the <available_skills> list below.
2. If the user's request matches a skill's purpose, use the {} tool
   to fetch the full instructions.

<available_skills>
"""
_TAIL: Final = "</available_skills>"


class XmlId:
    """Requirement D04, byte for byte; a note stands on one line behind the list."""

    def __init__(self, style: Style) -> None:
        """Take the style whose load tool the text names."""
        self._head = _HEAD.format(_LOAD_TOOL[style])

    def entry(self, id: str, description: str | None) -> str:
        """Return one ``<skill>`` element."""
        if description is None:
            return f"  <skill>\n    <id>{escape_xml(id)}</id>\n  </skill>\n"
        return (
            f"  <skill>\n    <id>{escape_xml(id)}</id>\n"
            f"    <description>{escape_xml(description)}</description>\n  </skill>\n"
        )

    def section(self, entries: Sequence[str], note: str) -> str:
        """Return the section, without a line feed at its end."""
        tail = f"{_TAIL}\n{note}" if note else _TAIL
        return "".join((self._head, *entries, tail))

    def bare(self, note: str) -> str:
        """Return the note alone."""
        return note
