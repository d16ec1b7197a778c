"""Sources that installed packages register as entry points."""

import logging
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from satchel.model import DEFAULT_LIMITS, Finding, Found, Limits
from satchel.protocols import SkillSource
from satchel.sources.duck import DuckSource, OlderSource
from satchel.sources.in_memory import MemorySource
from satchel.sources.wrap import Wrapped

__all__ = [
    "GROUPS",
    "PluginSource",
    "Plugins",
    "SkippedPlugins",
    "load_plugins",
    "normal_name",
]

GROUPS: Final = ("satchel.skill_sources", "bernstein.skill_sources")
"""Entry-point groups: ours, and that of the earlier system."""

_log: Final = logging.getLogger("satchel")


class PluginSource(Wrapped):
    """A source that an entry point gave, under a label that says so."""

    def __init__(self, source: SkillSource, label: str) -> None:
        """Give the source its label."""
        super().__init__(source)
        self._label = label

    @property
    def label(self) -> str:
        """``plugin:`` and a name, different for each plug-in."""
        return self._label


class SkippedPlugins(MemorySource):
    """No pack, and a finding for each plug-in that was left out."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        """Keep what is to be told."""
        super().__init__(label="plugins")
        self._findings = tuple(findings)

    def scan(self) -> tuple[Found | Finding, ...]:
        """Return the findings."""
        return self._findings


@dataclass(frozen=True, slots=True)
class Plugins:
    """What the entry points gave; ``distributions`` names all that have any."""

    sources: tuple[SkillSource, ...]
    findings: tuple[Finding, ...]
    distributions: frozenset[str]


def normal_name(distribution: str) -> str:
    """Return the one spelling of a distribution's name, for comparing (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def load_plugins(
    *,
    deny: Collection[str] = (),
    only: Collection[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Plugins:
    """Enumerate the entry points now, and open each; sorted by name.

    One that does not open is logged and told, and costs nobody else anything.

    Args:
        deny: Names of entry points or distributions, or labels, to leave out.
        only: Names of distributions to take; None is all.
        limits: Bounds for sources of the older protocol.
    """
    wanted = None if only is None else set(map(normal_name, only))
    denied = {*deny, *map(normal_name, deny)}
    sources: dict[str, SkillSource] = {}
    findings: list[Finding] = []
    owners: set[str] = set()
    for point in _points():
        owner = normal_name(point.dist.name) if point.dist else ""
        if wanted is not None and owner not in wanted:
            continue
        owners.add(owner)
        if denied & {point.name, f"plugin:{point.name}", owner}:
            continue
        try:
            source = _open(point, sources, limits)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's own: R33
            _log.warning("skill source plug-in %r was skipped: %s", point.name, error)
            findings.append(_skipped(point.name, owner, error))
            continue
        if source.label not in denied:
            sources[source.label] = source
    return Plugins(tuple(sources.values()), tuple(findings), frozenset(owners))


def _points() -> list[EntryPoint]:
    """Return the entry points of both groups; one registered in both counts once."""
    points = {
        (point.name, point.value): point
        for group in reversed(GROUPS)
        for point in entry_points(group=group)
    }
    return [points[key] for key in sorted(points)]


def _open(point: EntryPoint, taken: Collection[str], limits: Limits) -> SkillSource:
    made: object = point.load()
    ready = not isinstance(made, type) and isinstance(made, (SkillSource, OlderSource))
    if callable(made) and not ready:
        made = made()
    own = f"plugin:{point.name}"
    if isinstance(made, SkillSource):
        label = made.label if made.label.startswith("plugin:") else own
        return PluginSource(made, _free(label, point, taken))
    if isinstance(made, OlderSource):
        return DuckSource(made, label=_free(own, point, taken), limits=limits)
    message = f"it gave {type(made).__name__}, want a skill source or what makes one"
    raise TypeError(message)


def _free(label: str, point: EntryPoint, taken: Collection[str]) -> str:
    """Return ``label``, or a longer one where it is taken."""
    return label if label not in taken else f"plugin:{point.name}={point.value}"


def _skipped(name: str, distribution: str, error: BaseException) -> Finding:
    origin = f" of {distribution}" if distribution else ""
    return Finding(
        "plugin-skipped",
        "warning",
        f"plug-in {name!r}{origin} was skipped: {type(error).__name__}: {error}",
        f"plugin:{name}",
        fix="tell its author, or put it on the deny list",
    )
