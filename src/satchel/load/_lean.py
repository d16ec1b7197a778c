"""Style `lean`: lines of Satchel's own, an empty line, and the text as it is.

What Satchel says comes first, on lines without a line break of a pack's, so no text of
a pack can forge it. A result without a text is these lines alone. In a prompt, where
other texts follow, the same is in an element.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from typing import Final

from satchel.errors import SkillError, SkillNotFoundError, echo
from satchel.load._agent_skills import (
    MAX_LISTED,
    StyleOptions,
    place_in_folder,
    render_context,
)
from satchel.load._tool_backend import ToolBackend, load_tool
from satchel.load._wording import (
    LEAN_BINARY,
    LEAN_LOAD,
    LEAN_READ,
    PATHS_IN_FOLDER,
    model_message,
)
from satchel.model import Descriptor, Json, Loaded, Request, Style
from satchel.text import escape_xml, printable
from satchel.tools import ErrorText, Run, Tool

_TEXT: Final[dict[str, Json]] = {"type": "string"}
# Models that know other systems call it so.
_ALIASES: Final = (("name", "skill_id"),)
# Any other path is quoted, so that none can be taken for two.
_PLAIN_PATH: Final = re.compile(r"[^\s,\"]+")
_BEGIN: Final = "<skill_context>\n"
# The elements of a prompt that a text in one could end, or open again.
_TAG: Final = re.compile(
    r"<(?=[^\w<>]*(?:skill_context|available_skills)\b)", re.IGNORECASE
)


def lean_tools(backend: ToolBackend, options: StyleOptions) -> tuple[Tool, ...]:

    def load_skill(run: Run, skill_id: str) -> str:
        try:
            loaded = backend.load(Request(skill_id, via="tool"), run)
        except SkillError as error:
            return render_lean_error(error, backend.advice(error))
        # The folder comes first: what the model can see already has it filled in.
        shown, root = options, backend.folder(loaded)
        if root is not None:
            loaded, shown = place_in_folder(loaded, options, root)
        note = backend.unchanged(loaded)
        if note is not None:
            return _lines(note, *backend.notes(loaded))
        return render_lean(loaded, shown, backend.notes(loaded))

    def read_skill_file(run: Run, skill_id: str, path: str) -> str:
        try:
            loaded = backend.load(Request(skill_id, path, via="tool"), run)
        except SkillError as error:
            return render_lean_error(error, backend.advice(error))
        note = backend.unchanged(loaded)
        if note is not None:
            return _lines(note, *backend.notes(loaded))
        return _render_file(loaded, backend.notes(loaded))

    return (
        _tool("load_skill", LEAN_LOAD, load_skill, backend, "skill_id"),
        _tool(
            "read_skill_file", LEAN_READ, read_skill_file, backend, "skill_id", "path"
        ),
    )


def render_lean(
    loaded: Loaded, options: StyleOptions, notes: Sequence[str] = ()
) -> str:
    """Return a loaded SKILL.md: its id, its files, notes, and the body."""
    lines = [f"Skill: {loaded.id}"]
    if files := _files(loaded.descriptor):
        lines.append(f"Files (read_skill_file): {files}")
    if options.root is not None:
        lines.append(PATHS_IN_FOLDER.format(options.root))
    body = loaded.body.strip("\n")
    lines += (*_own_notes(loaded), *map(_sentence, notes))
    return f"{_lines(*lines)}\n\n{body}"


def render_element(
    loaded: Loaded, options: StyleOptions, notes: Sequence[str] = (), *, style: Style
) -> str:
    """Return a loaded SKILL.md as a part of a prompt or of a user's message."""
    if style != "lean":
        return render_context(loaded, options, notes, style=style)
    first, _, rest = render_lean(loaded, options, notes).partition("\n")
    text = _TAG.sub("&lt;", rest)
    return f"{_BEGIN}{escape_xml(first)}\n{text}\n</skill_context>"


def _own_notes(loaded: Loaded) -> list[str]:
    # No text can leave its place in this style, so such a tag is nothing to warn of.
    breakouts = (f for f in loaded.findings if f.code == "envelope-breakout")
    needless = tuple(f"{finding.message}." for finding in breakouts)
    # The path of a file is in the first line. Lines of a SKILL.md count from its top,
    # which a body does not show.
    where = "" if loaded.is_instructions else f"{printable(loaded.file, keep='')}, "
    return [
        _sentence(note.removeprefix(where))
        for note in loaded.notes
        if not note.endswith(needless)
    ]


def _sentence(note: str) -> str:
    """Return a note as a sentence on its line; a path that it begins with stays."""
    if note.partition(" ")[0].isalpha():
        note = f"{note[0].upper()}{note[1:]}"
    return note if note.endswith((".", "!", "?")) else f"{note}."


def _files(descriptor: Descriptor) -> str:
    if not descriptor.model_invocable:  # its files are refused to a model, too
        return ""
    paths = (
        *descriptor.references,
        *descriptor.scripts,
        *descriptor.assets,
        *descriptor.others,
    )
    shown = map(_path, paths[:MAX_LISTED])
    more = len(paths) - MAX_LISTED
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _path(path: str) -> str:
    return path if _PLAIN_PATH.fullmatch(path) else json.dumps(path, ensure_ascii=False)


def _render_file(loaded: Loaded, notes: Sequence[str]) -> str:
    """Return one file; of a binary one its kind and size, for no model reads it."""
    # To read SKILL.md as a file is to load the skill, and begins like it.
    is_skill = loaded.is_instructions
    file = "" if is_skill else f"File: {_path(loaded.file)} of "
    lines = [f"{file or 'Skill: '}{loaded.id}", *_own_notes(loaded)]
    if loaded.is_binary:
        lines.append(LEAN_BINARY.format(len(loaded.data), loaded.media_type))
        return _lines(*lines, *notes)
    return f"{_lines(*lines, *notes)}\n\n{loaded.text}"


def render_lean_error(error: SkillError, advice: str | None = None) -> ErrorText:
    """Return why nothing was loaded, and an advice on a line of its own."""
    if isinstance(error, SkillNotFoundError):
        message = f"skill {echo(error.name)!r} was not found"
    else:
        message = model_message(error).rstrip(".")
    lines = [f"Error: {message}."] + ([advice] if advice else [])
    return ErrorText(_lines(*lines))


def skill_of(text: str, *, in_element: bool = False) -> str | None:
    """Return the id of the skill whose instructions a text of this style gives."""
    begin = f"{_BEGIN}Skill: " if in_element else "Skill: "
    text = text.lstrip()
    if not text.startswith(begin):
        return None
    id = text[len(begin) :].partition("\n")[0]
    return unescape(id) if in_element else id


def _lines(*lines: str) -> str:
    return "\n".join(printable(line, keep="") for line in lines)


def _tool(
    name: str,
    description: str,
    handler: Callable[..., str],
    backend: ToolBackend,
    *required: str,
) -> Tool:
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": dict.fromkeys(required, _TEXT),
        "required": [*required],
    }
    tool = load_tool(name, description, parameters, handler, backend)

    def refused(arguments: object, error: SkillError) -> str:
        if tool.refused is not None:
            tool.refused(arguments, error)
        return render_lean_error(error)

    return replace(tool, aliases=_ALIASES, refused=refused)
