"""What a Satchel is made of: each part when it is first needed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from satchel.catalog import Registry
from satchel.catalog.entry import Acceptance
from satchel.model import Catalog, Hit, SyncReport
from satchel.policy import Policy
from satchel.protocols import Clock, Ranker, TokenCounter, UsageSink
from satchel.runtime.conversation.editions import Editions
from satchel.runtime.sections import Sections

if TYPE_CHECKING:  # each costs start-up time, and most programs need few of them
    from satchel.protocols import UsedApprovals
    from satchel.runtime.conversation.reading import Reading
    from satchel.runtime.conversation.shelf import Shelf
    from satchel.runtime.loading import LoadPath
    from satchel.runtime.offers import Offers
    from satchel.runtime.resyncing import Resync
    from satchel.runtime.staging import LocalStager, Stager
    from satchel.runtime.telling import Telling
    from satchel.skill import Skill

__all__ = ["Parts"]


@dataclass(eq=False)
class Parts:
    """The parts that stand behind the front door.

    ``sinks`` are those that were given; None is what ``environ`` says. ``tools`` and
    ``skills`` are what tools are offered from.
    """

    registry: Registry
    accept: Acceptance
    policy: Policy
    counter: TokenCounter
    clock: Clock
    sections: Sections
    ranker: Ranker | None
    tools: tuple[object, ...]
    skills: "Sequence[Skill]"
    sinks: tuple[UsageSink, ...] | None
    environ: Mapping[str, str]

    def __post_init__(self) -> None:
        """Make what may be refused here and now.

        Raises:
            ConfigError: ``SATCHEL_USAGE`` says nothing that is known.
            DuplicateToolError: Two tools have one name.
        """
        self._editions = Editions()
        self.listeners: list[Callable[[SyncReport], None]] = []
        if self.sinks is None:
            _ = self.telling
        if self.tools or any(skill.tools for skill in self.skills):
            _ = self.offers

    def catalog(self) -> Catalog:
        """Return the catalog in use, which a sync replaces."""
        return self.registry.catalog

    def sync(self, only: str | None = None) -> SyncReport:
        """Look at the sources again, or at the one of this label; tell who listens."""
        return self._synced(self.registry.sync(only))

    def take_late(self) -> None:
        """Use what sources answered after nobody waited for them; tell who listens."""
        report = self.registry.take_late()
        if report is not None:
            self._synced(report)

    def _synced(self, report: SyncReport) -> SyncReport:
        self.observe(report.added, anew=True)
        for synced in tuple(self.listeners):
            synced(report)
        return report

    def observe(self, added: tuple[str, ...] = (), *, anew: bool = False) -> None:
        """Tell the sinks, if there are any, what is on offer.

        ``anew`` says that it may belong to others than before.
        """
        if self.sinks == ():
            return
        if anew:
            self.telling.forget()
        self.telling.synced(added)

    def close(self) -> None:
        """Let go of sources, staged files and sinks; a second call does nothing."""
        if "resync" in self.__dict__:
            self.resync.close()
        self.registry.close()
        if "telling" in self.__dict__:
            self.telling.sinks.flush()
            if self.sinks is None:
                self.telling.sinks.close()
        if "stager" in self.__dict__:
            self.stager.close()

    @property
    def listed(self) -> Catalog:
        """What may be listed for nobody in particular."""
        return self.anybody.listed if self.policy.rules else self.registry.catalog

    def find(self, query: str, k: int) -> list[Hit]:
        """Return the best ``k`` skills for nobody in particular."""
        return (self.anybody.find if self.policy.rules else self.rank)(query, k)

    def rank(self, query: str, k: int) -> list[Hit]:
        """Return the best ``k`` skills, whoever may find them."""
        if self.ranker is None:
            from satchel.search import FtsRanker

            self.ranker = FtsRanker()
        return list(self.ranker.rank(self.registry.catalog, query, k))

    def stager_for(self, stage: "Stager | bool") -> "Stager | None":
        """Return who copies files; True is the one of this machine."""
        if isinstance(stage, bool):
            return self.stager if stage else None
        return stage

    @cached_property
    def offers(self) -> "Offers":
        """The tools that skills may name."""
        from satchel.runtime.offers import Offers

        return Offers(self.tools, self.skills)

    @cached_property
    def stager(self) -> "LocalStager":
        """Copies files to a private folder of this machine."""
        from satchel.runtime.staging import LocalStager

        return LocalStager()

    @cached_property
    def shelf(self) -> "Shelf":
        """What sessions and views stand on."""
        from satchel.runtime.conversation.shelf import Shelf
        from satchel.runtime.manifests import manifest_of

        return Shelf(
            catalog=self.catalog,
            render=self.sections.render,
            load=self.load,
            find=self.rank,
            manifest=lambda loaded: manifest_of(loaded, self.accept),
            offers=self.offers,
            policy=self.policy,
            editions=self._editions,
            counter=self.counter,
            clock=self.clock,
            local_stager=lambda: self.stager,
            may_exist=self.registry.may_exist,
            used=lambda: self.used,
        )

    @cached_property
    def used(self) -> "UsedApprovals":
        """Where approvals are noted once they are used."""
        from pathlib import Path

        from satchel.session.used import used_in
        from satchel.usage.state import state_file

        return used_in(self.environ, Path(state_file()).parent)

    @cached_property
    def anybody(self) -> "Reading":
        """What may be listed and found without a session: ``who`` is empty (R20)."""
        from satchel.runtime.conversation.gate import Gate
        from satchel.runtime.conversation.reading import Reading
        from satchel.runtime.conversation.settings import Settings
        from satchel.session.approvals import Approvals

        gate = Gate(self.policy, Approvals(), {})
        return Reading(self.shelf, Settings(), gate)

    @cached_property
    def load(self) -> "LoadPath":
        """The one read path, with the events of it."""
        from satchel.runtime.loading import LoadPath

        return LoadPath(
            self.telling,
            self.clock,
            self.accept.limits,
            self.policy,
            registry=self.registry,
            edited=self.resync.ask,
        )

    @cached_property
    def resync(self) -> "Resync":
        """What syncs a source in the background after an edit was seen in it."""
        from satchel.runtime.resyncing import Resync

        return Resync(self.sync)

    @cached_property
    def telling(self) -> "Telling":
        """What makes events of use; made only where there may be sinks."""
        from satchel.runtime.owners import Owners
        from satchel.runtime.telling import Telling, owned_sinks
        from satchel.usage import Sinks

        given = self.sinks
        return Telling(
            owned_sinks(self, self.environ) if given is None else Sinks(given),
            self.clock,
            self.counter,
            Owners(lambda: self.registry.sources),
            self.catalog,
        )
