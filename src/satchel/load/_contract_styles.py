"""The styles that other systems know: `agent-skills`, `packs` and `references`.

`agent-skills` gives a skill in its `<skill_context>` envelope, `packs` one dict of
seven keys for every ``load_skill``, `references` descriptors as JSON and files as text.
"""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Final, cast

from satchel.errors import DeniedError, SkillError, SkillNotFoundError, ToolError, echo
from satchel.load import _wording as wording
from satchel.load._error_wording import (
    error_result,
    escaped,
    load_error,
    model_message,
    words_of_no,
)
from satchel.load._tool_backend import (
    DEFAULT_STYLE_OPTIONS,
    MAX_LISTED,
    StyleOptions,
    ToolBackend,
    folder_notes,
    load_tool,
    one_call_event,
    place_in_folder,
    string_parameters,
)
from satchel.model import SKILL_FILE, Catalog, Descriptor, Loaded, Request, Style
from satchel.text import clean_line, escape_xml, printable
from satchel.tools import Run, Tool


def contract_tools(
    style: Style, backend: ToolBackend, options: StyleOptions
) -> tuple[Tool, ...]:
    """Return the tools of one of these styles, without the one that finds skills."""
    if style == "references":
        return _references_tools(backend, options)
    if style == "packs":
        return _packs_tool(backend, options), _read_tool(backend, "name", rest=True)
    return _agent_skills_tool(backend, options), _read_tool(backend, "skill_id")


def _read_tool(backend: ToolBackend, key: str, *, rest: bool = False) -> Tool:
    """Return the tool that reads a file; ``rest`` leaves load_skill its own files."""

    def read_skill_file(run: Run, path: str, **named: str) -> dict[str, object]:
        request = Request(named[key], path, via="tool")
        try:
            loaded = (
                _load_rest(backend, request, run)
                if rest
                else backend.load_for(request, run)
            )
        except SkillError as error:
            return error_result(error, backend.advice(error))
        note = backend.unchanged(loaded)
        return {key: loaded.id, **file_result(loaded, note, backend)}

    return load_tool(
        "read_skill_file",
        wording.READ_OTHER_FILE if rest else wording.READ_ANY_FILE,
        string_parameters([key, "path"], **{key: wording.PARAMETERS["read"]}),
        read_skill_file,
        backend,
    )


def _load_rest(backend: ToolBackend, request: Request, run: Run) -> Loaded:
    """Load a file that the parameters of the style's ``load_skill`` do not give."""
    # Loaded first, for only that resolves a short name; the event says that the call
    # was refused.
    with one_call_event() as event:
        loaded = backend.load_for(request, run)
        for parameter, paths in (
            ("reference", loaded.descriptor.references),
            ("script", loaded.descriptor.scripts),
        ):
            if loaded.file in paths:
                detail = wording.WRONG_READER.format(
                    printable(loaded.file, keep=""), parameter
                )
                event.refusal = ToolError("read_skill_file", detail)
    if event.refusal is not None:
        raise event.refusal
    return loaded


# --- agent-skills ---------------------------------------------------------------------


def _agent_skills_tool(backend: ToolBackend, options: StyleOptions) -> Tool:

    def load_skill(run: Run, skill_id: str) -> str:
        try:
            loaded = backend.load_for(Request(skill_id, via="tool"), run)
        except SkillError as error:
            return render_context_error(error, skill_id, backend.advice(error))
        # The folder comes first: what the model can see already has it filled in.
        loaded, shown = place_in_folder(loaded, options, backend.folder(loaded))
        note = backend.unchanged(loaded)
        if note is not None:
            return render_context_note(loaded.id, note, *backend.notes(loaded))
        return render_context(loaded, shown, backend.notes(loaded))

    parameters = string_parameters(["skill_id"])
    return load_tool("load_skill", wording.LOAD_BY_ID, parameters, load_skill, backend)


def render_context(
    loaded: Loaded,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    notes: Sequence[str] = (),
    *,
    style: Style = "agent-skills",
) -> str:
    """Return a loaded SKILL.md in the envelope, byte-stable, no line feed at its end.

    The text is in it as it is, unless ``options.escape`` says otherwise; one line
    feed is added where it ends in none. Notes, those of the load before the further
    ones, are outside ``<instructions>``. ``style`` is that of the tools with which the
    reader gets the files.
    """
    descriptor = loaded.descriptor
    id = escaped(descriptor.id)
    text = loaded.text if options.content == "file" else loaded.body
    # Raw by default, as the contract has it; a text that would leave its envelope has a
    # note of the load.
    if options.escape == "entities":
        text = escape_xml(text)
    elif options.escape == "cdata":
        # A section cannot hold its own end, so that end is cut in two sections.
        text = f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"
    end = "" if text.endswith("\n") else "\n"
    resources = ""
    all_notes = (*loaded.notes, *notes)
    if options.envelope == "extended":
        resources = _resources(descriptor, show_root=options.show_root)
        all_notes = (*loaded.notes, *folder_notes(loaded, options, style), *notes)
    lines = "".join(f"    {escaped(note)}\n" for note in all_notes)
    noted = f"\n  <notes>\n{lines}  </notes>\n" if lines else ""
    return (
        f'<skill_context id="{id}">\n  <instructions>\n{text}{end}  </instructions>\n\n'
        f"{resources}{wording.DIRECTIVE.format(id)}{noted}</skill_context>"
    )


def render_context_note(skill_id: str, *notes: str) -> str:
    lines = "".join(f"  <note>{escaped(note)}</note>\n" for note in notes)
    return f'<skill_context id="{escaped(skill_id)}">\n{lines}</skill_context>'


def render_context_error(
    error: SkillError, skill_id: str, advice: str | None = None
) -> str:
    """Return the envelope that says why ``skill_id`` was not loaded."""
    id = escaped(echo(skill_id))
    lines = (words_of_no(error), advice or "")
    more = "".join(f"\n{escaped(line)}" for line in lines if line)
    return (
        f'<skill_context id="{id}">\n  <error>\n    {load_error(error, id)}\n'
        f"  </error>\n</skill_context>{more}"
    )


def _resources(descriptor: Descriptor, *, show_root: bool) -> str:
    """Return the names of the pack's files, to be read one by one; or nothing."""
    kinds = (
        ("reference", descriptor.references),
        ("script", descriptor.scripts),
        ("asset", descriptor.assets),
        ("file", descriptor.others),
    )
    named = [(kind, path) for kind, paths in kinds for path in paths]
    if not named:
        return ""
    lines = [
        f"    <{kind}>{escaped(path)}</{kind}>\n" for kind, path in named[:MAX_LISTED]
    ]
    if show_root:
        root = escaped(descriptor.origin.location)
        lines.insert(0, f"    <skill_root>{root}</skill_root>\n")
    if len(named) > MAX_LISTED:
        lines.append(f'    <more files="{len(named) - MAX_LISTED}"/>\n')
    return f"  <active_resources>\n{''.join(lines)}  </active_resources>\n\n"


# --- packs ----------------------------------------------------------------------------

_REFERENCES: Final = "references"
_SCRIPTS: Final = "scripts"


def _packs_tool(backend: ToolBackend, options: StyleOptions) -> Tool:

    def load_skill(
        run: Run, name: str, reference: str | None = None, script: str | None = None
    ) -> dict[str, object]:
        return packs_result(backend, name, reference, script, options=options, run=run)

    parameters = string_parameters(["name"], ["reference", "script"])
    return load_tool(
        "load_skill", wording.LOAD_BY_NAME, parameters, load_skill, backend
    )


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
        **_available(descriptor),
        "reference_content": None,
        "script_content": None,
        "error": None,
    }
    notes: dict[str, None] = {}
    excluded = catalog.exclusion_of(name)
    entry = excluded.descriptor if descriptor is None and excluded else descriptor
    requested = {
        key: _path_in(entry, bucket, file)
        for key, bucket, file in (
            ("reference_content", _REFERENCES, reference),
            ("script_content", _SCRIPTS, script),
        )
        if file is not None
    }
    if options.always_body or not requested:
        requested = {"body": None, **requested}
    files = [*requested.values()]
    # A reference and a script in one call are one use of the skill, and so one event.
    with one_call_event(files) if len(files) > 1 else nullcontext():
        for key, file in requested.items():
            try:
                loaded = backend.load_for(Request(name, file, via="tool"), run)
            except SkillError as error:
                result["error"] = model_message(error)
                advice = backend.advice(error)
                notes |= {advice: None} if advice else {}
                if isinstance(error, DeniedError):  # so are the names of its files
                    result |= _available(None)
                break
            except Exception as error:  # noqa: BLE001 - a tool never raises
                result["error"] = wording.INTERNAL_ERROR.format(type(error).__name__)
                break
            # It may not be listed, or was edited since.
            result |= _available(loaded.descriptor)
            if loaded.is_binary:
                shown, size = printable(loaded.file, keep=""), len(loaded.data)
                result["error"] = wording.NO_TEXT.format(shown, size, loaded.media_type)
                break
            result[key], more = _loaded_text(loaded, key, options, backend)
            notes |= dict.fromkeys(more)
    if notes:
        result["notes"] = _printable(notes)
    return result


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


def _available(entry: Descriptor | None) -> dict[str, object]:
    """Return what may be asked for, by the names that ``load_skill`` takes."""
    return {
        f"available_{bucket}": [
            printable(path.removeprefix(f"{bucket}/"), keep="")
            for path in (getattr(entry, bucket) if entry is not None else ())
        ]
        for bucket in (_REFERENCES, _SCRIPTS)
    }


def _path_in(entry: Descriptor | None, bucket: str, file: str) -> str | None:
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


# --- references -----------------------------------------------------------------------


def _references_tools(backend: ToolBackend, options: StyleOptions) -> tuple[Tool, ...]:

    def search_skills(query: str) -> dict[str, object]:
        return find_matches(backend.catalog, query)

    def load_skill_instructions(
        run: Run, skill_name: str, reference: str | None = None
    ) -> object:
        try:
            loaded = backend.load_for(Request(skill_name, reference, via="tool"), run)
        except SkillError as error:
            advice = backend.advice(error)
            if not isinstance(error, SkillNotFoundError):
                return error_result(error, advice)
            more = {"advice": advice} if advice else {}
            return {"error": "unknown_skill", "skill_name": echo(skill_name), **more}
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

    none, query = string_parameters(), string_parameters(["query"])
    parameters = string_parameters(
        ["skill_name"], ["reference"], reference=wording.PARAMETERS["skill_reference"]
    )
    return (
        Tool(
            "list_skills",
            wording.LIST_SKILLS,
            none,
            lambda: list_entries(backend.catalog),
        ),
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
