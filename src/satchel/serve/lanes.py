"""Threads for requests, apart for each source that lies elsewhere.

All requests share 40 threads. One that reads a far source may wait for it until a
time-out, and some tens of those would leave no thread for anybody else.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from satchel.errors import SourceUnavailableError

__all__ = ["LISTS", "Lanes"]

_T = TypeVar("_T")

THREADS: Final = 8
"""Requests that may wait for one source at a time."""
WAITING: Final = 16
"""Requests that may wait for one of these threads, while none is answered."""
STUCK_S: Final = 1.0
"""Seconds without an answer after which no more than that may wait."""
LISTS: Final = "\0lists"
"""The lane of what reads skills of all sources, such as a list of them."""


@dataclass(slots=True)
class _Lane:
    """The threads of one source, and when it last answered."""

    limiter: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(THREADS))
    moved_at: float = 0.0


_lanes: RunVar[dict[tuple[int, str], _Lane]] = RunVar("satchel_lanes")


class Lanes:
    """Runs what may wait, in threads. For one event loop at a time."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic

    async def run(self, lane: str | None, work: Callable[[], _T]) -> _T:
        """Return what ``work`` gives; None is the threads that all share.

        Raises:
            SourceUnavailableError: Too many wait for this source already.
        """
        if lane is None:
            return await to_thread.run_sync(work, abandon_on_cancel=True)
        own = self._lane(lane)
        taken = own.limiter.statistics()
        now = self._monotonic()
        if not taken.borrowed_tokens:
            own.moved_at = now
        if taken.tasks_waiting >= WAITING and now - own.moved_at > STUCK_S:
            raise SourceUnavailableError(lane, "too many requests wait for it")
        try:
            # A client that goes away must not free a thread that still waits.
            return await to_thread.run_sync(work, limiter=own.limiter)
        finally:
            own.moved_at = self._monotonic()

    def _lane(self, name: str) -> _Lane:
        try:
            lanes = _lanes.get()
        except LookupError:
            lanes = dict[tuple[int, str], _Lane]()
            _lanes.set(lanes)
        return lanes.setdefault((id(self), name), _Lane())
