"""A fault of our own, as a log has it: its kind and its place, no word of a caller."""

import logging
import traceback
from types import TracebackType
from typing import Final, cast

__all__ = ["tell_crash"]

_FRAMES: Final = 8

_log = logging.getLogger("satchel.serve")


def tell_crash(error: BaseException) -> None:
    """Log an exception by its kind and its place: its text may be a caller's.

    An exception group is told as the exceptions in it.
    """
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        for each in group.exceptions:
            tell_crash(each)
        return
    _log.error("unhandled %s at %s", type(error).__name__, _place(error.__traceback__))


def _place(trace: TracebackType | None) -> str:
    frames = [
        f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}:{line}"
        for frame, line in traceback.walk_tb(trace)
    ]
    return " < ".join(reversed(frames[-_FRAMES:])) or "?"
