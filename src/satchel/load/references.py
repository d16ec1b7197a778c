"""Style ``references``: descriptors as JSON, files as text (A11 to A14, A24, X19)."""

from collections.abc import Iterable, Sequence

from satchel.errors import SkillError, SkillNotFoundError, echo
from satchel.load.folder import folder_notes
from satchel.load.options import DEFAULT_STYLE_OPTIONS, StyleOptions
from satchel.load.telling import error_result
from satchel.model import Catalog, Descriptor, Loaded
from satchel.text import clean_line, printable

__all__ = [
    "find_matches",
    "list_entries",
    "render_descriptor",
    "render_reference_error",
]


def render_descriptor(
    loaded: Loaded,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    notes: Sequence[str] = (),
) -> dict[str, object]:
    """Return what is known of a skill: its instructions and the files to ask for.

    ``references`` are all listed paths; each is an argument for ``reference``.
    ``tools`` names the tools that belong to the skill.
    ``notes``, a further key, is there only where there are some.
    """
    result: dict[str, object] = {
        "name": loaded.id,
        "instructions": loaded.body,
        "tools": _shown(loaded.descriptor.tools),
        "references": _shown(loaded.descriptor.resources),
    }
    said = (*loaded.notes, *folder_notes(loaded, options, "references"), *notes)
    if said:
        result["notes"] = _shown(said)
    return result


def render_reference_error(
    error: SkillError, skill_name: str, advice: str | None = None
) -> dict[str, object]:
    """Return the result for an error; an unknown skill has the contract's own form.

    ``advice`` is a further sentence: in the message, or in ``advice``.
    """
    if not isinstance(error, SkillNotFoundError):
        return error_result(error, advice)
    result: dict[str, object] = {
        "error": "unknown_skill",
        "skill_name": echo(skill_name),
    }
    if advice:
        result["advice"] = advice
    return result


def list_entries(catalog: Catalog) -> dict[str, object]:
    """Return every listed skill: description, category and reference paths."""
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
    return {"query": echo(query), "matches": matches}


def _entry(entry: Descriptor) -> dict[str, object]:
    return {
        "name": entry.id,
        "description": clean_line(entry.description),
        "category": entry.category,
        "references": _shown(entry.resources),
    }


def _shown(names: Iterable[str]) -> list[str]:
    return [printable(name, keep="") for name in names]


def _haystack(entry: Descriptor) -> str:
    return "\n".join((entry.id, entry.description, *entry.resources))
