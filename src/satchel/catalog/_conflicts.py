"""Ids that several packs claim: who has each, and what to say of the others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from satchel.catalog._packs import PackDigests
from satchel.catalog._source_scanner import SourceScanner
from satchel.errors import SkillError, rename_advice
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    Excluded,
    FileReader,
    Finding,
    OnConflict,
)
from satchel.products import has_product, import_product
from satchel.protocols import FullSource


class ConflictResolver:
    """Decides who has an id; ``excluded`` are the others, ``conflicts`` what to report.

    ``broken`` are packs in error, by id.
    """

    def __init__(
        self,
        scanners: Sequence[SourceScanner],
        on_conflict: OnConflict,
        digests: PackDigests,
        broken: Mapping[str, Descriptor],
    ) -> None:
        self._scanners = {one.label: (at, one) for at, one in enumerate(scanners)}
        self._on_conflict = on_conflict
        self._digests = digests
        self._broken = broken
        self.excluded: list[Excluded] = []
        self.conflicts: list[Conflict] = []

    def resolve(self, skill_id: str, owners: list[Descriptor]) -> Descriptor | None:
        """Return the pack that is listed under the id; None if none is.

        A skill of a source that yields never takes the place of another's, whatever
        order was chosen.
        """
        last = [owner for owner in owners if self._source(owner).yields]
        first = [owner for owner in owners if owner not in last]
        # Only sources that yield claim it, and a broken pack of another keeps it.
        if not first and skill_id in self._broken:
            broken = self._broken[skill_id]
            self.excluded.extend(_shadowed(broken, owner) for owner in owners)
            return None
        if not first or not last:  # all of one rank
            return self._choose(skill_id, owners)
        # One conflict is reported, with all claimants, and not one for each rank.
        count = len(self.conflicts)
        chosen = self._choose(skill_id, first)
        self.conflicts[count:] = [Conflict(skill_id, (*first, *last), chosen)]
        self.excluded.extend(_shadowed(chosen or first[0], owner) for owner in last)
        return chosen

    def _source(self, owner: Descriptor) -> FullSource:
        return self._scanners[owner.source][1].source

    def _choose(self, skill_id: str, owners: list[Descriptor]) -> Descriptor | None:
        """Return the winner among equals; None where no order was chosen."""
        if len(owners) == 1:
            return owners[0]
        owners = self._merge_equal(sorted(owners, key=self._rank))
        if len(owners) == 1:
            return owners[0]
        ranked = all(self._source(owner).precedence is not None for owner in owners)
        in_order = ranked or self._on_conflict == "precedence"
        chosen = owners[0] if in_order else None
        self.conflicts.append(Conflict(skill_id, tuple(owners), chosen))
        if chosen is not None:
            self.excluded.extend(_shadowed(chosen, owner) for owner in owners[1:])
        return chosen

    def _rank(self, owner: Descriptor) -> tuple[int, int, bool, int]:
        """Return the sort key; the lowest wins. Owners come by source and key."""
        number, scanner = self._scanners[owner.source]
        above, _, folder = owner.origin.key.rpartition("/")
        depth = above.count("/") + bool(above)
        precedence = scanner.source.precedence or 0
        return precedence, number, folder != owner.name, depth

    def _merge_equal(self, owners: list[Descriptor]) -> list[Descriptor]:
        """Make one of those with equal bytes, with every origin."""
        readers: dict[str, FileReader] = {
            label: scanner.reader for label, (_, scanner) in self._scanners.items()
        }
        equal = Counter(owner.digest for owner in owners)
        merged: dict[object, Descriptor] = {}
        for owner in owners:
            key: object = owner.digest or owner.origin
            if owner.digest and equal[owner.digest] > 1:
                # Only then can the whole packs be equal.
                try:
                    key = self._digests.tree(owner, readers)
                except SkillError:  # a file cannot be read now
                    key = owner.origin
            first = merged.setdefault(key, owner)
            if first is not owner:
                merged[key] = replace(first, origins=first.origins + owner.origins)
        return list(merged.values())


def keep_holders(new: Catalog, old: Catalog) -> Catalog:
    """Return ``new`` with each contested id left to the pack that has it in ``old``."""
    holders = [_holder(conflict, old) for conflict in new.unresolved]
    entries = (*new.entries, *(holder for holder in holders if holder is not None))
    if len(entries) == len(new.entries):
        return new
    return replace(new, entries=tuple(sorted(entries, key=attrgetter("id"))))


def _holder(conflict: Conflict, old: Catalog) -> Descriptor | None:
    """Return the claimant that had the id so far, as it is now; None for none."""
    before = old.get(conflict.id)
    if before is None:
        return None
    # By place and not by bytes: an edit must not cost the holder its id, and a copy of
    # its bytes must not take it over.
    places = {(origin.source, origin.key) for origin in before.origins}
    same = (
        owner
        for owner in conflict.owners
        if not places.isdisjoint((o.source, o.key) for o in owner.origins)
    )
    return next(same, None)


def conflict_finding(conflict: Conflict, holder: Descriptor | None = None) -> Finding:
    """Return the finding on a conflict; ``holder`` is the pack that keeps the id."""
    ends = (
        "none of them is listed"
        if holder is None
        else f"{holder.origin.location} had it first and keeps it until this "
        "process ends"
    )
    return Finding.of(
        "duplicate-skill",
        f"{conflict.owners[1].origin.location}/{SKILL_FILE}",
        sentence="conflict",
        id=conflict.id,
        places=conflict.places,
        ends=ends,
        fix=conflict.fix,
    )


def _shadowed(chosen: Descriptor, owner: Descriptor) -> Excluded:
    return Excluded(
        owner,
        "shadowed",
        f"{chosen.origin.location} goes before {owner.origin.location}",
        rename_advice("give a source a prefix"),
    )


class PluginNames:
    """Names the plugins in conflicts; the manifests of a source are read once."""

    def __init__(self, readers: Mapping[str, FileReader]) -> None:
        self._readers = readers
        self._plugins: dict[str, Any] = {}  # of another product

    def added(self, conflict: Conflict) -> Conflict:
        """Return a conflict with the plugins of its owners, if nobody has won it."""
        if conflict.preferred or not has_product("satchel_store"):
            return conflict
        names = tuple(map(self._name_of, conflict.owners))
        return replace(conflict, plugins=names) if any(names) else conflict

    def _name_of(self, owner: Descriptor) -> str:
        label = owner.source
        if label not in self._plugins:
            room = import_product("satchel_store.plugins", "to read plugins")
            self._plugins[label] = room.PluginTree(self._readers[label], label)
        name: str = self._plugins[label].name_of(owner.origin.key)
        return name
