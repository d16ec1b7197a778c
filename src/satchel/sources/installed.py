"""Packs that came with installed Python packages, in folders called .agents/skills."""

import os
import re
from collections.abc import Collection, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from satchel.errors import SourceUnavailableError
from satchel.model import Limits
from satchel.protocols import SkillSource
from satchel.sources._search import Search
from satchel.sources.local import LocalSource
from satchel.sources.plugins import SkippedPlugins, load_plugins, normal_name

__all__ = ["InstalledSource", "installed", "packaged"]

_FOLDER: Final = ".agents/skills"
_IN_RECORD: Final = re.compile(
    r'^"?((?:[^",\n]*/)?\.agents/skills(?:/[^",\n]*)?)/SKILL\.md"?,', re.MULTILINE
)


class InstalledSource(LocalSource):
    """The packs of one distribution, and none of another in the same folders.

    Which packs those are is what its RECORD says; what a pack holds is looked up in
    the folder.
    """

    def __init__(
        self, root: str, starts: tuple[str, ...], *, label: str, limits: Limits
    ) -> None:
        """Take where packages are installed, and the folders to search below that."""
        super().__init__(root, label=label, shown=label, limits=limits)
        self._starts = starts

    def _search(self) -> Search:
        search = super()._search()
        search.starts = self._starts
        return search


def installed(name: str, limits: Limits) -> InstalledSource:
    """Return a source for one distribution; see `satchel.sources.package`."""
    try:
        source = _open(Distribution.from_name(name), limits)
    except (PackageNotFoundError, ValueError) as error:
        detail = "no distribution of this name is installed"
        raise SourceUnavailableError(name, detail) from error
    if source is None:
        raise SourceUnavailableError(name, f"it comes without a folder {_FOLDER}")
    return source


def packaged(
    only: Collection[str] | None, deny: Collection[str], limits: Limits
) -> list[SkillSource]:
    """Return the sources of installed packages; see `satchel.sources.packages`."""
    plugins = load_plugins(deny=deny, only=only, limits=limits)
    denied = {normal_name(name) for name in deny}
    folders: list[SkillSource] = []
    if only is None:
        folders += _all(denied, limits)
    for name in only or ():
        try:
            folders.append(installed(name, limits))
        except SourceUnavailableError:
            if normal_name(name) not in plugins.distributions:
                raise
    skipped = [SkippedPlugins(plugins.findings)] if plugins.findings else []
    return [*folders, *plugins.sources, *skipped]


def _all(denied: Collection[str], limits: Limits) -> list[InstalledSource]:
    """Return a source for each distribution with such packs, by name.

    Of two installed distributions of one name the first on ``sys.path`` counts, which
    is the one that would be imported.
    """
    seen: dict[str, InstalledSource | None] = {}
    for each in distributions():
        name = normal_name(each.metadata["Name"] or "")
        if name and name not in seen and name not in denied:
            seen[name] = _open(each, limits)
    return [source for _, source in sorted(seen.items()) if source is not None]


def _open(distribution: Distribution, limits: Limits) -> InstalledSource | None:
    label = f"{distribution.metadata['Name']}=={distribution.version}"
    record = distribution.read_text("RECORD") or ""
    starts = tuple(_recorded(record)) if _FOLDER in record else ()
    root = distribution.locate_file("")
    if starts and isinstance(root, os.PathLike):
        return InstalledSource(os.fspath(root), starts, label=label, limits=limits)
    for place, start in _editable(distribution):
        return InstalledSource(place, (start,), label=label, limits=limits)
    return None


def _recorded(record: str) -> Iterator[str]:
    """Yield the packs of a RECORD, none of them inside another."""
    last = "\0"
    for folder in sorted(set(_IN_RECORD.findall(record))):
        if ".." not in folder.split("/") and not folder.startswith(("/", f"{last}/")):
            last = folder
            yield folder


def _editable(distribution: Distribution) -> Iterator[tuple[str, str]]:
    """Yield where the packages of an editable installation have their packs."""
    if '"editable": true' not in (distribution.read_text("direct_url.json") or ""):
        return
    names = (distribution.read_text("top_level.txt") or "").split()
    for name in names or [normal_name(distribution.metadata["Name"]).replace("-", "_")]:
        spec = find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            package = Path(folder)
            if (package / _FOLDER).is_dir():
                yield str(package.parent), f"{package.name}/{_FOLDER}"
