"""Style `packs`: one dict of seven keys for every ``load_skill``."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Final, cast

from satchel.errors import DeniedError, SkillError, echo
from satchel.load._agent_skills import (
    DEFAULT_STYLE_OPTIONS,
    StyleOptions,
    folder_notes,
    place_in_folder,
)
from satchel.load._tool_backend import (
    ToolBackend,
    load_tool,
    one_call_event,
    string_parameters,
)
from satchel.load._wording import INTERNAL_ERROR, LOAD_BY_NAME, NO_TEXT, model_message
from satchel.model import SKILL_FILE, Bucket, Descriptor, Loaded, Request
from satchel.text import printable
from satchel.tools import Run, Tool

_REFERENCES: Final = "references"
_SCRIPTS: Final = "scripts"


def packs_tool(backend: ToolBackend, options: StyleOptions) -> Tool:

    def load_skill(
        run: Run, name: str, reference: str | None = None, script: str | None = None
    ) -> dict[str, object]:
        return packs_result(backend, name, reference, script, options=options, run=run)

    parameters = string_parameters(["name"], ["reference", "script"])
    return load_tool("load_skill", LOAD_BY_NAME, parameters, load_skill, backend)


def packs_result(  # noqa: PLR0913 - the tool's three parameters, and what it calls
    backend: ToolBackend,
    name: str,
    reference: str | None = None,
    script: str | None = None,
    *,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    run: Run | None = None,
) -> dict[str, object]:
    """Return a skill's body, or the text of the files asked for. Never raises.

    The seven keys are always there; ``body`` is empty where a file was asked for,
    unless ``options.always_body``. Notes come as an eighth key, and only where there
    are some.
    """
    catalog, run = backend.catalog, run or Run()
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
    excluded = catalog.exclusion_of(name)
    entry = excluded.descriptor if descriptor is None and excluded else descriptor
    requested = tuple(_requested_files(entry, reference, script, options))
    files = [file for _, file in requested]
    # A reference and a script in one call are one use of the skill, and so one event.
    with one_call_event(files) if len(files) > 1 else nullcontext():
        for key, file in requested:
            try:
                loaded = backend.load_for(Request(name, file, via="tool"), run)
            except SkillError as error:
                result["error"] = model_message(error)
                advice = backend.advice(error)
                notes |= {advice: None} if advice else {}
                if isinstance(error, DeniedError):  # so are the names of its files
                    result["available_references"] = result["available_scripts"] = []
                break
            except Exception as error:  # noqa: BLE001 - a tool never raises
                result["error"] = INTERNAL_ERROR.format(type(error).__name__)
                break
            if descriptor is not loaded.descriptor:  # not listed, or edited since
                descriptor = loaded.descriptor
                result["available_references"] = _names(descriptor, _REFERENCES)
                result["available_scripts"] = _names(descriptor, _SCRIPTS)
            if loaded.is_binary:
                shown, size = printable(loaded.file, keep=""), len(loaded.data)
                result["error"] = NO_TEXT.format(shown, size, loaded.media_type)
                break
            result[key], more = _loaded_text(loaded, key, options, backend)
            notes |= dict.fromkeys(more)
    if notes:
        result["notes"] = [printable(note, keep="") for note in notes]
    return result


def _requested_files(
    entry: Descriptor | None,
    reference: str | None,
    script: str | None,
    options: StyleOptions,
) -> Iterator[tuple[str, str | None]]:
    if options.always_body or (reference is None and script is None):
        yield "body", None
    if reference is not None:
        yield "reference_content", _path(entry, _REFERENCES, reference)
    if script is not None:
        yield "script_content", _path(entry, _SCRIPTS, script)


def _loaded_text(
    loaded: Loaded, key: str, options: StyleOptions, backend: ToolBackend
) -> tuple[str, tuple[str, ...]]:
    """Return what was loaded as the text of ``key``, and its notes."""
    if loaded.file == SKILL_FILE:
        loaded, options = place_in_folder(loaded, options, backend.folder(loaded))
    note = backend.unchanged(loaded)
    if note is not None:
        return "", (note, *backend.notes(loaded))
    text = loaded.body if key == "body" else loaded.text
    notes = (*loaded.notes, *folder_notes(loaded, options, "packs"))
    return text, (*notes, *backend.notes(loaded))


def _names(descriptor: Descriptor | None, bucket: Bucket) -> list[str]:
    if descriptor is None:
        return []
    paths = descriptor.references if bucket == _REFERENCES else descriptor.scripts
    return [printable(path.removeprefix(f"{bucket}/"), keep="") for path in paths]


def _path(entry: Descriptor | None, bucket: Bucket, file: str) -> str:
    """Return the path inside its own bucket, where that one is listed."""
    if not isinstance(cast("object", file), str):
        return file  # a model may send anything; `resolve` refuses it
    path = f"{bucket}/{file}"
    listed = entry.resources if entry is not None else ()
    if file in listed or file == SKILL_FILE:
        return file
    # A name that nothing listed has is of that bucket, too: it was asked for as such.
    is_name = bool(file) and "/" not in file
    is_suffix = any(other.endswith(f"/{file}") for other in listed)
    return path if path in listed or (is_name and not is_suffix) else file
