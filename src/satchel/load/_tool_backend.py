"""What the tools of a style call, how they write what they load, and one event each."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from satchel.errors import SkillError, ToolError
from satchel.load._wording import FILES_BY_TOOL, PARAMETERS, PATHS_IN_FOLDER
from satchel.model import SKILL_FILE, Catalog, Hit, Json, Loaded, Request, Style
from satchel.protocols import TokenCounter
from satchel.text import EstimateCounter
from satchel.tools import Run, Tool, arguments_of

_ID_PARAMETERS: Final = ("name", "skill_id", "skill_name")
_FILE_PARAMETERS: Final = ("reference", "script", "path")
# The tool that reads one file, in the styles that have one.
READ_TOOL: Final = "read_skill_file"
RUN_SCRIPT: Final = "run_skill_script"


class ToolBackend(ABC):
    """Loads and finds for the tools of a style, and knows what to add to results.

    For each result these are asked in this order, each at most once: `load_for`,
    `folder` (for instructions only), `unchanged`, `notes`. A result that is the mere
    text of a file has no place for notes, so these are not asked for. After an error
    only `advice` is.
    """

    @property
    @abstractmethod
    def catalog(self) -> Catalog:
        """What may be listed now; a toolbox may outlive a sync."""

    @abstractmethod
    def load_for(self, request: Request, run: Run) -> Loaded:
        """Load for a call; ``run.approved`` is a framework's answer, a yes or a no."""

    def find(self, query: str, k: int) -> Sequence[Hit]:
        """Return at most ``k`` skills that match."""
        del query, k
        return ()

    def folder(self, loaded: Loaded) -> str | None:
        """Return the absolute folder in which the agent finds the skill's files."""
        del loaded
        return None

    def unchanged(self, loaded: Loaded) -> str | None:
        """Return a note in place of a text or file that the model can see anyway."""
        del loaded
        return None

    def notes(self, loaded: Loaded) -> Sequence[str]:
        """Return sentences to add to a result."""
        del loaded
        return ()

    def advice(self, error: SkillError) -> str | None:
        """Return a sentence to add to an error."""
        del error
        return None


@dataclass(frozen=True, slots=True)
class PlainBackend(ToolBackend):
    """Loads by a function, and adds nothing: for one call outside of a session."""

    loader: Callable[[Request], Loaded]
    listed: Callable[[], Catalog] = Catalog

    @property
    def catalog(self) -> Catalog:
        return self.listed()

    def load_for(self, request: Request, run: Run) -> Loaded:
        del run
        return self.loader(request)


class LoadAttempt(NamedTuple):
    """One load of a call, and how it went; the times are monotonic."""

    catalog: Catalog
    request: Request
    outcome: Loaded | Exception
    start: float
    end: float


@dataclass(slots=True)
class CallEvent:
    """The loads of one call of a tool: one event, however many files it asks for.

    ``files`` are all that the call asks for. ``refusal`` is why the call as a whole is
    refused, whatever was loaded: for its form, say. ``emit`` is set by what reports it.
    """

    files: Sequence[str | None] = ()
    refusal: SkillError | None = None
    parts: list[LoadAttempt] = field(default_factory=list[LoadAttempt])
    emit: "Callable[[CallEvent], None] | None" = None


_current: Final[ContextVar[CallEvent | None]] = ContextVar("satchel_one", default=None)
# Returns the call that is under way in this context; None where each load is one.
current_call_event: Final = _current.get


@contextmanager
def one_call_event(files: Sequence[str | None] = ()) -> Generator[CallEvent]:
    """Report all that is loaded in here as one event, when it is over."""
    # A context variable, for the loads of the call may go through any backend.
    event = CallEvent(files)
    before = _current.set(event)
    try:
        yield event
    finally:
        _current.reset(before)
        if event.emit is not None:
            event.emit(event)


def load_tool(
    name: str,
    description: str,
    parameters: Mapping[str, Json],
    handler: Callable[..., object],
    backend: ToolBackend,
) -> Tool:
    """Return a tool that loads; a call refused for its form is an event, too."""

    def report(arguments: object, error: SkillError) -> None:
        # What was asked for is read as far as it can be: the form is what was wrong.
        given: Mapping[str, object] = {}
        with suppress(ToolError):
            given = arguments_of("", arguments)
        texts = {key: value for key, value in given.items() if isinstance(value, str)}
        id = next((texts[key] for key in _ID_PARAMETERS if key in texts), "")
        file = next((texts[key] for key in _FILE_PARAMETERS if key in texts), None)
        # `load` sees the refusal and reports it; nothing is read.
        with one_call_event() as event, suppress(SkillError):
            event.refusal = error
            backend.load_for(Request(id, file, via="tool"), Run())

    return Tool(name, description, parameters, handler, "run", refused=report)


def string_parameters(
    required: Sequence[str] = (), optional: Sequence[str] = (), **descriptions: str
) -> dict[str, Json]:
    """Return a schema of string parameters, described as in `PARAMETERS` or here."""
    # Models write null for "none" where a parameter is not required.
    nullable: list[Json] = ["string", "null"]
    properties: dict[str, Json] = {
        name: {
            "type": "string" if name in required else nullable,
            "description": descriptions.get(name, PARAMETERS.get(name, "")),
        }
        for name in (*required, *optional)
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }


# --- How a style writes what was loaded

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
        return (PATHS_IN_FOLDER.format(options.root),)
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
        return (PATHS_IN_FOLDER.format("<skill_root>"),)
    return (FILES_BY_TOOL.format(names),)
