"""Which writers came to no close: how much may be missing is said, not hidden."""

import os
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final

from satchel.usage.records import DAY_S, WriterState

__all__ = ["ended_unclosed", "host_mark", "is_running"]

_SILENCE_S: Final = 2 * DAY_S
"""A writer of another machine that was not seen for so long counts as ended."""


def host_mark() -> str:
    """Return a mark of this machine that does not tell its name."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ["COMPUTERNAME"]
    return sha256(name.encode("utf-8", "replace")).hexdigest()[:16]


def is_running(pid: int) -> bool | None:
    """Tell whether a process of this machine runs; None where that cannot be told."""
    if sys.platform == "win32":
        return None  # there, the call below would end it
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def ended_unclosed(
    writers: Sequence[WriterState],
    *,
    now: float,
    host: str,
    running: Callable[[int], bool | None] = is_running,
) -> tuple[WriterState, ...]:
    """Return the writers that ended without their close; events of them may be missing.

    One of this machine has ended if its process runs no more, or if another process
    has written under its number since, as happens in containers. Of another machine's
    that cannot be told, so there it is two days without a word.
    """
    latest: dict[tuple[str, int], WriterState] = {}
    for each in sorted(writers, key=lambda writer: writer.started):
        latest[each.host, each.pid] = each

    def has_ended(each: WriterState) -> bool:
        if latest[each.host, each.pid].process != each.process:
            return True
        runs = running(each.pid) if each.host == host else None
        return now - each.seen > _SILENCE_S if runs is None else not runs

    return tuple(w for w in writers if w.closed is None and has_ended(w))
