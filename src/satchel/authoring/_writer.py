"""Files and folders that are there whole or not at all, and never over others' work."""

import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from satchel.errors import AlreadyThereError, NotWrittenError
from satchel.files import staged_file

_READ: Final = 0o444
_MOST_NAMED: Final = 5


def new_folder(
    folder: Path, files: Mapping[str, bytes], programs: Collection[str] = ()
) -> None:
    """Make a folder with these files by path, those of ``programs`` executable.

    It is made beside its place and renamed. Folders above it are made where needed.

    Raises:
        AlreadyThereError: Something is there, and is no empty folder.
        NotWrittenError: The system says no.
    """
    making = ""
    try:
        _check_free(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = tempfile.mkdtemp(prefix=".satchel-", dir=folder.parent)
        new = Path(making) / "new"
        for path, data in files.items():
            file = new / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            if path in programs:
                file.chmod(_runnable(file.stat().st_mode))
        if folder.is_dir():
            folder.rmdir()  # not empty: somebody was quicker
        new.rename(folder)
    except OSError as error:
        raise _not_written(folder, error) from error
    finally:
        if making:
            shutil.rmtree(making, ignore_errors=True)


def put_file(file: Path, data: bytes, *, over: bytes | None = None) -> None:
    """Put a file in its place at one stroke; the rights of an earlier one stay.

    A place that was free is taken first, so that nobody who was quicker is lost.

    Args:
        file: Its place; the file behind a link is the one that is written.
        data: What is to be in it.
        over: What is in it now, which gives way; None where there is nothing.

    Raises:
        AlreadyThereError: Something else is in it.
        NotWrittenError: The system says no.
    """
    taken = False
    try:
        place = file.resolve() if over is not None else file
        _check_holds(file, over)
        place.parent.mkdir(parents=True, exist_ok=True)
        mode = None if over is None else stat.S_IMODE(place.stat().st_mode)
        with staged_file(place, data, mode):
            if over is None:
                _take(place)
                taken = True
        taken = False
    except OSError as error:
        raise _not_written(file, error) from error
    finally:
        if taken:  # the file itself could not follow
            with suppress(OSError):
                place.unlink()


def _runnable(mode: int) -> int:
    """Let everybody run it who may read it."""
    return mode | (mode & _READ) >> 2


def _check_free(folder: Path) -> None:
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise AlreadyThereError(str(folder), "it is no folder")
    names = sorted(each.name for each in folder.iterdir())
    if names:
        more = ", ..." if len(names) > _MOST_NAMED else ""
        raise AlreadyThereError(str(folder), ", ".join(names[:_MOST_NAMED]) + more)


def _check_holds(file: Path, over: bytes | None) -> None:
    if over is None:
        if os.path.lexists(file):
            raise AlreadyThereError(str(file))
    elif file.read_bytes() != over:
        raise AlreadyThereError(str(file), "it changed a moment ago")


def _take(place: Path) -> None:
    try:
        place.touch(exist_ok=False)
    except FileExistsError as error:
        raise AlreadyThereError(str(place)) from error


def _not_written(place: Path, error: OSError) -> NotWrittenError:
    return NotWrittenError(str(place), error.strerror or str(error))
