"""One writer at a time, by a lock of the operating system on the open file."""

import os
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["locked"]

_FAR = 1 << 40
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
    os.lseek(fd, _FAR, os.SEEK_SET)
    msvcrt.locking(fd, msvcrt.LK_LOCK, 1)
    try:
        yield
    finally:
        os.lseek(fd, _FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
