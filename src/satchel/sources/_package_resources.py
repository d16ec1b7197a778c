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
    """Yield the packs below a folder, each with all of its bytes."""
    inner = list(top.iterdir())
    if any(item.name == SKILL_FILE and item.is_file() for item in inner):
        # Read once: a zip file does not change while it is in use.
        yield key or top.name, dict(_files(top, ""))
    elif depth:
        for item in inner:
            if item.is_dir() and not is_excluded_file(item.name):
                below = f"{key}/{item.name}" if key else item.name
                yield from _packs(item, below, depth - 1)


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _files(item, f"{prefix}{item.name}/")
        else:
            yield prefix + item.name, item.read_bytes()
