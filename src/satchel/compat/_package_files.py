"""Files inside importable Python packages, by paths that begin with the package."""

import os
import stat
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from satchel.errors import LimitExceededError, ReferenceNotFoundError
from satchel.files import digest_bytes, mark_of, read_confined
from satchel.model import FileStat

_PYTHON_FILES: Final = frozenset({"__init__.py", "__pycache__"})


def stat_file(path: str) -> FileStat | None:
    """Return size and digest of a regular file; None if there is none."""
    place = _find_package(path)
    if isinstance(place, Path):
        try:
            # Not `stat`: a link may lead out of the package, and is no file here.
            status = place.joinpath(path.partition("/")[2]).lstat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return FileStat(path, status.st_size, mark_of(status))
    if place is None or not place.is_file():
        return None
    data = place.read_bytes()
    return FileStat(path, len(data), digest_bytes(data))


def is_folder(path: str) -> bool:
    """Return whether a path is an importable package, or a folder in one."""
    place = _find_package(f"{path}/.")
    if isinstance(place, Path):
        return place.joinpath(path.partition("/")[2]).is_dir()
    if place is None or "/" not in path:
        return place is not None
    in_zip = _find_package(path)
    return in_zip is not None and in_zip.is_dir()


def files_below(folder: str) -> tuple[str, ...]:
    """Return the regular files below a folder, sorted; no link is followed."""
    place = _find_package(folder)
    if isinstance(place, Path):
        place /= folder.partition("/")[2]
    return () if place is None else tuple(sorted(_below(place, folder)))


def _below(place: Path | Traversable, path: str) -> Iterator[str]:
    if isinstance(place, Path) and place.is_symlink():
        return
    if place.is_file():
        yield path
    elif place.is_dir():
        for child in place.iterdir():
            name = child.name
            if name not in _PYTHON_FILES and not name.startswith("."):
                yield from _below(child, f"{path}/{name}")


def read_file(path: str, limit_bytes: int, owner: str) -> bytes:
    """Return the bytes of a file, whose path the caller has checked.

    ``owner`` is the skill to name in errors, which are those of
    `satchel.files.read_confined`.
    """
    place = _find_package(path)
    if isinstance(place, Path):
        inside = path.partition("/")[2]
        return read_confined(str(place), inside, limit_bytes, owner=owner)
    if place is None or not place.is_file():
        raise ReferenceNotFoundError(owner, path)
    # Files in an archive have no size before they are read.
    data = place.read_bytes()
    if len(data) > limit_bytes:
        raise LimitExceededError("file_bytes", limit_bytes, len(data), "bytes", path)
    return data


def _find_package(path: str) -> Path | Traversable | None:
    """Return the folder of the package, or the file itself if it is in an archive."""
    package, _, inside = path.partition("/")
    if not inside:
        return None
    try:
        # Only a plain name: for a dotted one `find_spec` imports the parents.
        spec = find_spec(package) if package.isidentifier() else None
        # A module that is no package would mean the folder that it is in.
        if spec is None or spec.submodule_search_locations is None:
            return None
        places = map(Path, spec.submodule_search_locations)
        folders = [place for place in places if place.is_dir()]
        if not folders:
            return files(package).joinpath(inside)
    except Exception:  # noqa: BLE001 - a package's own loader or code may raise anything
        return None
    # A namespace package has several folders: the first one that has the file counts.
    with_file = (folder for folder in folders if os.path.lexists(folder / inside))
    return next(with_file, folders[0])
