"""Write what a fix made of a file, unless somebody else has written it meanwhile."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from satchel.errors import NotWrittenError
from satchel.files import staged_file


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
            # A new owner may clear bits.
            Path(staged).chmod(stat.S_IMODE(status.st_mode))
        # As late as possible, so that another program's edit is rarely lost.
        if file.read_bytes() != before:
            raise NotWrittenError(str(file), "somebody else has written it just now")
