"""Write a file as a whole, or not at all: next to its place, then renamed."""

# ruff: noqa: PTH101, PTH105, PTH108, PTH118, PTH120 - texts: to make a path of each
# takes as long as to write a small file
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress


def write_file(path: str | os.PathLike[str], data: bytes, mode: int) -> None:
    """Put ``data`` at ``path``, as a whole or not at all; a file there is replaced."""
    with staged_file(path, data, mode):
        pass


@contextmanager
def naming(path: str | os.PathLike[str]) -> Generator[None]:
    """Let an error of the system name a file.

    One of a full disk names none, and another one a file that is only on its way.
    """
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        raise


@contextmanager
def staged_file(
    path: str | os.PathLike[str], data: bytes, mode: int | None = None
) -> Generator[str]:
    """Write ``data`` next to ``path``; it takes its place when the block ends.

    The block gets the path of the new file, and makes the last checks; if it raises,
    nothing has changed. Without ``mode`` the system gives the permissions.
    """
    place = os.fspath(path)
    staged = os.path.join(os.path.dirname(place), f".satchel-{os.urandom(8).hex()}")
    # A file with a mode must not be readable by others before it has that mode.
    first_mode = 0o666 if mode is None else 0o600
    try:
        with (
            naming(place),
            open(staged, "xb", opener=lambda p, f: os.open(p, f, first_mode)) as out,
        ):
            out.write(data)
        if mode is not None:
            os.chmod(staged, mode)
        yield staged
        os.replace(staged, place)  # tests stand in for it
    # Also after Ctrl-C: no half-written file stays in the user's folder.
    except BaseException:
        with suppress(OSError):
            os.unlink(staged)
        raise
