"""``<available_skills>`` as the public client guide lays it out."""

from collections.abc import Mapping, Sequence

from satchel.text import clean_line, escape_xml

__all__ = ["XmlSpec"]


class XmlSpec:
    """Name, description and, where it is known, the location of each SKILL.md.

    Source: agentskills.io, client implementation, "Disclose" (2026-08-09); quotes are
    escaped as its reference library does.
    """

    def __init__(self, locations: Mapping[str, str]) -> None:
        """Take the absolute path of the SKILL.md of each id that is to have one."""
        self._locations = {
            clean_line(id): clean_line(path) for id, path in locations.items()
        }

    def entry(self, id: str, description: str | None) -> str:
        """Return one ``<skill>`` element."""
        text = f"  <skill>\n    <name>{escape_xml(id, quotes=True)}</name>\n"
        if description is not None:
            shown = escape_xml(description, quotes=True)
            text += f"    <description>{shown}</description>\n"
        if location := self._locations.get(id):
            path = escape_xml(location, quotes=True)
            text += f"    <location>{path}</location>\n"
        return f"{text}  </skill>\n"

    def section(self, entries: Sequence[str], note: str) -> str:
        """Return the element, without a line feed at its end."""
        tail = f"</available_skills>\n{note}" if note else "</available_skills>"
        return "".join(("<available_skills>\n", *entries, tail))

    def bare(self, note: str) -> str:
        """Return the note alone."""
        return note
