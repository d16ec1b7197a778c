"""Packs in a folder of a Python package."""

import os

from satchel.errors import SourceUnavailableError
from satchel.model import Limits
from satchel.products import import_product
from satchel.protocols import SkillSource
from satchel.sources._local import LocalSource


def open_resource(package: str, folder: str, limits: Limits) -> SkillSource:
    """Return a source for ``folder`` of ``package``; see `satchel.sources.resource`."""
    from importlib.resources import files

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
    archives = import_product("satchel_store.archives", "a package in a zip file")
    # Read once: a zip file does not change while it is in use.
    files_in_zip = dict(archives.files_in(top))
    source: SkillSource = archives.TreeSource(
        files_in_zip, top.name, label=label, limits=limits
    )
    return source
