"""Styles `packs` and `references`: results as JSON objects."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Final, cast

from satchel.errors import DeniedError, SkillError, SkillNotFoundError, echo
from satchel.load._tool_call import NO_HOOKS, ResultHooks, one_call_event
from satchel.load._wording import (
    DEFAULT_STYLE_OPTIONS,
    StyleOptions,
    error_result,
    folder_notes,
    model_message,
)
from satchel.model import SKILL_FILE, Bucket, Catalog, Descriptor, Loaded, Request
from satchel.text import clean_line, printable

_REFERENCES: Final = "references"
_SCRIPTS: Final = "scripts"


def packs_result(  # noqa: PLR0913 - the tool's three parameters, and what it stands on
    load: Callable[[Request], Loaded],
    catalog: Catalog,
    name: str,
    reference: str | None = None,
    script: str | None = None,
    *,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    hooks: ResultHooks = NO_HOOKS,
) -> dict[str, object]:
    """Return a skill's body, or the text of the files asked for. Never raises.

    The seven keys are always there; ``body`` is empty where a file was asked for,
    unless ``options.always_body``. A script is read, never run. Notes come as an
    eighth key, and only where there are some. The lists name files as ``reference``
    and ``script`` take them.
    """
    descriptor = catalog.get(name)
    result: dict[str, object] = {
        "name": echo(name),
        "body": "",
        "available_references": _names(descriptor, _REFERENCES),
        "available_scripts": _names(descriptor, _SCRIPTS),
        "reference_content": None,
        "script_content": None,
        "error": None,
    }
    notes: dict[str, None] = {}
    held = catalog.exclusion_of(name)
    entry = held.descriptor if descriptor is None and held is not None else descriptor
    wishes = tuple(_requested_files(entry, reference, script, options))
    files = [file for _, file in wishes]
    with one_call_event(files) if len(files) > 1 else nullcontext():
        for key, file in wishes:
            try:
                loaded = load(Request(name, file, via="tool"))
            except SkillError as error:
                result["error"] = model_message(error)
                advice = hooks.misses(error)
                notes |= {advice: None} if advice else {}
                if isinstance(error, DeniedError):  # so are the names of its files
                    result["available_references"] = result["available_scripts"] = []
                break
            except Exception as error:  # noqa: BLE001 - the tool's boundary (C32, R33)
                result["error"] = f"internal error: {type(error).__name__}"
                break
            if descriptor is not loaded.descriptor:  # not listed, or edited since
                descriptor = loaded.descriptor
                result["available_references"] = _names(descriptor, _REFERENCES)
                result["available_scripts"] = _names(descriptor, _SCRIPTS)
            if loaded.is_binary:
                size = f"{len(loaded.data):,} bytes of {loaded.media_type}"
                shown = printable(loaded.file, keep="")
                result["error"] = f"{shown!r} is no text: {size}"
                break
            result[key], said = _loaded_text(loaded, key, options, hooks)
            notes |= dict.fromkeys(said)
    if notes:
        result["notes"] = [printable(note, keep="") for note in notes]
    return result


def _requested_files(
    entry: Descriptor | None,
    reference: str | None,
    script: str | None,
    options: StyleOptions,
) -> Iterator[tuple[str, str | None]]:
    """Yield the key of the result and the file that it is for."""
    if options.always_body or (reference is None and script is None):
        yield "body", None
    if reference is not None:
        yield "reference_content", _path(entry, _REFERENCES, reference)
    if script is not None:
        yield "script_content", _path(entry, _SCRIPTS, script)


def _loaded_text(
    loaded: Loaded, key: str, options: StyleOptions, hooks: ResultHooks
) -> tuple[str, tuple[str, ...]]:
    """Return what was loaded as the text of ``key``, and its notes."""
    loaded, options = hooks.placed(loaded, options)
    note = hooks.instead(loaded)
    if note is not None:
        return "", (note, *hooks.notes(loaded))
    text = loaded.body if key == "body" else loaded.text
    notes = (*loaded.notes, *folder_notes(loaded, options, "packs"))
    return text, (*notes, *hooks.notes(loaded))


def _names(descriptor: Descriptor | None, bucket: Bucket) -> list[str]:
    if descriptor is None:
        return []
    paths = descriptor.references if bucket == _REFERENCES else descriptor.scripts
    return [printable(path.removeprefix(f"{bucket}/"), keep="") for path in paths]


def _path(entry: Descriptor | None, bucket: Bucket, file: str) -> str:
    """Return the path inside its own bucket, where that one is listed (R14).

    A name that nothing listed bears is of that bucket, too: it was asked for as such.
    """
    if not isinstance(cast("object", file), str):
        return file
    path = f"{bucket}/{file}"
    listed = entry.resources if entry is not None else ()
    if file in listed or file == SKILL_FILE:
        return file
    ends = any(each.endswith(f"/{file}") for each in listed)
    is_name = bool(file) and "/" not in file
    return path if path in listed or (is_name and not ends) else file


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
