"""Style `references`: descriptors as JSON, files as text."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from satchel.errors import SkillError, SkillNotFoundError, echo
from satchel.load import _wording as wording
from satchel.load._agent_skills import (
    DEFAULT_STYLE_OPTIONS,
    StyleOptions,
    folder_notes,
    place_in_folder,
)
from satchel.load._tool_backend import ToolBackend, load_tool, string_parameters
from satchel.model import SKILL_FILE, Catalog, Descriptor, Loaded, Request
from satchel.text import clean_line, printable
from satchel.tools import Run, Tool


def references_tools(backend: ToolBackend, options: StyleOptions) -> tuple[Tool, ...]:

    def list_skills() -> dict[str, object]:
        return list_entries(backend.catalog)

    def search_skills(query: str) -> dict[str, object]:
        return find_matches(backend.catalog, query)

    def load_skill_instructions(
        run: Run, skill_name: str, reference: str | None = None
    ) -> object:
        try:
            loaded = backend.load_for(Request(skill_name, reference, via="tool"), run)
        except SkillError as error:
            return render_reference_error(error, skill_name, backend.advice(error))
        shown = options
        if loaded.file == SKILL_FILE:
            loaded, shown = place_in_folder(loaded, options, backend.folder(loaded))
        note = backend.unchanged(loaded)
        if reference is not None:
            # A mere text would not tell that it comes from another machine.
            is_far = bool(loaded.descriptor.remote)
            is_plain = note is None and not loaded.is_binary and not is_far
            return loaded.text if is_plain else file_result(loaded, note, backend)
        if note is not None:
            bare = replace(loaded, body="", notes=())
            return render_descriptor(bare, notes=(note, *backend.notes(loaded)))
        return render_descriptor(loaded, shown, backend.notes(loaded))

    query = string_parameters(["query"])
    parameters = string_parameters(
        ["skill_name"], ["reference"], reference=wording.PARAMETERS["skill_reference"]
    )
    return (
        Tool("list_skills", wording.LIST_SKILLS, string_parameters(), list_skills),
        Tool("search_skills", wording.SEARCH_SKILLS, query, search_skills),
        load_tool(
            "load_skill_instructions",
            wording.LOAD_INSTRUCTIONS,
            parameters,
            load_skill_instructions,
            backend,
        ),
    )


def file_result(
    loaded: Loaded, note: str | None, backend: ToolBackend
) -> dict[str, object]:
    """Return one file; of a binary one its kind and size, for no model reads it.

    ``note`` is what takes the place of a file that the model can see anyway.
    """
    notes = [*loaded.notes]
    result: dict[str, object] = {
        "path": printable(loaded.file, keep=""),
        "media_type": loaded.media_type,
    }
    if note is not None:
        result["content"] = ""
        notes = [note]
    elif loaded.is_binary:
        result |= {"content": None, "size_bytes": len(loaded.data)}
    else:
        result["content"] = loaded.text
    notes += backend.notes(loaded)
    if notes:
        result["notes"] = _printable(notes)
    return result


def render_descriptor(
    loaded: Loaded,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    notes: Sequence[str] = (),
) -> dict[str, object]:
    """Return what is known of a skill: its instructions and the files to ask for.

    ``notes``, a further key, is there only where there are some.
    """
    result: dict[str, object] = {
        "name": loaded.id,
        "instructions": loaded.body,
        "tools": _printable(loaded.descriptor.tools),
        "references": _printable(loaded.descriptor.resources),
    }
    notes = (*loaded.notes, *folder_notes(loaded, options, "references"), *notes)
    if notes:
        result["notes"] = _printable(notes)
    return result


def render_reference_error(
    error: SkillError, skill_name: str, advice: str | None = None
) -> dict[str, object]:
    """Return the result for an error; an unknown skill has the contract's own form."""
    if not isinstance(error, SkillNotFoundError):
        return wording.error_result(error, advice)
    result: dict[str, object] = {
        "error": "unknown_skill",
        "skill_name": echo(skill_name),
    }
    if advice:
        result["advice"] = advice
    return result


def list_entries(catalog: Catalog) -> dict[str, object]:
    return {"skills": [_entry(entry) for entry in catalog.entries]}


def find_matches(catalog: Catalog, query: str) -> dict[str, object]:
    """Return the skills whose name, description or paths hold ``query``, by id."""
    folded = query.casefold()
    matches = [
        _entry(entry)
        for entry in catalog.entries
        if folded
        in "\n".join((entry.id, entry.description, *entry.resources)).casefold()
    ]
    return {"query": echo(query), "matches": matches}


def _entry(entry: Descriptor) -> dict[str, object]:
    return {
        "name": entry.id,
        "description": clean_line(entry.description),
        "category": entry.category,
        "references": _printable(entry.resources),
    }


def _printable(texts: Iterable[str]) -> list[str]:
    return [printable(text, keep="") for text in texts]
