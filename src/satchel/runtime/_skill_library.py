"""What a Satchel is apart from agents: a library of skills that is kept in sync."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

from satchel.catalog import Health, Registry
from satchel.files import tree_digest
from satchel.model import (
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Limits,
    Manifest,
    Request,
    Resource,
    SyncReport,
    joined_findings,
)
from satchel.policy import Policy
from satchel.products import import_product
from satchel.protocols import with_abilities
from satchel.runtime._components import Components

if TYPE_CHECKING:
    from satchel.protocols import Report
    from satchel.runtime._access import SkillAccess
    from satchel.runtime._background_sync import FolderWatch
    from satchel.usage import UsageState


class SkillLibrary:
    """Skills from some sources: what they are, what is wrong, and what changes.

    The part of `satchel.Satchel` that knows nothing of models.
    """

    registry: Registry
    policy: Policy
    _components: Components

    def __str__(self) -> str:
        from satchel.runtime._findings import summary

        return summary(self.registry, self._components.library_findings())

    def __repr__(self) -> str:
        from satchel.runtime._findings import contents

        return f"<{type(self).__name__}: {contents(self.catalog)}>"

    def __len__(self) -> int:
        return len(self.catalog)

    def __iter__(self) -> Iterator[Descriptor]:
        """Iterate over the skills that are listed, by id; the policy is not asked."""
        return iter(self.catalog)

    def __contains__(self, skill: object) -> bool:
        """Tell whether a skill is listed: by its id, or as iteration gives it."""
        if isinstance(skill, Descriptor):
            return self.catalog.get(skill.id) == skill
        return skill in self.catalog

    def __getitem__(self, skill_id: str) -> Descriptor:
        """Return what is known of a skill that `load` would load.

        That includes hidden and deprecated skills, which are not listed.

        Raises:
            SkillNotFoundError: No skill of exactly this id; a `KeyError`, too.
            SkillError: It cannot be loaded, as for `load`.
            TypeError: It is no id: skills have no numbers.
        """
        from satchel.load import look_up

        if not isinstance(cast("object", skill_id), str):
            kind = type(skill_id).__name__
            raise TypeError(f"expected the id of a skill; got {kind}")
        return look_up(self.catalog, skill_id)[0]

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        return self.registry.catalog

    @property
    def limits(self) -> Limits:
        """The bounds on what is accepted."""
        return self._components.accept.limits

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What could not be read, was repaired or is worth knowing; nothing is lost.

        All that is wrong with sources and skills is here; `conflicts`, `health`, `why`
        and ``print(skills)`` show parts of it. The last ones are tools that packs name
        and no one offers, and rules of the policy that raised.
        """
        latest, parts = self.registry.latest, self._components
        missing = parts.tool_registry.missing(latest) if latest.names_tools else ()
        more = (*missing, *self.policy.problems)
        return joined_findings((), parts.library_findings(), more)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The ids that several packs claim, the decided ones included."""
        return self.registry.latest.conflicts

    def check(self) -> "Report":
        """Return `findings`, and what ``satchel check`` says of each listed pack.

        Each pack is judged by the dialect that it is written in. Packs that are not
        listed have their reason in `findings`. Printed, it is a line for each finding.

        Raises:
            ProductMissingError: ``satchel_lab`` is not installed.
        """
        checking = import_product("satchel_lab.checking", "check()")
        latest = self.registry.latest
        report: Report = checking.check_catalog(latest, self.findings, self.limits)
        return report

    def offer(self, *tools: object) -> None:
        """Offer more tools to skills that name them.

        Each is a `satchel.tools.Tool`, a `Toolbox`, a plain function, a framework's
        own tool object, or a mapping of names to these. Sessions that are open see
        them at their next model call.

        Raises:
            DuplicateToolError: Two different tools share a name; names both owners.
        """
        self._components.tool_registry.add(*tools)

    def sync(self) -> SyncReport:
        """Look at every source again; return what changed. Never raises.

        What is not as it was asked for is logged, once for as long as it lasts.
        """
        return self._components.sync()

    def apply_late_answers(self) -> None:
        """Use what sources answered too late for a sync.

        It asks no source, and does nothing where there is no such answer.
        """
        self._components.apply_late_answers()

    def listen(self, synced: Callable[[SyncReport], None]) -> Callable[[], None]:
        """Call ``synced`` with the report of every later sync; return how to stop.

        That includes syncs in the background, which follow a load that found its pack
        edited. It is called in the thread that synced.
        """
        listeners = self._components.listeners
        listeners.append(synced)
        return lambda: listeners.remove(synced)

    def observe(self) -> None:
        """Tell the sinks once more what is on offer, without a look at the sources.

        A day counts as observed when this, a sync or a load happened on it; more than
        once a day changes nothing. A process that runs for days calls it every hour.
        """
        self._components.observe()

    @property
    def sink_failures(self) -> Mapping[str, int]:
        """How often sinks of usage events failed, by their class; no load failed."""
        return self._components.usage_events.sinks.failures

    @property
    def usage_state(self) -> "UsageState":
        """How many events of use are lost or wait, and why they are not kept now."""
        return self._components.usage_events.sinks.state

    def health(self) -> Health:
        """Return how each source is, and which ids are in conflict."""
        return self.registry.health()

    def manifest(self, skill_id: str) -> Manifest:
        """Return a skill's manifest as it is now.

        Raises:
            SkillManifestError: The source makes up manifests of files without one.
            SkillError: As for `load`.
        """
        loaded = self._access.read(Request(skill_id))
        return self._components.manifest_of(loaded)

    def resources(self, skill_id: str) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        One that the pack lists and does not hold is left out, here and of the digest.

        Raises:
            SkillError: No such skill, or a file cannot be read now.
        """
        registry = self.registry
        return self._access.current(
            skill_id,
            lambda _: registry.resources(registry.descriptor(skill_id)),
            check_missing=False,
        )

    def digest(self, skill_id: str) -> str:
        """Return the digest of the whole pack: ``sha256-tree-v1:`` and 64 hex digits.

        Raises:
            SkillError: No such skill, or a file cannot be read now.
        """
        return tree_digest(self.resources(skill_id))

    def watch(self, *, debounce_ms: int = 200) -> "FolderWatch":
        """Sync again whenever a file below a folder of the sources changes.

        Changes within ``debounce_ms`` milliseconds of one another are one sync. Call
        ``stop()`` on what is returned, or use it in a ``with``.

        Raises:
            ExtraMissingError: The extra ``watch`` is not installed.
        """
        from satchel.runtime._background_sync import FolderWatch

        # A folder that does not exist yet cannot be watched.
        return FolderWatch(self._roots, self.sync, debounce_ms=debounce_ms)

    @property
    def _roots(self) -> list[str]:
        """The folders that sources of this machine search, where they exist."""
        sources = map(with_abilities, self.registry.sources.values())
        roots = (source.root for source in sources)
        return [root for root in roots if root and os.path.isdir(root)]  # noqa: PTH112 - pathlib costs start-up time

    def close(self) -> None:
        """Let go of sources, staged files and sinks; a second call does nothing."""
        self._components.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @cached_property
    def _access(self) -> "SkillAccess":
        return self._access_for({})

    def _access_for(self, who: Mapping[str, object]) -> "SkillAccess":
        """Return what one user may list, find and load; no person is asked."""
        from satchel.runtime._access import SkillAccess
        from satchel.runtime._approvals import Authorizer
        from satchel.runtime._session_settings import SessionSettings

        authorizer = Authorizer(self.policy, who)
        return SkillAccess(self._components, SessionSettings(who=who), authorizer)

    @property
    def _listed(self) -> Catalog:
        return self._access.listed if self.policy.rules else self.registry.catalog


def findings_of_sync(skills: SkillLibrary) -> tuple[Finding, ...]:
    """Return the findings but those on tools and rules, for which packs are read."""
    return skills._components.findings  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - of the class above
