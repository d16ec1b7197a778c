"""Style ``references``: descriptors as JSON, files as text (A11 to A14, A24, X19)."""

from satchel.errors import SkillError, SkillNotFoundError
from satchel.load.telling import error_result
from satchel.model import Catalog, Descriptor, Loaded
from satchel.text import clean_line

__all__ = [
    "find_matches",
    "list_entries",
    "render_descriptor",
    "render_reference_error",
]


def render_descriptor(loaded: Loaded) -> dict[str, object]:
    """Return what is known of a skill: its instructions and the files to ask for.

    ``references`` are all listed paths; each is an argument for ``reference``.
    """
    result: dict[str, object] = {
        "name": loaded.id,
        "instructions": loaded.body,
        "tools": [],
        "references": list(loaded.descriptor.resources),
    }
    if loaded.notes:
        result["notes"] = list(loaded.notes)
    return result


def render_reference_error(error: SkillError, skill_name: str) -> dict[str, object]:
    """Return the result for an error; an unknown skill has the contract's own form."""
    if isinstance(error, SkillNotFoundError):
        return {"error": "unknown_skill", "skill_name": skill_name}
    return error_result(error)


def list_entries(catalog: Catalog) -> dict[str, object]:
    """Return every listed skill with its description and reference paths."""
    return {"skills": [_entry(entry) for entry in catalog.entries]}


def find_matches(catalog: Catalog, query: str) -> dict[str, object]:
    """Return the skills whose name, description or paths hold ``query``, by id.

    Upper and lower case are the same; an empty query matches every skill.
    """
    wanted = query.casefold()
    matches = [
        _entry(entry)
        for entry in catalog.entries
        if wanted in _haystack(entry).casefold()
    ]
    return {"query": query, "matches": matches}


def _entry(entry: Descriptor) -> dict[str, object]:
    return {
        "name": entry.id,
        "description": clean_line(entry.description),
        "references": list(entry.resources),
    }


def _haystack(entry: Descriptor) -> str:
    return "\n".join((entry.id, entry.description, *entry.resources))
