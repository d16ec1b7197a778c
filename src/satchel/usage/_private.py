"""Files that nobody but their owner reads."""

# ruff: noqa: PTH103, PTH120 - strings are what is at hand, and quicker
import os

__all__ = ["open_private"]

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
