"""Files and folders that are complete or not there, and never over others' work."""

import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from satchel.errors import AlreadyThereError, NotWrittenError
from satchel.files import staged_file

_READ: Final = 0o444
_MOST_NAMED: Final = 5


def some_of(names: list[str]) -> str:
    """Return the first names for a message, with dots where there are more."""
    return ", ".join(names[:_MOST_NAMED]) + ", ..." * (len(names) > _MOST_NAMED)


@contextmanager
def staged_folder(
    parent: Path, files: Mapping[str, bytes], programs: Collection[str] = ()
) -> Generator[Path, None, None]:
    """Make a folder with these files in a temporary one in ``parent``.

    The block renames it to where it belongs; what is left goes away with the temporary
    folder. ``programs`` are the paths that anyone who may read them can execute.
    """
    parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, so that the rename stays on one file system.
    staging = Path(tempfile.mkdtemp(prefix=".satchel-", dir=parent))
    try:
        folder = staging / "new"
        folder.mkdir()
        for path, data in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            # Two names may be one file here, and neither may overwrite the other.
            with file.open("xb") as out:
                out.write(data)
            if path in programs:
                mode = file.stat().st_mode
                # Each read bit, shifted by two, is the execute bit of the same class.
                file.chmod(mode | (mode & _READ) >> 2)
        yield folder
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def new_folder(
    folder: Path, files: Mapping[str, bytes], programs: Collection[str] = ()
) -> None:
    """Make a folder with these files by path, those of ``programs`` executable."""
    try:
        if os.path.lexists(folder):
            if folder.is_symlink() or not folder.is_dir():
                raise AlreadyThereError(str(folder), "it is not a folder")
            names = sorted(entry.name for entry in folder.iterdir())
            if names:
                raise AlreadyThereError(str(folder), some_of(names))
        with staged_folder(folder.parent, files, programs) as new:
            if folder.is_dir():
                folder.rmdir()  # fails if another program has put something in it
            new.rename(folder)
    except OSError as error:
        raise _not_written(folder, error) from error


def put_file(file: Path, data: bytes, *, over: bytes | None = None) -> None:
    """Put a whole file in its place; the mode of an earlier one stays.

    A free place is taken first, so that a file that appears meanwhile is not lost.
    """
    taken, place = False, file
    try:
        place = file.resolve() if over is not None else file
        mode = None
        if over is None:
            if os.path.lexists(file):
                raise AlreadyThereError(str(file))
            place.parent.mkdir(parents=True, exist_ok=True)
        elif file.read_bytes() != over:
            raise AlreadyThereError(str(file), "it changed a moment ago")
        else:
            mode = stat.S_IMODE(place.stat().st_mode)
        with staged_file(place, data, mode):
            if over is None:
                # A rename overwrites silently, so the name is taken first.
                _take(place)
                taken = True
        taken = False
    except OSError as error:
        raise _not_written(file, error) from error
    finally:
        if taken:  # the place was taken, and the file itself could not follow
            with suppress(OSError):
                place.unlink()


def _take(place: Path) -> None:
    try:
        place.touch(exist_ok=False)
    except FileExistsError as error:
        raise AlreadyThereError(str(place)) from error


def _not_written(place: Path, error: OSError) -> NotWrittenError:
    return NotWrittenError(str(place), error.strerror or str(error))
