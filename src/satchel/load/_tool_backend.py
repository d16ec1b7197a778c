"""What the tools of a style call, and the one usage event for each of their calls."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from satchel.errors import SkillError, ToolError
from satchel.load._wording import PARAMETERS
from satchel.model import Catalog, Hit, Json, Loaded, Request
from satchel.tools import Run, Tool, arguments_of

_ID_PARAMETERS: Final = ("name", "skill_id", "skill_name")
_FILE_PARAMETERS: Final = ("reference", "script", "path")


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
