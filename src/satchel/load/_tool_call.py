"""One tool call: what a session adds to its result, and its one usage event."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from satchel.errors import SkillError
from satchel.load._wording import StyleOptions, fill_folder
from satchel.model import Catalog, Loaded, Request


def _nothing(_: object) -> None:
    """Say nothing."""


def _no_notes(_: object) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultHooks:
    """Asked for each result, in this order, each at most once; by default silent.

    ``root`` gives the absolute folder in which the agent finds the skill's files; it
    is asked for instructions only, and filled into them. ``instead`` may give a note
    that stands in place of what was loaded, a file or the instructions. ``notes`` are
    sentences to add. ``misses`` may give a sentence to add to an error; the others
    are not asked then.

    A result that is the mere text of a file has no place for notes, so they are
    not asked for either.
    """

    root: Callable[[Loaded], str | None] = _nothing
    instead: Callable[[Loaded], str | None] = _nothing
    notes: Callable[[Loaded], Sequence[str]] = _no_notes
    misses: Callable[[SkillError], str | None] = _nothing

    def placed(
        self, loaded: Loaded, options: StyleOptions
    ) -> tuple[Loaded, StyleOptions]:
        """Return both with the skill's folder in them, where it has one."""
        root = self.root(loaded) if loaded.is_instructions else None
        if root is None:
            return loaded, options
        return fill_folder(loaded, root), replace(options, root=root)


NO_HOOKS: Final = ResultHooks()


class LoadAttempt(NamedTuple):
    """One load of a call, and how it went; the times are monotonic."""

    catalog: Catalog
    request: Request
    outcome: Loaded | Exception
    start: float
    end: float


@dataclass(slots=True)
class CallEvent:
    """The loads of a call until it is over; ``tell`` is set by whoever tells of them.

    ``files`` are all that the call asks for. ``refusal`` is why the call as a whole is
    refused, whatever was loaded.
    """

    files: Sequence[str | None] = ()
    refusal: SkillError | None = None
    parts: list[LoadAttempt] = field(default_factory=list[LoadAttempt])
    tell: "Callable[[CallEvent], None] | None" = None


_current: Final[ContextVar[CallEvent | None]] = ContextVar("satchel_one", default=None)
current_call_event: Final = _current.get
"""Returns the call that is under way in this context; None where each load is one."""


@contextmanager
def one_call_event(files: Sequence[str | None] = ()) -> Generator[CallEvent]:
    """Tell of all that is loaded in here as one event, when it is over."""
    one = CallEvent(files)
    before = _current.set(one)
    try:
        yield one
    finally:
        _current.reset(before)
        if one.tell is not None:
            one.tell(one)


def report_malformed_call(
    load: Callable[[Request], object], request: Request, error: SkillError
) -> None:
    """Tell of a call that is refused for its form; nothing is loaded."""
    with one_call_event() as one, suppress(SkillError):
        one.refusal = error
        load(request)
