"""Style `lean`: lines of Satchel's own, an empty line, and the text as it is.

What Satchel says comes first, on lines without a line break of a pack's, so no text of
a pack can forge it. A result without a text is these lines alone. In a prompt, where
other texts follow, the same is in an element.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import unescape
from typing import Final

from satchel.errors import (
    ReferenceNotAllowedError,
    SkillError,
    SkillNotFoundError,
    echo,
)
from satchel.load import _wording as wording
from satchel.load._tool_backend import (
    MAX_LISTED,
    VARIABLE,
    StyleOptions,
    ToolBackend,
    load_tool,
    place_in_folder,
)
from satchel.model import Descriptor, Json, Loaded, Request, Style
from satchel.skill_md import plain_path, split_target
from satchel.text import escape_xml, first_names, printable
from satchel.tools import ErrorText, Run, Tool

# Files of one folder that are named one by one.
_MANY_FILES: Final = 20
_TEXT: Final[dict[str, Json]] = {"type": "string"}
# A number or a title, where a result says so; models write null for none.
_PART: Final[dict[str, Json]] = {"type": ["string", "null"]}
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

    def load_skill(
        run: Run, skill_id: str, path: str | None = None, part: str | None = None
    ) -> str:
        request = Request(skill_id, path, via="tool")
        return _result(backend, options, request, run, (part or "").strip())

    part: dict[str, Json] = {"part": _PART} if options.max_result_tokens else {}
    whole: dict[str, Json] = {"skill_id": _TEXT, **part}
    file: dict[str, Json] = {"skill_id": _TEXT, "path": _TEXT, **part}
    return (
        _tool("load_skill", wording.LEAN_LOAD, load_skill, backend, whole),
        _tool("read_skill_file", wording.LEAN_READ, load_skill, backend, file),
    )


def _result(
    backend: ToolBackend, options: StyleOptions, request: Request, run: Run, part: str
) -> str:
    file = request.file
    try:
        loaded = backend.load_for(request, run)
        # The folder comes first: what the model can see already has it filled in.
        if file is None and (root := backend.folder(loaded)) is not None:
            loaded, options = place_in_folder(loaded, options, root)
        # Then the part, for that is what the model may see already.
        loaded, lines = in_part(loaded, options, file, part)
    except SkillError as error:
        return _inside(error) or render_lean_error(error, backend.advice(error))
    note = backend.unchanged(loaded)
    if note is not None:
        return _lines(note, *backend.notes(loaded))
    notes = (*backend.notes(loaded), *lines)
    if file is None:
        return render_lean(loaded, options, notes)
    return _render_file(loaded, notes)


def in_part(
    loaded: Loaded, options: StyleOptions, file: str | None = None, part: str = ""
) -> tuple[Loaded, list[str]]:
    """Return a text that is longer than the bound, or a part that is asked for."""
    most, counter = options.max_result_tokens, options.counter
    text = loaded.body.strip("\n") if file is None else loaded.text
    if most is None or (not part and counter.count(text) <= most):
        return loaded, []
    from satchel.load._parts import part_of

    anchor = split_target(file or "")[1]
    text, lines = part_of(text, most, counter, part, anchor)
    return replace(loaded, text=text, body=text), lines


def render_lean(
    loaded: Loaded, options: StyleOptions, notes: Sequence[str] = ()
) -> str:
    """Return a loaded SKILL.md: its id, its files, notes, and the body."""
    lines = [f"Skill: {loaded.id}"]
    if files := _files(loaded.descriptor):
        lines.append(f"Files (read_skill_file): {files}")
    if options.root is not None:
        lines.append(wording.PATHS_IN_FOLDER.format(options.root))
    body = loaded.body.strip("\n")
    left = map(wording.LEFT_AS_IT_IS.format, dict.fromkeys(re.findall(VARIABLE, body)))
    notes = (*(note for note in left if note not in notes), *notes)
    lines += (*_own_notes(loaded), *map(_sentence, notes))
    return f"{_lines(*lines)}\n\n{body}"


def render_element(
    loaded: Loaded, options: StyleOptions, notes: Sequence[str] = (), *, style: Style
) -> str:
    """Return a loaded SKILL.md as a part of a prompt or of a user's message."""
    if style != "lean":
        from satchel.load._contract_styles import render_context

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
    # What is not there is listed, too, but cannot be read.
    return _listed(descriptor.present if descriptor.files else descriptor.resources)


def _listed(paths: Sequence[str], folder: str = "") -> str:
    """Return paths on one line; of a folder with many files only how many."""
    names = [_path(path) for path in paths]
    if len(paths) > _MANY_FILES:
        names = [
            _path(folder + path) + (f" ({count:,} files)" if count > 1 else "")
            for path, count in _folded(path.removeprefix(folder) for path in paths)
        ]
    return first_names(names, MAX_LISTED)


def _folded(paths: Iterable[str]) -> Iterable[tuple[str, int]]:
    """Return paths, those of a folder with many as one, with the count of files."""
    files = dict.fromkeys(paths, 1)
    for depth in range(max(map(_depth, files)), 0, -1):
        inside: dict[str, list[str]] = {}
        for path in files:
            if _depth(path) >= depth:
                above = "/".join(path.split("/")[:depth])
                inside.setdefault(f"{above}/", []).append(path)
        for above, below in inside.items():
            if len(below) > _MANY_FILES:
                files[above] = sum(files.pop(path) for path in below)
    return files.items()


def _depth(path: str) -> int:
    return path.count("/")


def _inside(error: SkillError) -> str:
    """Return the files of a folder that was asked for; empty if it is none."""
    if not isinstance(error, ReferenceNotAllowedError):
        return ""
    folder = f"{plain_path(error.file)}/"
    paths = sorted(path for path in error.listed if path.startswith(folder))
    lines = (
        f"Folder: {_path(folder)} of {error.name}",
        f"Files: {_listed(paths, folder)}",
    )
    return _lines(*lines) if paths else ""


def _path(path: str) -> str:
    return path if _PLAIN_PATH.fullmatch(path) else json.dumps(path, ensure_ascii=False)


def _render_file(loaded: Loaded, notes: Sequence[str]) -> str:
    """Return one file; of a binary one its kind and size, for no model reads it."""
    # To read SKILL.md as a file is to load the skill, and begins like it.
    is_skill = loaded.is_instructions
    file = "" if is_skill else f"File: {_path(loaded.file)} of "
    lines = [f"{file or 'Skill: '}{loaded.id}", *_own_notes(loaded)]
    if loaded.is_binary:
        lines.append(wording.LEAN_BINARY.format(len(loaded.data), loaded.media_type))
        return _lines(*lines, *notes)
    return f"{_lines(*lines, *notes)}\n\n{loaded.text}"


def render_lean_error(error: SkillError, advice: str | None = None) -> ErrorText:
    """Return why nothing was loaded, and an advice on a line of its own."""
    from satchel.load._error_wording import model_message

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
    properties: dict[str, Json],
) -> Tool:
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "required": [key for key in properties if properties[key] is _TEXT],
    }
    tool = load_tool(name, description, parameters, handler, backend)

    def refused(arguments: object, error: SkillError) -> str:
        if tool.refused is not None:
            tool.refused(arguments, error)
        return render_lean_error(error)

    return replace(tool, aliases=_ALIASES, refused=refused)
