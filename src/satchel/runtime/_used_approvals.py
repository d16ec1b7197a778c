"""Approvals that were used: a yes that a framework hands over twice is one yes.

A run that waits for an approval is stored by its framework, and can be resumed twice:
by two workers, or after a crash between a tool's effect and the next save. So the call
that a yes is for is noted before it is made.
"""

import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, cast

from satchel.protocols import UsedApprovals

# Keys that `UsedApprovalsInMemory` holds; the oldest go first.
MAX_KEYS: Final = 100_000
# How long a call may wait for its approval. What is older is never called with it, so
# the note that it was used is not needed any more.
MAX_WAIT_S: Final = 90 * 24 * 3600.0
# Keys of calls that say since when they wait begin with it.
_DATED: Final = "2-"


class UsedApprovalsInMemory:
    """Used approvals of one process; a restart forgets them. Thread-safe."""

    def __init__(self, maximum: int = MAX_KEYS) -> None:
        self._maximum = maximum
        self._lock = threading.Lock()
        self._keys: dict[str, None] = {}

    def use(self, key: str) -> bool:
        """Note the key; return whether it is new."""
        with self._lock:
            if key in self._keys:
                return False
            self._keys[key] = None
            if len(self._keys) > self._maximum:
                del self._keys[next(iter(self._keys))]
            return True


class UsedApprovalsInFolder:
    """Used approvals as empty files of a folder, which outlive a crash.

    Several processes may share the folder, and several machines where it is a network
    drive that creates files exclusively. The first use of a process deletes the files
    of calls that nobody can resume any more. Those of earlier releases, whose names do
    not begin with ``2-``, stay: remove them when no run of that time waits any more.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._is_clean = False

    def __repr__(self) -> str:
        return f"UsedApprovalsInFolder({str(self._folder)!r})"

    def use(self, key: str) -> bool:
        """Note the key on disk; return whether it is new.

        Raises:
            OSError: The folder cannot be written to.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._is_clean:
            self._is_clean = True
            _delete_old(self._folder)
        # Exclusive: of two processes that note one key, the system lets one through.
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        try:
            file = os.open(self._folder / key, flags, 0o600)
        except FileExistsError:
            return False
        # On disk before the call is made: a crash must not lose what was used.
        try:
            os.fsync(file)
        finally:
            os.close(file)
        _sync_folder(self._folder)
        return True


class _DefaultUsedApprovals:
    """A folder, and memory alone from when the folder cannot be written to."""

    def __init__(self, folder: Path) -> None:
        self._memory = UsedApprovalsInMemory()
        self._is_absolute = folder.is_absolute()  # else it begins with a bare ~
        self._folder: UsedApprovalsInFolder | None = UsedApprovalsInFolder(folder)

    def use(self, key: str) -> bool:
        if not self._memory.use(key):
            return False
        if self._folder is None:
            return True
        try:
            if not self._is_absolute:
                raise FileNotFoundError("the user has no home folder")
            return self._folder.use(key)
        except OSError as error:
            import logging  # its cost only where something is wrong

            logging.getLogger("satchel").warning(
                "used approvals are kept in memory alone, and a restart forgets them: "
                "%s; set SATCHEL_APPROVALS to a folder that can be written to",
                error,
            )
            self._folder = None
            return True


def used_approvals(environ: Mapping[str, str], state_folder: Path) -> UsedApprovals:
    """Return where used approvals are noted: what ``SATCHEL_APPROVALS`` says.

    It is a folder, or ``memory``; by default a folder of ``state_folder``.
    """
    setting = environ.get("SATCHEL_APPROVALS", "").strip()
    if setting == "memory":
        return UsedApprovalsInMemory()
    if setting:
        return UsedApprovalsInFolder(setting)
    return _DefaultUsedApprovals(state_folder / "approvals")


def approval_key(
    call_id: str, agent: str, tool: str, arguments: object, step: str = ""
) -> str:
    """Return the key of one call, fit for the name of a file.

    ``step`` is the step of its conversation. Without one, as in states that earlier
    releases wrote, calls of one id are one call wherever they come from.
    """
    parts = (call_id, agent, tool, fingerprint(arguments), *filter(None, (step,)))
    # Hashed, since ids of frameworks hold what no file name may.
    key = sha256(fingerprint(parts).encode("utf-8", "replace")).hexdigest()
    return f"{_DATED}{key}" if step else key


def _delete_old(folder: Path) -> None:
    before = time.time() - MAX_WAIT_S
    for path in folder.glob(f"{_DATED}*"):
        with suppress(OSError):  # another process may delete it, too
            if path.stat().st_mtime < before:
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Write the entry of a new file to disk, where folders can be opened for that."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def fingerprint(value: object) -> str:
    """Return a text that is the same for equal values of one process. Never raises."""
    try:
        return json.dumps(value, sort_keys=True, default=_plain)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return repr(value)  # in full: two users must not look alike
    except Exception:  # noqa: BLE001 - an object's own method
        return type(value).__qualname__


def _plain(value: object) -> object:
    """Return a replacement for a value that JSON has no form for: at least its type."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, cast("Iterable[object]", value)))
    return type(value).__qualname__
