"""The process that writers live in: its end, and the children forked off it."""

import atexit
import os
import sys
from typing import Final, Protocol
from weakref import WeakSet

__all__ = ["close_everyone", "enrol", "process_mark", "see_to_the_end"]


class Enrolled(Protocol):
    """What is to be closed at the end, and to begin anew in a child."""

    def retire(self) -> None: ...

    def close(self) -> None: ...

    def begin_anew(self) -> None: ...


_everyone: Final[WeakSet[Enrolled]] = WeakSet()
_mark = os.urandom(16).hex()
_exit_is_known = False


def process_mark() -> str:
    """Return what tells this process apart from all others, those of its pid too."""
    return _mark


def enrol(each: Enrolled) -> None:
    """See to this one, too, for as long as somebody else holds it."""
    _everyone.add(each)


def see_to_the_end() -> None:
    """Write what waits when this process ends, however it was begun."""
    global _exit_is_known  # noqa: PLW0603 - one registration for each process
    if _exit_is_known:
        return
    _exit_is_known = True
    atexit.register(close_everyone)
    if "multiprocessing.util" in sys.modules:  # its children do not run atexit
        from multiprocessing.util import Finalize

        Finalize(None, close_everyone, exitpriority=10)


def close_everyone() -> None:
    """Close all, side by side."""
    writers = list(_everyone)
    for each in writers:
        each.retire()
    for each in writers:
        each.close()


def _after_fork() -> None:
    """Leave to the parent what is the parent's: its events, its files, its thread."""
    global _exit_is_known, _mark  # noqa: PLW0603 - facts about this process
    _mark = os.urandom(16).hex()
    _exit_is_known = False
    for each in _everyone:
        each.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
