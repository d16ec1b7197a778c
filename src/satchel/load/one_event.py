"""One call of a tool is one event of use, however many files it asks for.

A call that is refused for its form, before anything is loaded, is one too.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from satchel.errors import SkillError
from satchel.model import Catalog, Loaded, Request

__all__ = ["OneEvent", "Part", "as_one_event", "current", "refuse_form"]


class Part(NamedTuple):
    """One load of a call, and how it went; the times are monotonic."""

    catalog: Catalog
    request: Request
    outcome: Loaded | Exception
    start: float
    end: float


@dataclass(slots=True)
class OneEvent:
    """The loads of a call until it is over; ``tell`` is set by whoever tells of them.

    ``files`` are all that the call asks for. ``refusal`` is why the call as a whole is
    refused, whatever was loaded.
    """

    files: Sequence[str | None] = ()
    refusal: SkillError | None = None
    parts: list[Part] = field(default_factory=list[Part])
    tell: "Callable[[OneEvent], None] | None" = None


_current: Final[ContextVar[OneEvent | None]] = ContextVar("satchel_one", default=None)
current: Final = _current.get
"""Returns the call that is under way in this context; None where each load is one."""


@contextmanager
def as_one_event(files: Sequence[str | None] = ()) -> Generator[OneEvent]:
    """Tell of all that is loaded in here as one event, when it is over."""
    one = OneEvent(files)
    before = _current.set(one)
    try:
        yield one
    finally:
        _current.reset(before)
        if one.tell is not None:
            one.tell(one)


def refuse_form(
    load: Callable[[Request], object], request: Request, error: SkillError
) -> None:
    """Tell of a call that is refused for its form; nothing is loaded."""
    with as_one_event() as one, suppress(SkillError):
        one.refusal = error
        load(request)
