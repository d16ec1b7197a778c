"""SkillLoader: the eager, strict front that users of role packs know."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from satchel.catalog import Registry, duplicate_error
from satchel.catalog.assemble import Rules
from satchel.catalog.entry import Acceptance
from satchel.errors import (
    DuplicateSkillError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.load import load
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Limits,
    Loaded,
    Request,
)
from satchel.model.limits import DEFAULT_LIMITS
from satchel.protocols import SkillSource
from satchel.runtime.findings import unanswered
from satchel.runtime.rereading import with_current
from satchel.runtime.time import SystemClock
from satchel.sources import load_plugin_sources
from satchel.sources.duck import DuckSource, OlderSource, as_source
from satchel.spec import Profile, parse

__all__ = ["LoadedSkill", "SkillLoader", "duplicate_with_switch"]


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """One skill as a whole, its body included."""

    name: str
    description: str
    body: str = field(repr=False)
    references: tuple[str, ...]
    scripts: tuple[str, ...]
    assets: tuple[str, ...]
    origin: str
    source_name: str
    trigger_keywords: tuple[str, ...] = ()


class SkillLoader:
    """All skills of some sources, read at once; loud where anything is wrong.

    Unlike `satchel.Satchel` it refuses to exist over a broken pack of a first-party
    source or a name that two packs claim. Packs of installed plug-ins are included
    unless ``include_plugins`` is false; a broken one of these is left out, and stands
    in ``findings``. A source may be of the older protocol: with a ``name``,
    ``iter_skills()``, and as far as its skills have files ``read_reference``,
    ``read_script`` and ``read_asset``.

    Raises:
        TypeError: Something is no source.
        SkillManifestError: Packs cannot be used; names each of them.
        DuplicateSkillError: Two packs claim one name; names both, and a plug-in with
            the switch that leaves it out.
    """

    def __init__(
        self,
        sources: Iterable[SkillSource | OlderSource] = (),
        *,
        include_plugins: bool = True,
        deny: Iterable[str] = (),
        profile: Profile = "strict",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Read every pack."""
        first_party = tuple(as_source(each, limits=limits) for each in sources)
        plugins: Sequence[SkillSource] = (
            load_plugin_sources(deny=tuple(deny)) if include_plugins else ()
        )
        self._profile: Profile = profile
        self._limits = limits
        self._registry = Registry(
            (*first_party, *plugins),
            accept=Acceptance(profile=profile, limits=limits),
            rules=Rules(),
            clock=SystemClock(),
        )
        self._ours = frozenset(list(self._registry.sources)[: len(first_party)])
        self._reload()

    @property
    def catalog(self) -> Catalog:
        """The catalog of all that was read."""
        return self._registry.catalog

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What did not answer, was repaired, left out, or is worth knowing."""
        latest = self._registry.latest
        return (*unanswered(latest), *latest.findings)

    def get(self, name: str) -> LoadedSkill:
        """Return one skill, its body read anew.

        Raises:
            SkillNotFoundError: No skill of exactly this name.
        """
        loaded = self.load(Request(name))
        parsed = parse(loaded.data, profile=self._profile, limits=self._limits)
        keywords = parsed.manifest.trigger_keywords if parsed.manifest else ()
        entry = loaded.descriptor
        return LoadedSkill(
            entry.id,
            entry.description,
            loaded.body,
            _names(entry.references, "references/"),
            _names(entry.scripts, "scripts/"),
            _names(entry.assets, "assets/"),
            entry.origin.location,
            entry.source,
            keywords,
        )

    def has(self, name: str) -> bool:
        """Tell whether exactly this skill is there."""
        return name in self.catalog

    def list_all(self) -> list[LoadedSkill]:
        """Return every skill, by name."""
        return [self.get(entry.id) for entry in self.catalog]

    def __iter__(self) -> Iterator[Descriptor]:
        """Iterate over the descriptors, by name."""
        return iter(self.catalog)

    def __len__(self) -> int:
        """Return how many skills there are."""
        return len(self.catalog)

    def find_source_for(self, name: str) -> SkillSource | OlderSource:
        """Return the source that a skill came from, as it was given.

        Raises:
            SkillNotFoundError: No skill of exactly this name.
        """
        entry = self.catalog.get(name)
        if entry is None:
            raise SkillNotFoundError(name)
        source = self._registry.sources[entry.source]
        return source.older if isinstance(source, DuckSource) else source

    def load(self, request: Request) -> Loaded:
        """Load what is asked for, by the one read path.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
        """
        return with_current(
            self._registry,
            lambda: self.catalog,
            request.id,
            lambda here: load(here, request, limits=self._limits),
        )

    def read_reference(self, name: str, reference: str) -> str:
        """Return a reference's text; see `load` for the errors."""
        return self.load(Request(name, f"references/{reference}")).text

    def read_script(self, name: str, script: str) -> str:
        """Return a script's text, never run; see `load` for the errors."""
        return self.load(Request(name, f"scripts/{script}")).text

    def _reload(self) -> None:
        self._registry.sync()
        latest = self._registry.latest
        broken = [
            f"{held.descriptor.origin.location}/{SKILL_FILE}"
            for held in latest.withheld
            if held.reason == "refused" and held.descriptor.source in self._ours
        ]
        if broken:
            raise _unusable(broken, latest.findings)
        if latest.unresolved:
            raise duplicate_with_switch(latest.unresolved[0], self._ours)


def _unusable(paths: Sequence[str], findings: Iterable[Finding]) -> SkillManifestError:
    """Return one error of all packs that cannot be used; it says each path once."""
    wrong: dict[str, list[Finding]] = {path: [] for path in paths}
    for each in findings:
        if each.severity == "error" and each.path in wrong:
            wrong[each.path].append(each)
    first, *others = (
        SkillManifestError(path, _told(its), its[0].line if its else None)
        for path, its in wrong.items()
    )
    detail = "; ".join((first.detail, *map(str, others)))
    return SkillManifestError(first.path, detail, first.line)


def _told(findings: Iterable[Finding]) -> str:
    return "; ".join(
        f"{each.message} ({each.fix})" if each.fix else each.message
        for each in findings
    )


def duplicate_with_switch(
    conflict: Conflict, ours: Collection[str]
) -> DuplicateSkillError:
    """Return the error for a conflict, with a way out that a loader has.

    That is a plug-in's switch (X24), where one of the owners is a plug-in.

    Args:
        conflict: The id, and who claims it.
        ours: Labels of the sources that are no plug-ins.
    """
    error = duplicate_error(conflict)
    plugins = [o.source for o in conflict.owners if o.source not in ours]
    fix = (
        f"leave the plug-in out with deny=[{plugins[0]!r}], or all of them "
        "with include_plugins=False (--no-plugins)"
        if plugins
        else "rename one, or put a prefix in front of the ids of one source: "
        'satchel.sources.prefixed(source, "mine-")'
    )
    return type(error)(error.skill_name, error.first_origin, error.second_origin, fix)


def _names(paths: tuple[str, ...], bucket: str) -> tuple[str, ...]:
    return tuple(path.removeprefix(bucket) for path in paths)
