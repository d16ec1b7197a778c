"""The registry: sources in, one current catalog out."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from satchel.catalog._assembly import (
    CatalogRules,
    DisabledPattern,
    assemble,
    is_pattern,
)
from satchel.catalog._packs import PackDigests, ParseOptions
from satchel.catalog._reread import PackRereader, is_current
from satchel.catalog._source_scanner import SourceScanner
from satchel.errors import (
    DuplicateSkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    FileReader,
    Manifest,
    Resource,
    SourceStatus,
    SyncReport,
)
from satchel.protocols import Clock, SkillSource

POLL_S: Final = 0.1
"""How often it is asked whether a source that takes its time makes progress."""


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
    ) -> None:
        """Take the sources in order; nothing is asked before the first `sync`.

        ``deadline_s`` is how long a source may make no progress before it is given
        up, and how long one that has answered before may take. ``far_s`` is how long
        a sync waits for sources elsewhere, where those of this machine have packs; None
        is until they are given up. `take_late` takes answers that come later.
        """
        self._moved = threading.Event()
        self._fields = tuple(
            SourceScanner(source, label, accept, clock, self._moved.set)
            for source, label in zip(sources, _labels(sources), strict=True)
        )
        self._rules = rules
        self._clock = clock
        self._deadline_s = deadline_s
        self._far_s = far_s
        self._digests = PackDigests(accept.limits)
        self._lock = threading.Lock()
        self._taking = threading.Lock()
        self._rereading = PackRereader()
        self._told = Catalog()
        self._catalog = Catalog()
        self._latest = Catalog()
        self._updated: dict[str, float] = {}
        self._seen: set[str] = set()

    @property
    def catalog(self) -> Catalog:
        """The catalog in use: `latest`, and the packs that keep a contested id."""
        return self._catalog

    @property
    def latest(self) -> Catalog:
        """The catalog of a fresh process; whatever is written is made of this one."""
        return self._latest

    def sync(self, only: str | None = None) -> SyncReport:
        """Ask every source in parallel and take the new catalog into use.

        Only packs whose stamp changed are read again. Equal folders give equal
        catalogs, whatever the order in which sources answer. The report is about all
        that changed since the one before. While sources elsewhere are waited for, those
        of this machine are in use already. ``only`` is the label of the one source to
        ask.
        """
        with self._lock:
            asked = [each for each in self._fields if only in (None, each.label)]
            for each in asked:
                each.begin()
            self._await([each for each in asked if each.near], None)
            if any(not each.ended for each in asked):
                with self._taking:
                    self._take()
            self._await(asked, self._far_s if len(self._catalog) else None)
            return self._report()

    def apply_late_answers(self) -> SyncReport | None:
        """Use answers that came after nobody waited for them; None without any."""
        with self._lock:
            late = [each for each in self._fields if each.has_late_answer]
            for each in late:
                each.settled(0.0)
            return self._report() if late else None

    @property
    def pending(self) -> bool:
        """Whether a source has not answered yet, or not with all that it has."""
        return any(not each.ended or each.has_late_answer for each in self._fields)

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
        what changed. See `satchel.catalog._reread` for the arguments.

        Returns:
            None where the pack is as it was. Else the catalog has its new state, and
            the readers that are returned have the bytes of it, for the load that asked.

        Raises:
            SourceUnavailableError: The source does not answer.
        """
        key = descriptor.origin.key
        field = next((f for f in self._fields if f.label == descriptor.source), None)
        if field is None or hasattr(field.source, "release"):
            return None  # a release has its digest for a name, and cannot change
        with self._rereading.alone(field.label, key):
            if not is_current(field, descriptor):
                return {}
            seen = self._rereading.read(
                field, descriptor, file, sure=sure, wait_for_writer=wait_for_writer
            )
            if seen is None:
                return None
            with self._taking:
                field.replace(key, seen.entry)
                self._take()
            return seen.readers

    def manifest(self, descriptor: Descriptor) -> Manifest | None:
        """Return the manifest that a descriptor was made from.

        None if the source made the manifest itself, or the pack was read again since.
        """
        scanner = next((f for f in self._fields if f.label == descriptor.source), None)
        pack = scanner and scanner.known(descriptor.origin.key)
        if not pack or pack.descriptor.digest != descriptor.digest:
            return None
        return pack.manifest

    def resources(self, descriptor: Descriptor) -> tuple[Resource, ...]:
        """Return the pack's manifest of bytes, reading files not read before.

        Raises:
            ChangedSinceSyncError: A file was edited since the catalog was made.
            SkillError: One cannot be read now.
        """
        return self._digests.resources(descriptor, self._catalog.readers)

    def digest(self, descriptor: Descriptor) -> str:
        """Return the digest of the whole pack, ``sha256-tree-v1:…``."""
        return self._digests.tree(descriptor, self._latest.readers)

    def descriptor(self, skill_id: str) -> Descriptor:
        """Return the skill of exactly this id, listed or withheld.

        Raises:
            SkillNotFoundError: There is none.
            DuplicateSkillError: Several packs claim the id.
            SourceUnavailableError: There is none, and a source never answered in full.
        """
        entry = self._catalog.get(skill_id)
        if entry is not None:
            return entry
        conflict = self._catalog.conflict_of(skill_id)
        if conflict is not None:
            raise duplicate_error(conflict)
        held = self._catalog.exclusion_of(skill_id)
        if held is not None:
            return held.descriptor
        away = self._catalog.away
        if away is not None:
            raise SourceUnavailableError(away.label, away.error)
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
            SourceHealth(each.state, now - each.result.at if each.result else None)
            for each in self._fields
        )
        problems = [
            f"source {source.state.label!r}: {source.state.error}"
            for source in sources
            if source.state.error
        ]
        problems += [str(duplicate_error(c)) for c in self._latest.unresolved]
        return Health(sources, tuple(problems))

    def may_exist(self, skill_id: str) -> bool:
        """Tell whether an id was ever seen here, or may be in a source that is away."""
        return skill_id in self._seen or self._catalog.away is not None

    @property
    def unused_disabled(self) -> tuple[DisabledPattern, ...]:
        """What is switched off by a plain name that nothing has."""
        labels = {each.label for each in self._fields}
        return tuple(
            each
            for each in self._rules.disabled
            if not is_pattern(each.pattern)
            and each.pattern not in (self._seen if each.kind == "skill" else labels)
        )

    @property
    def sources(self) -> dict[str, SkillSource]:
        """The sources in order, by label; a second one of a label is ``label#2``."""
        return {each.label: each.source for each in self._fields}

    def close(self) -> None:
        """Close every source; a second call does nothing."""
        for each in self._fields:
            each.source.close()

    def _report(self) -> SyncReport:
        with self._taking:
            self._take()
            report = _compare(self._told, self._catalog)
            self._told = self._catalog
            self._remember(report)
            return report

    def _await(self, waiting: list[SourceScanner], most_s: float | None) -> None:
        end = None if most_s is None else self._clock.monotonic() + most_s
        while waiting and (end is None or self._clock.monotonic() < end):
            self._moved.clear()
            waiting = [each for each in waiting if not each.settled(self._deadline_s)]
            if waiting:
                self._moved.wait(min(POLL_S, self._deadline_s))

    def _take(self) -> None:
        """Take what the sources last gave into use."""
        new = assemble(self._fields, self._rules, self._digests)
        old = self._catalog
        self._latest, self._catalog = new, _with_holders(new, old)
        every = _all_descriptors(new)
        self._digests.keep(every + _all_descriptors(old))
        self._seen.update(each.id for each in every)

    def _remember(self, report: SyncReport) -> None:
        now = self._clock.now()
        for skill_id in report.added + report.updated:
            self._updated[skill_id] = now
        for skill_id in report.removed:
            del self._updated[skill_id]


def _labels(sources: Sequence[SkillSource]) -> list[str]:
    """Return each source's label; a second one of a name becomes ``name#2``."""
    seen: Counter[str] = Counter()
    labels: list[str] = []
    for source in sources:
        seen[source.label] += 1
        count = seen[source.label]
        labels.append(source.label if count == 1 else f"{source.label}#{count}")
    return labels


def duplicate_error(conflict: Conflict) -> DuplicateSkillError:
    """Return the error that names the first two owners of a conflicting id."""
    first, second, *_ = (owner.origin.location for owner in conflict.owners)
    return DuplicateSkillError(conflict.id, first, second, conflict.fix)


def _with_holders(new: Catalog, old: Catalog) -> Catalog:
    """Return ``new`` with each contested id left to the pack that has it in ``old``."""
    holders = tuple(filter(None, (_holder(each, old) for each in new.unresolved)))
    if not holders:
        return new
    entries = sorted((*new.entries, *holders), key=lambda entry: entry.id)
    return replace(new, entries=tuple(entries))


def _holder(conflict: Conflict, old: Catalog) -> Descriptor | None:
    """Return the claimant that had the id so far, as it is now; None for none."""
    before = old.get(conflict.id)
    if before is None:
        return None
    places = {(origin.source, origin.key) for origin in before.origins}
    return next(
        (
            owner
            for owner in conflict.owners
            if not places.isdisjoint((each.source, each.key) for each in owner.origins)
        ),
        None,
    )


def _all_descriptors(catalog: Catalog) -> tuple[Descriptor, ...]:
    owners = tuple(owner for c in catalog.conflicts for owner in c.owners)
    return catalog.entries + owners + tuple(w.descriptor for w in catalog.excluded)


def _compare(old: Catalog, new: Catalog) -> SyncReport:
    added: list[str] = []
    updated: list[str] = []
    unchanged: list[str] = []
    for entry in new.entries:
        before = old.get(entry.id)
        if before is None:
            added.append(entry.id)
        elif before is entry or _is_unchanged(before, entry):
            unchanged.append(entry.id)
        else:
            updated.append(entry.id)
    removed = [entry.id for entry in old.entries if entry.id not in new]
    return SyncReport(
        tuple(added), tuple(updated), tuple(removed), tuple(unchanged), len(new)
    )


def _is_unchanged(before: Descriptor, after: Descriptor) -> bool:
    """Tell whether a pack is as it was: SKILL.md by digest, other files by mark."""
    return before == after and _other_files(before) == _other_files(after)


def _other_files(descriptor: Descriptor) -> tuple[object, ...]:
    return tuple(file for file in descriptor.files if file.path != SKILL_FILE)
