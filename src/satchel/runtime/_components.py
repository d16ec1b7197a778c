"""What a Satchel is made of: each component when it is first needed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from satchel.catalog import ParseOptions, Registry
from satchel.model import (
    Catalog,
    Finding,
    SyncReport,
)
from satchel.policy import Policy
from satchel.protocols import Clock, TokenCounter, UsageSink
from satchel.runtime._findings import library_findings
from satchel.runtime._options import Options
from satchel.runtime._sections import PromptSections, PromptSnapshots

if TYPE_CHECKING:
    from satchel.agent import Skill
    from satchel.protocols import UsedApprovals
    from satchel.runtime._background_sync import BackgroundSync
    from satchel.runtime._finding_log import FindingLog
    from satchel.runtime._staging import LocalStager
    from satchel.runtime._tool_registry import ToolRegistry
    from satchel.search import SegmentRanker
    from satchel.usage import UsageEvents


@dataclass(eq=False)
class Components:
    """What a Satchel is made of.

    ``sinks`` None is what ``environ`` chooses; ``named`` are the labels of folders that
    the user named; ``advice`` is what to do if nothing says which skills are meant.
    """

    registry: Registry
    accept: ParseOptions
    policy: Policy
    counter: TokenCounter
    clock: Clock
    sections: PromptSections
    options: Options
    tools: tuple[object, ...]
    skills: "Sequence[Skill]"
    sinks: tuple[UsageSink, ...] | None
    environ: Mapping[str, str]
    named: frozenset[str]
    advice: str

    def __post_init__(self) -> None:
        self._log: FindingLog | None = None
        self.snapshots = PromptSnapshots()
        self.findings: tuple[Finding, ...] = ()
        """Those of the last sync, whatever tools are offered."""
        self._published: Catalog | None = None
        self.looked: Catalog | None = None
        self.scripts_warned = False
        self.listeners: list[Callable[[SyncReport], None]] = []
        # Made now, so that a wrong variable or a clash of tools is an error at once.
        if self.sinks is None:
            _ = self.usage_events
        if self.tools or any(skill.tools for skill in self.skills):
            _ = self.tool_registry

    def sync(self, only: str | None = None) -> SyncReport:
        report = self.registry.sync(only)
        self._publish(report)
        return report

    def apply_late_answers(self) -> None:
        report = self.registry.apply_late_answers()
        if report is not None:
            self._publish(report)

    def _publish(self, report: SyncReport) -> None:
        """Log what is wrong now, and tell the sinks and the listeners of a sync."""
        # An empty tuple says "no sinks": then `usage` is not even imported.
        if self.sinks != ():
            self.usage_events.forget_owners()
            self.usage_events.record_catalog(report.added)
        if self._published is not self.registry.latest:
            self._published = self.registry.latest
            self.findings = self.library_findings()
            if self.findings or self._log:
                from satchel.runtime._finding_log import FindingLog

                self._log = self._log or FindingLog()
                self._log.write(self.findings)
        for listener in tuple(self.listeners):  # one may take itself off
            listener(report)

    def library_findings(self) -> tuple[Finding, ...]:
        return library_findings(self.registry, self.named, self.policy, self.advice)

    def observe(self) -> None:
        """Tell the sinks, if there are any, which skills are listed."""
        if self.sinks != ():
            self.usage_events.record_catalog()

    def close(self) -> None:
        """Close sources, staged files and sinks; a second call does nothing."""
        # A look at __dict__: what was never needed is not made to be closed. Syncs end
        # first, since they use the sources.
        if "resync" in self.__dict__:
            self.resync.close()
        self.registry.close()
        if "search" in self.__dict__:
            self.search.close()
        if "usage_events" in self.__dict__:
            self.usage_events.sinks.flush()
            if self.sinks is None:
                self.usage_events.sinks.close()
        if "stager" in self.__dict__:
            self.stager.close()

    @cached_property
    def search(self) -> "SegmentRanker":
        """The ranker that is used where none was given."""
        from satchel.search import SegmentRanker

        index = self.registry.index
        if index is None:
            return SegmentRanker()
        return SegmentRanker(index.segments, index.fewest)

    @cached_property
    def tool_registry(self) -> "ToolRegistry":
        from satchel.runtime._tool_registry import ToolRegistry

        return ToolRegistry(self.tools, self.skills)

    @cached_property
    def stager(self) -> "LocalStager":
        from satchel.runtime._staging import LocalStager

        return LocalStager()

    @cached_property
    def used_approvals(self) -> "UsedApprovals":
        from pathlib import Path

        from satchel.runtime import _used_approvals
        from satchel.usage import state_file

        return _used_approvals.used_approvals(self.environ, Path(state_file()).parent)

    @cached_property
    def resync(self) -> "BackgroundSync":
        from satchel.runtime._background_sync import BackgroundSync

        return BackgroundSync(self.sync)

    @cached_property
    def usage_events(self) -> "UsageEvents":
        from satchel.usage import OwnerLookup, Sinks, UsageEvents, owned_sinks

        given = self.sinks
        return UsageEvents(
            owned_sinks(self, self.environ) if given is None else Sinks(given),
            self.clock,
            self.counter,
            OwnerLookup(lambda: self.registry.sources),
            lambda: self.registry.catalog,
        )
