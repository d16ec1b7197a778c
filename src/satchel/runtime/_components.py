"""What a Satchel is made of: each component when it is first needed.

Catalog sections are rendered once, and frozen for a whole conversation: a provider's
prompt cache holds as long as the first bytes stay the same. So a conversation keeps its
section, and what changed since is added once, behind it. State that is stored elsewhere
names a snapshot by its key alone; a process that does not know the key begins a new
one, and the provider's cache is lost once.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import compress
from typing import TYPE_CHECKING, Final

from satchel.catalog import ParseOptions, Registry
from satchel.files import LruCache
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    Finding,
    Hit,
    LazyTuple,
    Rendered,
    Style,
    SyncReport,
)
from satchel.policy import Policy
from satchel.protocols import Clock, TokenCounter, UsageSink
from satchel.runtime._findings import library_findings
from satchel.runtime._inputs import OpenedInputs, may_verify
from satchel.runtime._options import Options

if TYPE_CHECKING:
    from satchel.agent import Skill
    from satchel.prompt import Format
    from satchel.protocols import Runner, UsedApprovals, Verifier
    from satchel.runtime._background_sync import BackgroundSync
    from satchel.runtime._finding_log import FindingLog
    from satchel.runtime._staging import LocalStager
    from satchel.runtime._tool_registry import ToolRegistry
    from satchel.search import SegmentRanker
    from satchel.usage import UsageEvents


@dataclass(eq=False)
class Components:
    """What a Satchel is made of.

    ``sinks`` None is what ``environ`` chooses; ``opened`` is what was named, and the
    settings that were read.
    """

    registry: Registry
    accept: ParseOptions
    policy: Policy
    counter: TokenCounter
    clock: Clock
    sections: "PromptSections"
    options: Options
    tools: tuple[object, ...]
    skills: "Sequence[Skill]"
    sinks: tuple[UsageSink, ...] | None
    environ: Mapping[str, str]
    opened: OpenedInputs
    runner: "Runner | None" = None

    def __post_init__(self) -> None:
        self._log: FindingLog | None = None
        self._renewing = threading.Lock()
        self.snapshots = PromptSnapshots()
        self.findings: tuple[Finding, ...] = ()
        """Those of the last sync, whatever tools are offered."""
        self._published: Catalog | None = None
        self.looked: Catalog | None = None
        self.scripts_warned = False
        self.agents_checked: set[frozenset[str]] = set()
        self.script_notes: dict[tuple[object, ...], str] = {}
        self.listeners: list[Callable[[SyncReport], None]] = []
        # Made now, so that a wrong variable or a clash of tools is an error at once.
        if self.sinks is None:
            _ = self.usage_events
        if self.tools or any(skill.tools for skill in self.skills):
            _ = self.tool_registry

    def sync(self, only: str | None = None) -> SyncReport:
        # At the first sync, settings have just been read.
        if self._published is not None and may_verify(self.opened, self.environ):
            from satchel.runtime._verifiers import renewed_verifier

            with self._renewing:  # or one sync would forget what another has read
                rules = self.registry.rules
                verifier = renewed_verifier(self.opened, self.environ, rules.verifier)
                self.registry.rules = replace(rules, verifier=verifier)
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
        of = self.opened.named, self.policy, self.opened.advice
        return library_findings(self.registry, *of)

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
        for stager in ("stager", "script_stager"):
            if stager in self.__dict__:
                getattr(self, stager).close()
        if "work_root" in self.__dict__:
            self._remove_work()

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
    def script_stager(self) -> "LocalStager":
        """Copies that scripts run from; no agent sees where they are."""
        from satchel.runtime._staging import LocalStager

        return LocalStager()

    @cached_property
    def work_root(self) -> str:
        """The folder of private work folders, of conversations that have no other."""
        import tempfile
        from pathlib import Path
        from weakref import finalize

        from satchel.runtime._staging import remove_own

        folder = Path(tempfile.mkdtemp(prefix="satchel-work-"))
        # By this process alone: the end of one that was forked off removes nothing.
        self._remove_work = finalize(self, remove_own, folder, os.getpid())
        return str(folder)

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


def verifier_of(
    opened: OpenedInputs, environ: Mapping[str, str], given: "Verifier | None"
) -> "Verifier | None":
    """Return what loads are verified with; see `open_verifier`."""
    if not may_verify(opened, environ):
        return given
    from satchel.runtime._verifiers import open_verifier

    return open_verifier(opened, environ, given)


# --- Catalog sections -----------------------------------------------------------------

# Snapshots and views that one process remembers: catalogs times styles times users.
MAX_SNAPSHOTS: Final = 512


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


@dataclass(frozen=True, slots=True)
class PromptSnapshot:
    """One catalog as one style shows it; ``key`` is equal where all of it is.

    ``pinned`` has the texts of always-on packs, by id, so that these stay as they are
    in the conversations of this snapshot, too. ``checked`` is the state of the tool
    registry whose names were checked to be free.
    """

    key: str
    style: Style
    catalog: Catalog
    section: Rendered
    checked: list[object] = field(
        default_factory=list[object], compare=False, repr=False
    )
    pinned: dict[str, str] = field(
        default_factory=dict[str, str], compare=False, repr=False
    )


class PromptSnapshots:
    """The snapshots of one process, the least recently used go first. Thread-safe."""

    def __init__(self) -> None:
        # A value holds its catalog, so no other catalog can have the same id meanwhile.
        self._by_catalog: LruCache[tuple[int, Style, tuple[str, ...]], PromptSnapshot]
        self._by_catalog = LruCache(MAX_SNAPSHOTS)
        self._by_key: LruCache[str, PromptSnapshot] = LruCache(MAX_SNAPSHOTS)
        self._views: LruCache[tuple[int, bytes], tuple[Catalog, Catalog]]
        self._views = LruCache(MAX_SNAPSHOTS)

    def of(
        self,
        catalog: Catalog,
        style: Style,
        render: Callable[..., Rendered],
        featured: tuple[str, ...] = (),
    ) -> PromptSnapshot:
        """Return the snapshot of a catalog, rendered once for each style.

        ``featured`` are ids that the section shows in full where it lists few.
        """

        def make() -> PromptSnapshot:
            section = render(catalog, style, featured=featured)
            key = _key(catalog, style, featured)
            return PromptSnapshot(key, style, catalog, section)

        snapshot = self._by_catalog.get((id(catalog), style, featured), make)
        self._by_key.put(snapshot.key, self._by_key.find(snapshot.key) or snapshot)
        return snapshot

    def get(self, key: str) -> PromptSnapshot | None:
        return self._by_key.find(key)

    def view(
        self, catalog: Catalog, include: Callable[[Descriptor], bool], *, whole: bool
    ) -> Catalog:
        """Return the catalog of what is included: one object for equal answers.

        ``whole`` asks for the packs that are not listed, too; else these stay.
        """
        # The answers themselves are the key: users of equal rights share one catalog,
        # and with it one rendered section.
        entries = tuple(map(include, catalog.entries))
        excluded = tuple(include(e.descriptor) for e in catalog.excluded if whole)
        conflicts = tuple(include(c.owners[0]) for c in catalog.conflicts if whole)
        choice = (*entries, *excluded, *conflicts)
        if all(choice):
            return catalog
        others = catalog.excluded, catalog.conflicts

        def make() -> tuple[Catalog, Catalog]:
            view = Catalog(
                tuple(compress(catalog.entries, entries)),
                tuple(compress(catalog.excluded, excluded)) if whole else others[0],
                tuple(compress(catalog.conflicts, conflicts)) if whole else others[1],
                catalog.findings,
                catalog.sources,
                catalog.readers,
            )
            return catalog, view

        return self._views.get((id(catalog), bytes(choice)), make)[1]


def _key(catalog: Catalog, style: Style, featured: tuple[str, ...]) -> str:
    """Return a short digest of all that a section of this catalog can depend on."""
    state = sha256("\0".join((style, *featured)).encode("utf-8", "surrogatepass"))
    lazy = catalog.entries
    stamp = lazy.stamp if isinstance(lazy, LazyTuple) else ""
    state.update(stamp.encode("ascii"))
    for entry in () if stamp else catalog.entries:  # not one is read for its key
        line = f"{entry.id}\0{entry.description}\0{entry.digest}\0"
        state.update(line.encode("utf-8", "surrogatepass"))
        for path in (*entry.resources, *entry.tools):
            state.update(path.encode("utf-8", "surrogatepass") + b"\0")
    return state.hexdigest()[:16]
