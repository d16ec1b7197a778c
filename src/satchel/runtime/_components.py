"""What a Satchel is made of: each component when it is first needed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from satchel.catalog import ParseOptions, Registry
from satchel.errors import SkillManifestError
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Finding,
    Hit,
    Loaded,
    Manifest,
    Rendered,
    Style,
    SyncReport,
)
from satchel.policy import Policy
from satchel.protocols import Clock, TokenCounter, UsageSink
from satchel.runtime._findings import FindingLog, library_findings
from satchel.runtime._options import Options

if TYPE_CHECKING:
    from satchel.agent import Skill
    from satchel.load import StyleOptions
    from satchel.prompt import Format
    from satchel.protocols import UsedApprovals
    from satchel.runtime._background_sync import BackgroundSync
    from satchel.runtime._prompt_snapshot import PromptSnapshots
    from satchel.runtime._staging import LocalStager, Stager
    from satchel.runtime._tool_registry import ToolRegistry
    from satchel.search import SegmentRanker
    from satchel.usage import UsageEvents


@dataclass(eq=False)
class PromptSections:
    """Renders sections, and gives the last one again if nothing has changed."""

    counter: TokenCounter
    budget_tokens: int | None
    _last: tuple[Catalog, tuple[object, ...], Rendered] | None = None

    def of(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format | None" = None,  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
        featured: tuple[str, ...] = (),
    ) -> Rendered:
        """Return the section; ``default`` stands for the budget of the Satchel."""
        options = (style, format, budget_tokens, featured)
        # One tuple, read and replaced whole: threads see an old section or a new one.
        last = self._last
        if last is not None and last[0] is catalog and last[1] == options:
            return last[2]
        rendered = self.render(catalog, style, format, budget_tokens, featured)
        self._last = (catalog, options, rendered)
        return rendered

    def render(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format | None" = None,  # noqa: A002
        budget_tokens: int | str | None = "default",
        featured: tuple[str, ...] = (),
    ) -> Rendered:
        from satchel.prompt import render

        if isinstance(budget_tokens, str):
            budget_tokens = self.budget_tokens
        return render(
            catalog,
            format=format,
            budget_tokens=budget_tokens,
            counter=self.counter,
            style=style,
            locations=_skill_md_paths(catalog) if format == "xml-spec" else {},
            featured=featured,
        )

    def add_suggestions(
        self,
        section: Rendered,
        find: Callable[[str, int], list[Hit]],
        message: str | None,
    ) -> Rendered:
        """Return a section that lists few skills with those that fit a message."""
        if message is None or section.complete:
            return section
        from satchel.prompt import SUGGESTED, with_suggestions

        return with_suggestions(section, find(message, SUGGESTED), self.counter)


def _skill_md_paths(catalog: Catalog) -> dict[str, str]:
    from pathlib import Path

    folders = {label for label, reader in catalog.readers.items() if reader.root}
    return {
        entry.id: str(Path(entry.origin.location).absolute() / SKILL_FILE)
        for entry in catalog.entries
        if entry.source in folders
    }


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
        self.log = FindingLog()
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
            if self.findings or self.log.logged:
                self.log.write(self.findings)
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

    def manifest_of(self, loaded: Loaded) -> Manifest:
        """Return the manifest of a loaded SKILL.md."""
        entry = loaded.descriptor
        from satchel.skill_md import parse

        parsed = parse(
            loaded.data,
            profile=self.accept.profile,
            directory=entry.origin.key.rpartition("/")[2],
            limits=self.accept.limits,
            allow_empty_description=self.accept.allow_empty_description,
        )
        if parsed.manifest is None:
            raise SkillManifestError(entry.origin.location, parsed.findings[0].message)
        if entry.remote:  # it has the tools that were granted, not those it asks for
            return replace(parsed.manifest, allowed_tools=entry.allowed_tools)
        return parsed.manifest

    def stager_for(self, stage: "Stager | bool") -> "Stager | None":
        """Return what copies files; True is the stager of this machine."""
        if isinstance(stage, bool):
            return self.stager if stage else None
        return stage

    @cached_property
    def style_options(self) -> "StyleOptions":
        """How the tools of sessions and servers write what was loaded."""
        from satchel.load import EXTENDED

        most, counter = self.options.max_result_tokens, self.counter
        return replace(EXTENDED, max_result_tokens=most, counter=counter)

    def checked_whole(self, loaded: Loaded, style: Style) -> Loaded:
        """Return what was loaded, if the style can give so much: `lean` gives parts."""
        if style == "lean":
            return loaded
        from satchel.load import check_whole

        return check_whole(loaded, self.style_options)

    @cached_property
    def tool_registry(self) -> "ToolRegistry":
        from satchel.runtime._tool_registry import ToolRegistry

        return ToolRegistry(self.tools, self.skills)

    @cached_property
    def stager(self) -> "LocalStager":
        from satchel.runtime._staging import LocalStager

        return LocalStager()

    @cached_property
    def snapshots(self) -> "PromptSnapshots":
        from satchel.runtime._prompt_snapshot import PromptSnapshots

        return PromptSnapshots()

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
