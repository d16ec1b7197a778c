"""The process that writes events: its exit, its forks, its locks.

Its private files.
"""

import atexit
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, Protocol
from weakref import WeakSet


class RegisteredWriter(Protocol):
    """What is to be closed at the end, and to begin anew in a child."""

    def retire(self) -> None: ...

    def close(self) -> None: ...

    def reset_after_fork(self) -> None: ...


_writers: Final[WeakSet[RegisteredWriter]] = WeakSet()
_mark = os.urandom(16).hex()
_exit_is_registered = False


def process_mark() -> str:
    """Return what tells this process apart from all others, those of its pid too."""
    return _mark


def register_writer(writer: RegisteredWriter) -> None:
    """See to this one, too, for as long as somebody else holds it."""
    _writers.add(writer)


def register_exit() -> None:
    """Write what waits when this process ends, however it was begun."""
    global _exit_is_registered  # noqa: PLW0603 - one registration for each process
    if _exit_is_registered:
        return
    _exit_is_registered = True
    atexit.register(close_all_writers)
    if "multiprocessing.util" in sys.modules:  # its children do not run atexit
        from multiprocessing.util import Finalize

        Finalize(None, close_all_writers, exitpriority=10)


def close_all_writers() -> None:
    """Close all, side by side."""
    writers = list(_writers)
    for writer in writers:
        writer.retire()
    for writer in writers:
        writer.close()


def _after_fork() -> None:
    """Leave to the parent what is the parent's: its events, its files, its thread."""
    global _exit_is_registered, _mark  # noqa: PLW0603 - facts about this process
    _mark = os.urandom(16).hex()
    _exit_is_registered = False
    for writer in _writers:
        writer.reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


_LOCK_OFFSET = 1 << 40
"""A place behind every end: Windows locks bytes, and these must not be read ones."""


@contextmanager
def locked(fd: int) -> Generator[None]:
    """Hold the lock of an open file; wait for whoever has it. It ends with the process.

    Raises:
        OSError: The file system has no locks, or on Windows nobody let go in 10 s.
    """
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
        fcntl.flock(fd, fcntl.LOCK_UN)  # a child that was forked off may have it open


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


# ruff: noqa: PTH103, PTH120 - strings are what is at hand, and quicker


_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def open_private(path: str) -> int:
    """Open a file for reading and writing; made, with its folder, where it is missing.

    What is made belongs to its owner alone: 0600, and 0700 for the folder. What is
    there already stays as it is.

    Raises:
        OSError: It cannot be opened or made.
    """
    try:
        return os.open(path, _FLAGS | _BINARY, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path) or os.curdir, mode=0o700, exist_ok=True)
        return os.open(path, _FLAGS | _BINARY, 0o600)
