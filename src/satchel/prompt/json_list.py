"""The catalog as JSON, for programs; one skill a line."""

from collections.abc import Sequence
from typing import Final

__all__ = ["JsonList"]

_SCHEMA_VERSION: Final = 1


class JsonList:
    """``{"schema_version", "skills": [{"id", "description"}], "note"}``.

    ``<`` is written as an escape, so that the text is safe inside markup. A
    description that was left out, and an empty note, have no key.
    """

    def entry(self, id: str, description: str | None) -> str:
        """Return one object."""
        if description is None:
            return f'{{"id": {_quote(id)}}}'
        return f'{{"id": {_quote(id)}, "description": {_quote(description)}}}'

    def section(self, entries: Sequence[str], note: str) -> str:
        """Return the document, without a line feed at its end."""
        skills = ",\n  ".join(entries)
        skills = f"[\n  {skills}\n]" if entries else "[]"
        tail = f', "note": {_quote(note)}' if note else ""
        return f'{{"schema_version": {_SCHEMA_VERSION}, "skills": {skills}{tail}}}'

    def bare(self, note: str) -> str:
        """Return a document without skills."""
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
