"""The process that writes events: its exit, its forks, file locks, private files."""

# ruff: noqa: PTH103, PTH120 - strings are faster

import atexit
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, Protocol
from weakref import WeakSet


class RegisteredWriter(Protocol):
    """A writer that is closed at the end, and starts again in a forked process."""

    def retire(self) -> None: ...
    def close(self) -> None: ...
    def reset_after_fork(self) -> None: ...


_writers: Final[WeakSet[RegisteredWriter]] = WeakSet()
_mark = os.urandom(16).hex()
_exit_is_registered = False


def process_mark() -> str:
    """Return a mark of this process, different from any other with the same pid."""
    return _mark


def register_writer(writer: RegisteredWriter) -> None:
    """Close this writer at the end of the process, if it still exists."""
    _writers.add(writer)


def register_exit() -> None:
    """Write what waits when this process ends, however it was started."""
    global _exit_is_registered  # noqa: PLW0603 - one registration for each process
    if _exit_is_registered:
        return
    _exit_is_registered = True
    atexit.register(close_all_writers)
    if "multiprocessing.util" in sys.modules:  # its children do not run atexit
        from multiprocessing.util import Finalize

        Finalize(None, close_all_writers, exitpriority=10)


def close_all_writers() -> None:
    """Close all writers, in parallel."""
    writers = list(_writers)
    # Signal all before waiting for the first, so that they write at the same time.
    for writer in writers:
        writer.retire()
    for writer in writers:
        writer.close()


def _after_fork() -> None:
    """Leave events, files and threads to the parent process."""
    global _exit_is_registered, _mark  # noqa: PLW0603 - facts about this process
    _mark = os.urandom(16).hex()
    _exit_is_registered = False
    for writer in _writers:
        writer.reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# Beyond the end of any file: Windows locks bytes, which nobody may read then.
_LOCK_OFFSET = 1 << 40


@contextmanager
def locked(fd: int) -> Generator[None]:
    """Hold the lock of an open file, which also ends with the process."""
    try:
        import fcntl
    except ImportError:
        with _locked_on_windows(fd):
            yield
        return
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)  # a forked child may have it open


def try_lock(fd: int) -> bool:
    """Take the lock of an open file until it is closed; return whether it was free."""
    try:
        import fcntl
    except ImportError:
        return True  # files of one folder are of one process there
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _locked_on_windows(fd: int) -> Generator[None]:
    from importlib import import_module

    msvcrt = import_module("msvcrt")
    os.lseek(fd, _LOCK_OFFSET, os.SEEK_SET)
    msvcrt.locking(fd, msvcrt.LK_LOCK, 1)
    try:
        yield
    finally:
        os.lseek(fd, _LOCK_OFFSET, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)


_SYSTEM_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FLAGS: Final[int] = os.O_RDWR | os.O_CREAT | _SYSTEM_FLAGS


def open_private(path: str) -> int:
    """Open a file for reading and writing; make it private, if it does not exist."""
    try:
        return os.open(path, _FLAGS, 0o600)
    # The folder is made only if it is missing: that costs nothing in the usual case.
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path) or os.curdir, mode=0o700, exist_ok=True)
        return os.open(path, _FLAGS, 0o600)


def append(fd: int, end: int, data: bytes) -> None:
    """Write at the end; if that fails half-way, as on a full disk, undo it.

    Raises:
        OSError: There is no room for it, say.
    """
    os.lseek(fd, end, os.SEEK_SET)
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(fd, rest) :]
    except OSError:
        # Undo it, or the next line would continue this one.
        os.ftruncate(fd, end)
        raise


@contextmanager
def locked_file(path: str) -> Generator[int]:
    """Open a file as `open_private` does, and hold its lock."""
    fd = open_private(path)
    try:
        with locked(fd):
            yield fd
    finally:
        os.close(fd)
