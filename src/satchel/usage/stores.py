"""What keeps events: the seam that a writer in the background stands on."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from satchel.usage.recording import Event

__all__ = [
    "COPY_VERSION",
    "SCHEMA_VERSION",
    "OpenStore",
    "Row",
    "Store",
    "UnfitRowError",
    "Writer",
    "blaming_rows",
    "plain_text",
]

SCHEMA_VERSION: Final = 1
"""That of every file that holds events. A later one reads all earlier ones (R37)."""
COPY_VERSION: Final = 2
"""That of a line that tells of a copy, which the version before would call a load."""

Row: TypeAlias = tuple[int, Event]
"""An event with its number in the writer's own count: nothing is stored twice."""


class UnfitRowError(Exception):
    """A row holds what cannot be kept, now or later; the others can be without it."""


@dataclass(frozen=True, slots=True)
class Writer:
    """One that writes: a sink of one process, from its first event to its close.

    ``process`` tells writers of one process apart from those of another that has had
    the same ``pid``; ``host`` is a mark of the machine, not its name. ``bound`` is how
    many events may be lost where it does not come to its close.
    """

    id: str
    process: str
    host: str
    pid: int
    bound: int
    started: float


class Store(Protocol):
    """Keeps events. Used by one thread; whatever it raises is tried again later."""

    def open(self, writer: Writer) -> None:
        """Open the place, and put the writer on record."""
        ...

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Keep the rows, all or none; a second time with the same rows changes nothing.

        ``dropped`` is how many events the writer has had to drop since it started.

        Raises:
            UnfitRowError: One of the rows is to blame.
            Exception: Whatever it is, the same rows may be kept later.
        """
        ...

    def close(self, dropped: int, now: float) -> None:
        """Put on record that the writer came to its close, and let go."""
        ...


@contextmanager
def blaming_rows(*more: type[Exception]) -> Generator[None]:
    """Blame the rows for errors that come of their values, and of those in ``more``.

    Raises:
        UnfitRowError: There was such an error.
    """
    of_values = (AttributeError, TypeError, ValueError, OverflowError)
    blamed: tuple[type[Exception], ...] = (*of_values, *more)
    try:
        yield
    except blamed as error:
        raise UnfitRowError from error


def plain_text(text: str) -> str:
    """Return a text as UTF-8 can hold it; on POSIX a file's name may be any bytes."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


OpenStore: TypeAlias = Callable[[], Store]
"""Makes a store that is not open yet; again in every process that is forked off."""
