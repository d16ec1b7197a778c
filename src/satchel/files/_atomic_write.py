"""Write a file as a whole, or not at all: next to its place, then renamed."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from satchel.errors import NotWrittenError


def write_file(path: str | os.PathLike[str], data: bytes, mode: int) -> None:
    """Put ``data`` at ``path``, as a whole or not at all; a file there is replaced."""
    with staged_file(path, data, mode):
        pass


def replace_file(path: str | os.PathLike[str], before: bytes, data: bytes) -> None:
    """Put ``data`` in the place of ``before``; the file's mode and owner stay.

    Raises:
        NotWrittenError: The file holds something else now, is a link, or may not
            be written; nothing was.
    """
    file = Path(path)
    # Not `stat`: the rename would replace the link, not the file it leads to.
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise NotWrittenError(str(path), "it is no regular file")
    # A rename needs no right to write the file, so it would replace this one.
    if not status.st_mode & stat.S_IWUSR:
        raise NotWrittenError(str(path), "it may only be read")
    with staged_file(file, data, stat.S_IMODE(status.st_mode)) as staged:
        with suppress(OSError, AttributeError):  # not ours to give; Windows
            os.chown(staged, status.st_uid, status.st_gid)
            staged.chmod(stat.S_IMODE(status.st_mode))  # a new owner may clear bits
        # As late as possible, so that another program's edit is rarely lost.
        if file.read_bytes() != before:
            raise NotWrittenError(str(file), "somebody else has written it just now")


@contextmanager
def staged_file(
    path: str | os.PathLike[str], data: bytes, mode: int | None = None
) -> Generator[Path]:
    """Write ``data`` next to ``path``; it takes its place when the block ends.

    The block gets the path of the new file, and makes the last checks; if it raises,
    nothing has changed. Without ``mode`` the system gives the permissions.
    """
    import secrets  # most commands write nothing

    place = Path(path)
    staged = place.with_name(f".satchel-{secrets.token_hex(8)}")
    # A file with a mode must not be readable by others before it has that mode.
    first_mode = 0o666 if mode is None else 0o600
    try:
        with open(staged, "xb", opener=lambda p, f: os.open(p, f, first_mode)) as out:
            out.write(data)
        if mode is not None:
            staged.chmod(mode)
        yield staged
        os.replace(staged, place)  # noqa: PTH105 - tests stand in for it
    # Also after Ctrl-C: no half-written file stays in the user's folder.
    except BaseException:
        with suppress(OSError):
            staged.unlink()
        raise
