"""The other formats of a catalog section: XML in two forms, Markdown, JSON."""

from collections.abc import Mapping, Sequence
from typing import Final

from satchel.model import LOAD_TOOLS, Style
from satchel.prompt._formats import LIST, TAIL, Layout
from satchel.text import clean_line, escape_xml, list_line

_HEAD: Final = """\
## Agent Skills
You have access to a library of agent skills. Find skill by:
1. Review the <available_skills> list below.
2. If the user's request matches a skill's purpose, use the {} with {} tool
   to fetch the full instructions.

<available_skills>
"""


class XmlId(Layout):
    """The section of the style, byte for byte; a note is one line behind the list."""

    def __init__(self, style: Style) -> None:
        tool, parameter = LOAD_TOOLS[style]
        self._head = _HEAD.format(tool, parameter.replace("_", " "))

    def entry(self, id: str, description: str | None) -> str:
        text = f"  <skill>\n    <id>{escape_xml(id)}</id>\n"
        if description is not None:
            text += f"    <description>{escape_xml(description)}</description>\n"
        return f"{text}  </skill>\n"

    def section(self, entries: Sequence[str], note: str) -> str:
        tail = f"{TAIL}\n{note}" if note else TAIL
        return "".join((self._head, *entries, tail))


class XmlSpec(Layout):
    """Name, description and, if it is given, the location of each SKILL.md.

    Source: agentskills.io, client implementation, "Disclose" (2026-08-09); quotes are
    escaped as its reference library does.
    """

    def __init__(self, locations: Mapping[str, str]) -> None:
        # Cleaned like the ids that look them up: a folder's name may hide characters.
        self._locations = {
            clean_line(id): clean_line(path) for id, path in locations.items()
        }

    def entry(self, id: str, description: str | None) -> str:
        text = f"  <skill>\n    <name>{escape_xml(id, quotes=True)}</name>\n"
        if description is not None:
            shown = escape_xml(description, quotes=True)
            text += f"    <description>{shown}</description>\n"
        if location := self._locations.get(id):
            path = escape_xml(location, quotes=True)
            text += f"    <location>{path}</location>\n"
        return f"{text}  </skill>\n"

    def section(self, entries: Sequence[str], note: str) -> str:
        tail = f"{TAIL}\n{note}" if note else TAIL
        return "".join((LIST, *entries, tail))


class Markdown(Layout):
    """The index of the style ``packs``, byte for byte; a line feed ends each line."""

    def __init__(self, highlight: str | None = None, role: str | None = None) -> None:
        self._highlight = highlight
        self._role = role

    def entry(self, id: str, description: str | None) -> str:
        return list_line(id, description, "*" if id == self._highlight else "-")

    def section(self, entries: Sequence[str], note: str) -> str:
        role = ""
        if self._role is not None:
            quoted = self._role.replace("\\", "\\\\").replace('"', '\\"')
            role = f'Role: {self._role}. load_skill(name="{quoted}").\n'
        return f"{role}Skills:\n{''.join(entries)}{self.bare(note) if note else ''}"

    def bare(self, note: str) -> str:
        return f"{note}\n"


_SCHEMA_VERSION: Final = 1


class JsonList(Layout):
    """``{"schema_version", "skills": [{"id", "description"}], "note"}``.

    ``<`` is written as an escape, so that the text is safe inside markup. A
    description that was left out, and an empty note, have no key.
    """

    def entry(self, id: str, description: str | None) -> str:
        if description is None:
            return f'{{"id": {_quote(id)}}}'
        return f'{{"id": {_quote(id)}, "description": {_quote(description)}}}'

    def section(self, entries: Sequence[str], note: str) -> str:
        skills = ",\n  ".join(entries)
        skills = f"[\n  {skills}\n]" if entries else "[]"
        tail = f', "note": {_quote(note)}' if note else ""
        return f'{{"schema_version": {_SCHEMA_VERSION}, "skills": {skills}{tail}}}'

    def bare(self, note: str) -> str:
        return self.section((), note)


def _quote(text: str) -> str:
    """Return clean text as a JSON string; it holds no control character to escape."""
    # Looking first is several times faster than replacing nothing.
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    if '"' in text:
        text = text.replace('"', '\\"')
    if "<" in text:
        text = text.replace("<", "\\u003c")
    return f'"{text}"'
