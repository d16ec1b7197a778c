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
    Hit,
    Loaded,
    Manifest,
    Rendered,
    Style,
    SyncReport,
)
from satchel.policy import Policy
from satchel.protocols import Clock, Ranker, TokenCounter, UsageSink
from satchel.runtime._prompt_snapshot import PromptSnapshots

if TYPE_CHECKING:
    from satchel.agent import Skill
    from satchel.prompt import Format
    from satchel.protocols import UsedApprovals
    from satchel.runtime._access import SkillAccess
    from satchel.runtime._background_sync import BackgroundSync
    from satchel.runtime._local_copy import LocalStager
    from satchel.runtime._staging import Stager
    from satchel.runtime._tool_registry import ToolRegistry
    from satchel.usage import UsageEvents


class PromptSections:
    """Renders sections, and gives the last one again where nothing has changed."""

    def __init__(self, counter: TokenCounter, budget_tokens: int | None) -> None:
        self._counter = counter
        self._budget = budget_tokens
        self._last: tuple[Catalog, tuple[object, ...], Rendered] | None = None

    def of(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format" = "xml-id",  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
    ) -> Rendered:
        """Return the section; a text as ``budget_tokens`` means the own budget."""
        asked = (style, format, budget_tokens)
        if self._last is not None:
            of, how, rendered = self._last
            if of is catalog and how == asked:
                return rendered
        rendered = self.render(catalog, style, format, budget_tokens)
        self._last = (catalog, asked, rendered)
        return rendered

    def render(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format" = "xml-id",  # noqa: A002
        budget_tokens: int | str | None = "default",
    ) -> Rendered:
        """Render anew."""
        from satchel.prompt import render

        own = self._budget
        return render(
            catalog,
            format=format,
            budget_tokens=own if isinstance(budget_tokens, str) else budget_tokens,
            counter=self._counter,
            style=style,
            locations=_skill_md_paths(catalog) if format == "xml-spec" else {},
        )


def _skill_md_paths(catalog: Catalog) -> dict[str, str]:
    """Return the absolute path of each SKILL.md that lies in a folder."""
    from pathlib import Path

    folders = {label for label, reader in catalog.readers.items() if reader.root}
    return {
        entry.id: str(Path(entry.origin.location).absolute() / SKILL_FILE)
        for entry in catalog.entries
        if entry.source in folders
    }


@dataclass(eq=False)
class Components:
    """The parts that stand behind the front door.

    ``sinks`` are those that were given; None is what ``environ`` says. ``tools`` and
    ``skills`` are what tools are offered from.
    """

    registry: Registry
    accept: ParseOptions
    policy: Policy
    counter: TokenCounter
    clock: Clock
    sections: PromptSections
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
        self.snapshots = PromptSnapshots()
        self.listeners: list[Callable[[SyncReport], None]] = []
        if self.sinks is None:
            _ = self.usage_events
        if self.tools or any(skill.tools for skill in self.skills):
            _ = self.tool_registry

    def catalog(self) -> Catalog:
        """Return the catalog in use, which a sync replaces."""
        return self.registry.catalog

    def sync(self, only: str | None = None) -> SyncReport:
        """Look at the sources again, or at the one of this label; tell who listens."""
        return self._synced(self.registry.sync(only))

    def apply_late_answers(self) -> None:
        """Use what sources answered after nobody waited for them; tell who listens."""
        report = self.registry.apply_late_answers()
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
            self.usage_events.forget_owners()
        self.usage_events.record_catalog(added)

    def close(self) -> None:
        """Let go of sources, staged files and sinks; a second call does nothing."""
        if "resync" in self.__dict__:
            self.resync.close()
        self.registry.close()
        if "usage_events" in self.__dict__:
            self.usage_events.sinks.flush()
            if self.sinks is None:
                self.usage_events.sinks.close()
        if "stager" in self.__dict__:
            self.stager.close()

    @property
    def listed(self) -> Catalog:
        """What may be listed for nobody in particular."""
        return self.access.listed if self.policy.rules else self.registry.catalog

    def find(self, query: str, k: int) -> list[Hit]:
        """Return the best ``k`` skills for nobody in particular."""
        return (self.access.find if self.policy.rules else self.rank)(query, k)

    def rank(self, query: str, k: int) -> list[Hit]:
        """Return the best ``k`` skills, whoever may find them."""
        if self.ranker is None:
            from satchel.search import FtsRanker

            self.ranker = FtsRanker()
        return list(self.ranker.rank(self.registry.catalog, query, k))

    def manifest_of(self, loaded: Loaded) -> Manifest:
        """Return the manifest of a loaded SKILL.md; it is parsed only once a version.

        Raises:
            SkillManifestError: It has no frontmatter; the source made up its manifest.
        """
        entry = loaded.descriptor
        manifest = self.registry.manifest(entry)
        if manifest is not None and loaded.digest == entry.digest:
            return manifest
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
        """Return who copies files; True is the one of this machine."""
        if isinstance(stage, bool):
            return self.stager if stage else None
        return stage

    @cached_property
    def tool_registry(self) -> "ToolRegistry":
        """The tools that skills may name."""
        from satchel.runtime._tool_registry import ToolRegistry

        return ToolRegistry(self.tools, self.skills)

    @cached_property
    def stager(self) -> "LocalStager":
        """Copies files to a private folder of this machine."""
        from satchel.runtime._local_copy import LocalStager

        return LocalStager()

    @cached_property
    def used_approvals(self) -> "UsedApprovals":
        """Where approvals are noted once they are used."""
        from pathlib import Path

        from satchel.runtime import _used_approvals
        from satchel.usage import state_file

        return _used_approvals.used_approvals(self.environ, Path(state_file()).parent)

    def access_for(self, who: Mapping[str, object]) -> "SkillAccess":
        """Return what one user may list, find and load, outside of a session.

        Nobody is asked: where the policy says ask, a load is an error.
        """
        from satchel.runtime._access import SkillAccess
        from satchel.runtime._authorizer import Authorizer
        from satchel.runtime._session_settings import SessionSettings

        return SkillAccess(self, SessionSettings(who=who), Authorizer(self.policy, who))

    @cached_property
    def access(self) -> "SkillAccess":
        """What may be listed, found and loaded for nobody in particular."""
        return self.access_for({})

    @cached_property
    def resync(self) -> "BackgroundSync":
        """What syncs a source in the background after an edit was seen in it."""
        from satchel.runtime._background_sync import BackgroundSync

        return BackgroundSync(self.sync)

    @cached_property
    def usage_events(self) -> "UsageEvents":
        """What makes events of use; made only where there may be sinks."""
        from satchel.usage import OwnerLookup, Sinks, UsageEvents, owned_sinks

        given = self.sinks
        return UsageEvents(
            owned_sinks(self, self.environ) if given is None else Sinks(given),
            self.clock,
            self.counter,
            OwnerLookup(lambda: self.registry.sources),
            self.catalog,
        )
