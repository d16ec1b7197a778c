"""Style `agent-skills`: a skill in its `<skill_context>` envelope.

The options of all styles, and how a skill's files are reached, are here, too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from satchel.errors import SkillError, echo
from satchel.load import _wording as wording
from satchel.load._tool_backend import ToolBackend, load_tool, string_parameters
from satchel.model import SKILL_FILE, Descriptor, Loaded, Request, Style
from satchel.protocols import TokenCounter
from satchel.text import EstimateCounter, escape_xml, printable
from satchel.tools import Run, Tool

Envelope = Literal["2026-02", "extended"]
Content = Literal["file", "body"]
Escape = Literal["raw", "cdata", "entities"]

# Files that an envelope names; beyond them it says how many more there are.
MAX_LISTED: Final = 200
# The placeholders for a skill's folder: of pydantic-ai-skills, and of Claude Code.
FOLDERS: Final = ("${SKILL_DIR}", "${CLAUDE_SKILL_DIR}")
_FOLDER: Final = re.compile("|".join(map(re.escape, FOLDERS)))
# What one client or another fills in.
VARIABLE: Final = r"\$\{(?:CLAUDE_[A-Z_]+|SKILL_DIR)\}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleOptions:
    """How a style writes what was loaded. The defaults are the letter of the contract.

    ``envelope``, ``content`` and ``escape`` are of ``agent-skills``: ``extended`` adds
    the pack's files; ``body`` leaves the frontmatter out; ``cdata`` and ``entities``
    make well-formed XML of any text. ``always_body`` is of ``packs``: the body also
    where a file was asked for. ``show_root`` shows the pack's location, for an agent
    that can reach it; ``root`` is the absolute folder of a copy that it can reach.

    In every style the envelope ``extended`` also says how relative paths resolve, or
    with what the files are read. ``max_result_tokens``, as ``counter`` counts them, are
    the most of a text that one result of ``lean`` has: a longer one comes in parts.
    """

    envelope: Envelope = "2026-02"
    content: Content = "file"
    escape: Escape = "raw"
    always_body: bool = False
    show_root: bool = False
    root: str | None = None
    max_result_tokens: int | None = None
    counter: TokenCounter = field(default_factory=EstimateCounter, compare=False)


DEFAULT_STYLE_OPTIONS: Final = StyleOptions()
# What sessions and servers write.
EXTENDED: Final = StyleOptions(envelope="extended")


def agent_skills_tool(backend: ToolBackend, options: StyleOptions) -> Tool:

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
    id = _escaped(descriptor.id)
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
    lines = "".join(f"    {_escaped(note)}\n" for note in all_notes)
    noted = f"\n  <notes>\n{lines}  </notes>\n" if lines else ""
    return (
        f'<skill_context id="{id}">\n  <instructions>\n{text}{end}  </instructions>\n\n'
        f"{resources}{wording.DIRECTIVE.format(id)}{noted}</skill_context>"
    )


def render_context_note(skill_id: str, *notes: str) -> str:
    lines = "".join(f"  <note>{_escaped(note)}</note>\n" for note in notes)
    return f'<skill_context id="{_escaped(skill_id)}">\n{lines}</skill_context>'


def render_context_error(
    error: SkillError, skill_id: str, advice: str | None = None
) -> str:
    """Return the envelope that says why ``skill_id`` was not loaded."""
    id = _escaped(echo(skill_id))
    lines = (wording.words_of_no(error), advice or "")
    more = "".join(f"\n{_escaped(line)}" for line in lines if line)
    return (
        f'<skill_context id="{id}">\n  <error>\n    {wording.load_error(error, id)}\n'
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
        f"    <{kind}>{_escaped(path)}</{kind}>\n" for kind, path in named[:MAX_LISTED]
    ]
    if show_root:
        root = _escaped(descriptor.origin.location)
        lines.insert(0, f"    <skill_root>{root}</skill_root>\n")
    if len(named) > MAX_LISTED:
        lines.append(f'    <more files="{len(named) - MAX_LISTED}"/>\n')
    return f"  <active_resources>\n{''.join(lines)}  </active_resources>\n\n"


def _escaped(text: str) -> str:
    return escape_xml(printable(text, keep=""), quotes=True)


# --- A skill's folder and files -------------------------------------------------------


def place_in_folder(
    loaded: Loaded, options: StyleOptions, root: str | None
) -> tuple[Loaded, StyleOptions]:
    """Return both with the folder of a copy in them, where there is one."""
    if root is None:
        return loaded, options
    return fill_folder(loaded, root), replace(options, root=root)


def fill_folder(loaded: Loaded, folder: str | None) -> Loaded:
    """Return instructions with ``${SKILL_DIR}`` and ``${CLAUDE_SKILL_DIR}`` filled in.

    A file, and any text where there is no folder, stays as it is.
    """
    if folder is None or loaded.file != SKILL_FILE:
        return loaded
    # Not `sub`, which would take backslashes in a folder's name for escapes.
    text, body = (
        folder.join(_FOLDER.split(text)) for text in (loaded.text, loaded.body)
    )
    return replace(loaded, text=text, body=body)


def folder_notes(
    loaded: Loaded, options: StyleOptions, style: Style
) -> tuple[str, ...]:
    """Return how the paths in a SKILL.md resolve, or with what its files are read.

    Only the extended envelope says so.
    """
    if options.envelope != "extended" or loaded.file != SKILL_FILE:
        return ()
    if options.root is not None:
        return (wording.PATHS_IN_FOLDER.format(options.root),)
    entry = loaded.descriptor
    if not entry.model_invocable:  # its files are refused to a model, too
        return ()
    by_load = bool(entry.references or entry.scripts)
    by_reader = bool(entry.assets or entry.others)
    if style == "packs":
        tools = [("load_skill", by_load), ("read_skill_file", by_reader)]
    elif style == "references":
        tools = [("load_skill_instructions", by_load or by_reader)]
    else:
        tools = [("read_skill_file", by_load or by_reader)]
    names = " and ".join(name for name, needed in tools if needed)
    if not names:
        return ()
    if options.show_root and style == "agent-skills":
        return (wording.PATHS_IN_FOLDER.format("<skill_root>"),)
    return (wording.FILES_BY_TOOL.format(names),)
