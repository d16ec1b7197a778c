"""Packs in a folder of a Python package, unpacked or inside a zip file."""

import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from satchel.errors import SourceUnavailableError
from satchel.files import is_excluded_file
from satchel.model import SKILL_FILE, Limits
from satchel.protocols import SkillSource
from satchel.sources._local import LocalSource
from satchel.sources._memory import MemorySource


def open_resource(package: str, folder: str, limits: Limits) -> SkillSource:
    """Return a source for ``folder`` of ``package``; see `satchel.sources.resource`."""
    label = f"{package}:{folder}"
    try:
        top = files(package).joinpath(folder)
        if not top.is_dir():
            raise SourceUnavailableError(label, "the package has no such folder")
    except (ImportError, OSError) as error:
        raise SourceUnavailableError(label, str(error)) from error
    if isinstance(top, os.PathLike):
        path: str | os.PathLike[str] = top
        return LocalSource(
            path, label=label, shown=f"{package}/{folder}", limits=limits
        )
    packs = dict(_packs(top, "", limits.scan_depth))
    return MemorySource(packs, label=label, limits=limits)


def _packs(
    top: Traversable, key: str, depth: int
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the packs below a folder, each with all of its bytes.

    A zip file does not change while it is in use, so it is read once.
    """
    inner = list(top.iterdir())
    if any(each.name == SKILL_FILE and each.is_file() for each in inner):
        yield key or top.name, dict(_files(top, ""))
    elif depth:
        for each in inner:
            if each.is_dir() and not is_excluded_file(each.name):
                below = f"{key}/{each.name}" if key else each.name
                yield from _packs(each, below, depth - 1)


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _files(each, f"{prefix}{each.name}/")
        else:
            yield prefix + each.name, each.read_bytes()
