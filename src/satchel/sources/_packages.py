"""Packs of installed packages: in folders ``.agents/skills``, and by entry points."""

import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import (
    Distribution,
    EntryPoint,
    PackageNotFoundError,
    distributions,
    entry_points,
)
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from satchel.errors import SourceUnavailableError
from satchel.model import DEFAULT_LIMITS, Finding, Found, Limits
from satchel.products import import_product
from satchel.protocols import LegacySource, SkillSource
from satchel.sources._local import LocalSource
from satchel.sources._memory import MemorySource
from satchel.sources._wrappers import SourceWrapper

# Entry-point groups: ours, and that of the earlier system.
GROUPS: Final = ("satchel.skill_sources", "bernstein.skill_sources")

_log: Final = logging.getLogger("satchel")


class PluginSource(SourceWrapper):
    """A source that an entry point gave, under a label that says so."""

    def __init__(self, source: SkillSource, label: str) -> None:
        super().__init__(source)
        self._label = label

    @property
    def label(self) -> str:
        """``plugin:`` and a name, different for each plug-in."""
        return self._label


class SkippedPlugins(MemorySource):
    """No pack, and a finding for each plug-in that was left out."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__(label="plugins")
        self._findings = tuple(findings)

    def scan(self) -> tuple[Found | Finding, ...]:
        return self._findings


@dataclass(frozen=True, slots=True)
class Plugins:
    """What the entry points gave; ``distributions`` names all that have any."""

    sources: tuple[SkillSource, ...]
    findings: tuple[Finding, ...]
    distributions: frozenset[str]


def normal_distribution_name(distribution: str) -> str:
    """Return the one spelling of a distribution's name, for comparing (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def load_plugins(
    *,
    deny: Collection[str] = (),
    only: Collection[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Plugins:
    """Open the entry points that are there now, sorted by name.

    The arguments are those of `satchel.sources.packages`.
    """
    names = None if only is None else set(map(normal_distribution_name, only))
    denied = {*deny, *map(normal_distribution_name, deny)}
    sources: dict[str, SkillSource] = {}
    findings: list[Finding] = []
    owners: set[str] = set()
    for point in _points():
        owner = normal_distribution_name(point.dist.name) if point.dist else ""
        if names is not None and owner not in names:
            continue
        owners.add(owner)
        if denied & {point.name, f"plugin:{point.name}", owner}:
            continue
        try:
            source = _open_entry_point(point, sources, limits)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            _log.warning("skill source plug-in %r was skipped: %s", point.name, error)
            findings.append(_skipped(point.name, owner, error))
            continue
        if source.label not in denied:
            sources[source.label] = source
    return Plugins(tuple(sources.values()), tuple(findings), frozenset(owners))


def _points() -> list[EntryPoint]:
    """Return the entry points of both groups; one registered in both counts once."""
    # Ours comes last, so that it is the one kept for an entry in both groups.
    points = {
        (point.name, point.value): point
        for group in reversed(GROUPS)
        for point in entry_points(group=group)
    }
    return [points[key] for key in sorted(points)]


def _open_entry_point(
    point: EntryPoint, taken: Collection[str], limits: Limits
) -> SkillSource:
    made: object = point.load()
    ready = not isinstance(made, type) and isinstance(made, (SkillSource, LegacySource))
    if callable(made) and not ready:
        made = made()
    own = f"plugin:{point.name}"
    if isinstance(made, SkillSource):
        label = made.label if made.label.startswith("plugin:") else own
        return PluginSource(made, _free(label, point, taken))
    if isinstance(made, LegacySource):
        compat = import_product("satchel_compat", "a source of an earlier system")
        own = _free(own, point, taken)
        older: SkillSource = compat.LegacySourceAdapter(made, label=own, limits=limits)
        return older
    kind = type(made).__name__
    raise TypeError(f"expected a skill source or what makes one; got {kind}")


def _free(label: str, point: EntryPoint, taken: Collection[str]) -> str:
    """Return ``label``, or a longer one where it is taken."""
    return label if label not in taken else f"plugin:{point.name}={point.value}"


def _skipped(name: str, distribution: str, error: BaseException) -> Finding:
    origin = f" of {distribution}" if distribution else ""
    return Finding.of(
        "plugin-skipped",
        f"plugin:{name}",
        name=name,
        origin=origin,
        kind=type(error).__name__,
        error=error,
    )


_FOLDER: Final = ".agents/skills"
_IN_RECORD: Final = re.compile(
    r'^"?((?:[^",\n]*/)?\.agents/skills(?:/[^",\n]*)?)/SKILL\.md"?,', re.MULTILINE
)


class InstalledSource(LocalSource):
    """The packs that the RECORD of one distribution lists, and no others."""

    is_editable = False

    def __init__(
        self, root: str, starts: tuple[str, ...], *, label: str, limits: Limits
    ) -> None:
        """Take where packages are installed, and the folders to search below that."""
        super().__init__(root, label=label, shown=label, limits=limits)
        self._starts = starts


def package(name: str, *, limits: Limits = DEFAULT_LIMITS) -> LocalSource:
    """Make a source of the skills that one installed distribution brings along.

    These are the packs in its folders ``.agents/skills``, at its top or in a package.

    Raises:
        SourceUnavailableError: It is not installed, or brings none.
    """
    try:
        source = _open_distribution(Distribution.from_name(name), limits)
    except (PackageNotFoundError, ValueError) as error:
        detail = "no distribution of this name is installed"
        raise SourceUnavailableError(name, detail) from error
    if source is None:
        raise SourceUnavailableError(name, f"it comes without a folder {_FOLDER}")
    return source


def packages(
    *,
    only: Collection[str] | None = None,
    deny: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> list[SkillSource]:
    """Make sources of the skills that all installed distributions bring along.

    Besides those of `package` these are the entry points of `load_plugin_sources`;
    one that is broken is a finding.

    Args:
        only: Names of distributions; each must be installed and bring skills along.
        deny: Names of entry points or distributions, or labels, to leave out.
        limits: Bounds on what is accepted.

    Raises:
        SourceUnavailableError: One of ``only`` brings none.
    """
    plugins = load_plugins(deny=deny, only=only, limits=limits)
    denied = {normal_distribution_name(name) for name in deny}
    folders: list[SkillSource] = []
    if only is None:
        folders += _open_all(denied, limits)
    for name in only or ():
        try:
            folders.append(package(name, limits=limits))
        except SourceUnavailableError:
            if normal_distribution_name(name) not in plugins.distributions:
                raise
    skipped = [SkippedPlugins(plugins.findings)] if plugins.findings else []
    return [*folders, *plugins.sources, *skipped]


def _open_all(denied: Collection[str], limits: Limits) -> list[InstalledSource]:
    """Return a source for each distribution with such packs, by name."""
    seen: dict[str, InstalledSource | None] = {}
    for distribution in distributions():
        metadata = distribution.metadata
        # Of one without a name there is nothing to say, and later Pythons raise for it.
        name = normal_distribution_name(metadata["Name"]) if "Name" in metadata else ""
        # Of two with one name the first on `sys.path` counts: it would be imported.
        if name and name not in seen and name not in denied:
            seen[name] = _open_distribution(distribution, limits)
    return [source for _, source in sorted(seen.items()) if source is not None]


def _open_distribution(
    distribution: Distribution, limits: Limits
) -> InstalledSource | None:
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
    # Others write this file: it must not name a folder outside of the installation.
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
    for name in names or [
        normal_distribution_name(distribution.metadata["Name"]).replace("-", "_")
    ]:
        spec = find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            package = Path(folder)
            if (package / _FOLDER).is_dir():
                yield str(package.parent), f"{package.name}/{_FOLDER}"


def load_plugin_sources(
    *, deny: Collection[str] = (), limits: Limits = DEFAULT_LIMITS
) -> list[SkillSource]:
    """Make the sources that installed packages register as entry points.

    The groups ``satchel.skill_sources`` and ``bernstein.skill_sources`` are looked up
    at each call. An entry gives a source, or a callable without arguments that does;
    objects with ``name``, ``iter_skills`` and ``read_*`` will do. One that fails is
    logged as a warning, and skipped.

    Args:
        deny: Names of entry points or distributions, or labels, to leave out.
        limits: Bounds on what is accepted.
    """
    return list(load_plugins(deny=deny, limits=limits).sources)


def resource(
    package: str, folder: str = "skills", *, limits: Limits = DEFAULT_LIMITS
) -> SkillSource:
    """Make a source of a folder inside a Python package, which is imported.

    Raises:
        SourceUnavailableError: There is no such package, or no such folder in it.
    """
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


def roles(*, limits: Limits = DEFAULT_LIMITS) -> SkillSource:
    """Make a source of the packs for 17 roles of a team that come with Satchel.

    ``only(roles(), ["backend", "qa"])`` takes some of them. They are also an example of
    packs in the public dialect: docs/reference/role-packs.md.
    """
    return resource("satchel", "packs", limits=limits)
