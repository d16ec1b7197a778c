"""The end of legacy templates, told to whoever still calls for one."""

import inspect
import warnings
from collections.abc import Callable
from shlex import quote
from types import FrameType
from typing import Final

__all__ = ["DEPRECATED_IN", "MAX_KEPT", "REMOVED_IN", "Once", "advice", "warn_legacy"]

DEPRECATED_IN: Final = (0, 1)
"""The version from which on a legacy template is a deprecated one."""
REMOVED_IN: Final = (0, 3)
"""The version without them: two minor versions later (C55)."""

_ROOM: Final = "satchel.roles"


MAX_KEPT: Final = 1000
"""Keys that are remembered; a message may hold what is new in every call."""


class Once:
    """Does a thing once for each of the latest keys; of two threads one does it."""

    def __init__(self) -> None:
        self._done: dict[object, object] = {}

    def do(self, key: object, act: Callable[[], None]) -> None:
        """Call ``act`` unless that was done; one that raises was not done."""
        mine = object()
        if self._done.setdefault(key, mine) is not mine:
            return
        try:
            act()
        except BaseException:
            self._done.pop(key, None)
            raise
        for old in list(self._done)[:-MAX_KEPT]:
            self._done.pop(old, None)


def advice(path: str) -> tuple[str, str]:
    """Return what to say of a legacy template, and the command that moves it."""
    since, until = (".".join(map(str, each)) for each in (DEPRECATED_IN, REMOVED_IN))
    message = (
        f"a legacy template is used: deprecated since satchel {since}, "
        f"and not read any more from {until} on"
    )
    return message, f"make a pack of it: satchel convert {quote(path)}"


def warn_legacy(role: str, path: str) -> None:
    """Give a `DeprecationWarning` whose place is the line that asked for the role."""
    message, fix = advice(path)
    warnings.warn(
        f"role {role!r}: {message}; {fix}", DeprecationWarning, stacklevel=_caller()
    )


def _caller() -> int:
    """Return the stack level, for `warn_legacy`, of whoever called into this room."""
    frame: FrameType | None = inspect.currentframe()
    level = 0  # where this function stands, as `warn_legacy` counts
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
        level += 1
    return level


def _is_ours(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return name == _ROOM or name.startswith(f"{_ROOM}.")
