"""The registry: sources in, one current catalog out."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.catalog._assembly import (
    CatalogRules,
    DisabledPattern,
    assemble,
    is_pattern,
)
from satchel.catalog._packs import PackDigests, ParseOptions
from satchel.catalog._source_scanner import CatalogIndex, PackIndex, SourceScanner
from satchel.errors import SkillNotFoundError, SourceUnavailableError
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileReader,
    Finding,
    Resource,
    SourceStatus,
    SyncReport,
    ids_of,
)
from satchel.protocols import Clock, SkillSource

if TYPE_CHECKING:
    from satchel.catalog._reread import PackRereader

# How often it is asked whether a source that takes its time makes progress.
POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How one source is; ``age_s`` is the age of what it serves, None if nothing."""

    state: SourceStatus
    age_s: float | None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether all is well; ``problems`` are sentences, empty where it is."""

    sources: tuple[SourceHealth, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


class Registry:
    """Keeps one catalog current; readers never see half a sync.

    `sync` never raises. What it cannot use is a finding, what it cannot reach keeps
    its last good answer. An id that several packs claim costs that id and nothing
    else: none of its claimants is listed, but one that had the id before the conflict
    keeps it for as long as it is there and this registry lives.
    """

    def __init__(  # noqa: PLR0913 - what it is made of, by name
        self,
        sources: Sequence[SkillSource],
        *,
        accept: ParseOptions,
        rules: CatalogRules,
        clock: Clock,
        deadline_s: float = 30.0,
        far_s: float | None = None,
        index: PackIndex | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        """Take the sources in order; nothing is asked before the first `sync`.

        ``deadline_s`` is how long a source may make no progress before it is given up,
        and how long one that has answered before may take. ``far_s`` is how long a sync
        waits for sources on other machines if those of this machine have packs; None
        waits until they are given up. ``index`` has what earlier processes read.
        ``progress`` is called with the number of packs so far, while a sync waits.
        """
        self._moved = threading.Event()
        labels: Counter[str] = Counter()
        scanners: list[SourceScanner] = []
        for source in sources:
            label = source.label
            labels[label] += 1
            label += f"#{labels[label]}" if labels[label] > 1 else ""
            scanners.append(
                SourceScanner(source, label, accept, clock, self._moved.set, index)
            )
        self._scanners = tuple(scanners)
        self.rules = rules
        self._clock = clock
        self._deadline_s = deadline_s
        self.index = index
        self._stored: CatalogIndex | None = None
        self._far_s = far_s
        self._progress = progress
        self._digests = PackDigests(accept.limits)
        # Two locks, always taken in this order: one sync at a time; and a load that
        # reads an edited pack again must not wait for sources that a sync waits for.
        self._lock = threading.Lock()
        self._assembling = threading.Lock()
        self._rereader: PackRereader | None = None
        self._reported = _EMPTY
        self.catalog: Catalog = _EMPTY
        """The catalog in use: `latest`, and the packs that keep a contested id."""
        self.latest: Catalog = _EMPTY
        """The catalog of a fresh process; all that is written is made of this one."""
        self._updated: dict[str, float] = {}
        self._seen: set[str] = set()

    def sync(self, only: str | None = None) -> SyncReport:
        """Ask every source in parallel and take the new catalog into use.

        Only packs whose stamp changed are read again. Equal folders give equal
        catalogs, whatever the order in which sources answer. The report is about all
        that changed since the one before. While sources on other machines are waited
        for, those of this machine are in use already. ``only`` is the label of the one
        source to ask.
        """
        with self._lock:
            asked = [s for s in self._scanners if only in (None, s.label)]
            for scanner in asked:
                scanner.begin()
            # Skills of this machine are in use while the others are waited for, so that
            # a slow server delays nothing but its own skills.
            far = [s for s in asked if not s.source.near]
            self._await([s for s in asked if s.source.near], None)
            if any(scanner.is_scanning for scanner in far):
                self.assemble()
            if far:
                self._await(far, self._far_s if self.catalog.entries else None)
            report = self._report()
            if self._stored is not None:
                self._stored.save(self._scanners, self.latest)
            return report

    def apply_late_answers(self) -> SyncReport | None:
        """Use answers that came too late for a sync; None without any."""
        with self._lock:
            late = [s for s in self._scanners if s.has_late_answer]
            for scanner in late:
                scanner.is_done(0.0)
            return self._report() if late else None

    @property
    def pending(self) -> bool:
        """Whether a source has not answered yet, or not with all that it has."""
        return any(s.is_scanning or s.has_late_answer for s in self._scanners)

    def reread(
        self,
        descriptor: Descriptor,
        file: str,
        *,
        sure: bool,
        wait_for_writer: bool = True,
    ) -> Mapping[str, FileReader] | None:
        """Read one pack again that a load found changed, and use it as it is now.

        Loads that wait for the same pack share one reading. The next `sync` reports
        what changed. `PackRereader.read` explains the arguments.

        Returns:
            None where the pack is as it was. Else the catalog has its new state, and
            these readers have the bytes of it, for the load that asked.

        Raises:
            SourceUnavailableError: The source does not answer.
        """
        key = descriptor.origin.key
        labelled = (s for s in self._scanners if s.label == descriptor.source)
        scanner = next(labelled, None)
        if scanner is None or scanner.source.release is not None:
            return None  # a release has its digest for a name, and cannot change
        # Programs whose packs are never edited do not need it.
        from satchel.catalog._reread import PackRereader, is_current

        with self._assembling:
            rereader = self._rereader = self._rereader or PackRereader()
        with rereader.alone(scanner.label, key):
            # Once: a sync in another thread may replace it at any time.
            pack = scanner.pack(key)
            if not is_current(pack, descriptor):
                return {}  # somebody read it while this load waited for its turn
            of = scanner, descriptor, file, pack
            reread = rereader.read(*of, sure=sure, wait_for_writer=wait_for_writer)
            if reread is None:
                return None
            with self._assembling:
                # The next sync reports the change: a load is no sync.
                scanner.replace(key, reread.pack)
                self._assemble()
            return reread.readers

    def assemble(self) -> None:
        """Make the catalog of what was read of the sources so far."""
        with self._assembling:
            self._assemble()

    def resources(self, descriptor: Descriptor) -> tuple[Resource, ...]:
        """Return the pack's manifest of bytes, reading files not read before.

        Raises:
            ChangedSinceSyncError: A file was edited since the catalog was made.
            SkillError: One cannot be read now.
        """
        return self._digests.resources(descriptor, self.catalog.readers)

    def digest(self, descriptor: Descriptor) -> str:
        """Return the digest of the whole pack, ``sha256-tree-v1:…``."""
        return self._digests.tree(descriptor, self.latest.readers)

    def descriptor(self, skill_id: str) -> Descriptor:
        """Return the skill of exactly this id, listed or excluded.

        Raises:
            SkillNotFoundError: There is none.
            DuplicateSkillError: Several packs claim the id.
            SourceUnavailableError: There is none, and a source never answered in full.
        """
        catalog = self.catalog
        if (entry := catalog.get(skill_id)) is not None:
            return entry
        if (conflict := catalog.conflict_of(skill_id)) is not None:
            raise conflict.error
        if (exclusion := catalog.exclusion_of(skill_id)) is not None:
            return exclusion.descriptor
        if (incomplete := catalog.incomplete_source) is not None:
            raise SourceUnavailableError(incomplete.label, incomplete.error)
        raise SkillNotFoundError(skill_id)

    def last_updated(self, skill_id: str) -> float:
        """Return when this skill was first seen as it is, in seconds since the epoch.

        Raises:
            SkillNotFoundError: No listed skill has this id.
        """
        try:
            return self._updated[skill_id]
        except KeyError:
            raise SkillNotFoundError(skill_id) from None

    def health(self) -> Health:
        """Return how each source is, and which ids are in conflict."""
        now = self._clock.monotonic()
        sources = tuple(
            SourceHealth(s.state, now - s.result.at if s.result else None)
            for s in self._scanners
        )
        problems = [
            f"source {source.state.label!r}: {source.state.error}"
            for source in sources
            if source.state.error
        ]
        problems += [str(c.error) for c in self.latest.unresolved]
        return Health(sources, tuple(problems))

    def may_exist(self, skill_id: str) -> bool:
        """Tell whether an id was ever seen here, or may be in a source that is away."""
        return skill_id in self._seen or self.catalog.incomplete_source is not None

    @property
    def ids(self) -> AbstractSet[str]:
        """Every id that was ever seen here, listed or not."""
        return self._seen

    def conflict_findings(self) -> Sequence[Finding]:
        """Return a finding for each conflict that no precedence decided."""
        stored = self._stored
        if stored is not None and self.catalog is self.latest is stored.catalog:
            return stored.conflict_findings
        from satchel.catalog._conflicts import conflict_finding

        catalog = self.catalog
        return [conflict_finding(c, catalog.get(c.id)) for c in self.latest.unresolved]

    def unused_disabled(self) -> tuple[DisabledPattern, ...]:
        """Return what is switched off by a plain name that nothing has."""
        labels = {scanner.label for scanner in self._scanners}
        return tuple(
            disabled
            for disabled in self.rules.disabled
            if not is_pattern(disabled.pattern)
            and disabled.pattern
            not in (self._seen if disabled.kind == "skill" else labels)
        )

    @property
    def sources(self) -> dict[str, SkillSource]:
        """The sources in order, by label; a second one of a label is ``label#2``."""
        return {scanner.label: scanner.given for scanner in self._scanners}

    def close(self) -> None:
        """Close every source; a second call does nothing."""
        for scanner in self._scanners:
            scanner.source.close()
        if self.index is not None:
            self.index.close()

    def _await(self, waiting: list[SourceScanner], most_s: float | None) -> None:
        end = None if most_s is None else self._clock.monotonic() + most_s
        while waiting and (end is None or self._clock.monotonic() < end):
            # Cleared before the look: an answer that comes in between wakes the wait.
            self._moved.clear()
            waiting = [s for s in waiting if not s.is_done(self._deadline_s)]
            if waiting:
                self._moved.wait(min(POLL_S, self._deadline_s))
                if self._progress is not None:
                    self._tell(self._progress)

    def _tell(self, progress: Callable[[int], object]) -> None:
        try:
            progress(sum(scanner.looked for scanner in self._scanners))
        except Exception:
            self._progress = None
            import logging  # a callback of somebody else's seldom fails

            logging.getLogger("satchel").exception("the progress callback failed")

    def _assemble(self) -> None:
        if self.rules.verifier is not None:
            self._stored = None  # no index knows what is refused now
        elif self.index and not self._stored and any(s.index for s in self._scanners):
            self._stored = self.index.of_catalogs(self.rules)
        stored = self._stored.recall(self._scanners) if self._stored else None
        new = stored or assemble(self._scanners, self.rules, self._digests)
        old = self.catalog
        # Only what is in use depends on the past: `latest` is what is written to disk.
        in_use = new
        if new.conflicts and old.entries:
            from satchel.catalog._conflicts import keep_holders

            in_use = keep_holders(new, old)
        self.latest, self.catalog = new, in_use
        if self._digests.cached:
            # Of the old catalog too: loads that began before go on with it.
            self._digests.keep(_all_descriptors(new) + _all_descriptors(old))
        for rows in (new.entries, new.excluded, new.conflicts):
            self._seen.update(ids_of(rows))

    def _report(self) -> SyncReport:
        """Assemble, and compare with the report before."""
        with self._assembling:
            self._assemble()
            old, new = self._reported, self.catalog
            before, ids = {*ids_of(old.entries)}, ids_of(new.entries)
            changes = self._stored.changes if self._stored else None
            if old is new:
                read: AbstractSet[str] = frozenset()
            elif changes and changes[0] is old:  # of a large library only these
                read = changes[1]
            else:
                read = before
            added = tuple(id for id in ids if id not in before)
            updated = tuple(
                id for id in ids if id in read and _is_changed(old.get(id), new.get(id))
            )
            removed = tuple(sorted(before.difference(ids)))
            self._reported = new
            now = self._clock.now()
            self._updated.update(dict.fromkeys((*added, *updated), now))
            for skill_id in removed:
                del self._updated[skill_id]
            unchanged = before.difference(removed, updated)
            return SyncReport(
                added, updated, removed, tuple(sorted(unchanged)), len(ids)
            )


_EMPTY: Final = Catalog()


def _all_descriptors(catalog: Catalog) -> tuple[Descriptor, ...]:
    owners = tuple(owner for c in catalog.conflicts for owner in c.owners)
    return catalog.entries + owners + tuple(e.descriptor for e in catalog.excluded)


def _is_changed(before: Descriptor | None, after: Descriptor | None) -> bool:
    """Tell whether a pack is another one: SKILL.md by digest, other files by mark."""
    if before is after or before is None or after is None:
        return False
    old, new = ([f for f in d.files if f.path != SKILL_FILE] for d in (before, after))
    return before != after or old != new
