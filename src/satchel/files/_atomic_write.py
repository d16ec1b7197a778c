"""Write a file as a whole, or not at all."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from satchel.errors import NotWrittenError


def replace_file(path: str | os.PathLike[str], before: bytes, data: bytes) -> None:
    """Put ``data`` in the place of ``before``; the file's mode and owner stay.

    Raises:
        NotWrittenError: The file holds something else by now, is a link, or may not
            be written; nothing was.
        OSError: It cannot be written; it is as it was.
    """
    file = Path(path)
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise NotWrittenError(str(path), "it is no regular file")
    if not status.st_mode & stat.S_IWUSR:
        raise NotWrittenError(str(path), "it may only be read")
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        with suppress(OSError, AttributeError):  # not ours to give; Windows
            os.chown(beside, status.st_uid, status.st_gid)
        Path(beside).chmod(stat.S_IMODE(status.st_mode))
        _check_same(file, before)
        Path(beside).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise


def _check_same(file: Path, before: bytes) -> None:
    if file.read_bytes() != before:
        raise NotWrittenError(str(file), "somebody else has written it just now")
