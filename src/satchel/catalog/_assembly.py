"""Scan results to one catalog: what is listed, what is excluded, who has an id."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Final, Literal

from satchel.catalog._packs import RETIRED_STATUSES, PackDigests, ScannedPack
from satchel.catalog._source_scanner import SourceScanner
from satchel.errors import rename_advice
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    Excluded,
    ExclusionReason,
    FileReader,
    Finding,
    OnConflict,
)
from satchel.protocols import FullSource, Verifier

_PATTERN_CHARS: Final = frozenset("*?[")
# The order of what is excluded.
_ORDER: Final = attrgetter("descriptor.id", "reason", "descriptor.origin.location")


def is_pattern(name: str) -> bool:
    """Tell whether a name is a shell pattern, which may match what is not there yet."""
    return not _PATTERN_CHARS.isdisjoint(name)


@dataclass(frozen=True, slots=True)
class DisabledPattern:
    """A shell pattern over ids, or over labels of sources, that are switched off.

    ``where`` is the option or variable that it is from.
    """

    pattern: str
    kind: Literal["skill", "source"] = "skill"
    where: str = "`disabled`"

    @property
    def fix(self) -> str:
        return f"take it off {self.where}"

    @property
    def detail(self) -> str:
        off = "it" if self.kind == "skill" else "its source"
        return f"{off} is switched off"

    def matches(self, skill_id: str, source: str) -> bool:
        """Tell whether a skill of a source is off; a plain id always matches itself."""
        name = skill_id if self.kind == "skill" else source
        return name == self.pattern or fnmatchcase(name, self.pattern)


@dataclass(frozen=True, slots=True)
class CatalogRules:
    """What decides between packs that were all read well."""

    on_conflict: OnConflict = "error"
    disabled: tuple[DisabledPattern, ...] = ()
    verifier: Verifier | None = None


def assemble(
    scanners: tuple[SourceScanner, ...], rules: CatalogRules, digests: PackDigests
) -> Catalog:
    """Build the catalog of all that the sources last gave.

    Packs of equal tree digest are one entry with several origins. Ties within one
    precedence go to the earlier source; within one source to the pack in the folder of
    its own name, as the specification asks for it, so that no other can take its place;
    then to the one nearer to the root, then the lower key.
    """
    findings: list[Finding] = []
    excluded: list[Excluded] = []
    claims: dict[str, list[Descriptor]] = {}
    broken: dict[str, Descriptor] = {}
    for scanner in scanners:
        if scanner.result is not None:
            findings.extend(scanner.result.findings)
            for pack in scanner.result.packs.values():
                findings.extend(pack.findings)
            _sort_packs(scanner, rules, claims, broken, excluded, findings)
    resolver = _ConflictResolver(
        rules,
        digests,
        {scanner.label: (number, scanner) for number, scanner in enumerate(scanners)},
        excluded,
        broken,
    )
    # By id: equal packs give equal bytes, whatever source answered first.
    entries: list[Descriptor] = []
    for skill_id in sorted(claims):
        owners = claims[skill_id]
        if len(owners) == 1 and skill_id not in broken:
            entry: Descriptor | None = owners[0]
        else:
            entry = resolver.resolve(skill_id, owners)
        if entry is not None and is_listed(entry):
            entries.append(entry)
        elif entry is not None:
            excluded.append(_unlisted(entry))
    findings.extend(_lost_for_trust(entries, excluded))
    readers: dict[str, FileReader] = {one.label: one.reader for one in scanners}
    if not all(conflict.preferred for conflict in resolver.conflicts):
        from satchel.catalog._plugin_names import PluginNames

        resolver.conflicts[:] = map(PluginNames(readers).added, resolver.conflicts)
    return Catalog(
        tuple(entries),
        tuple(sorted(excluded, key=_ORDER)),
        tuple(resolver.conflicts),
        tuple(findings),
        tuple(scanner.state for scanner in scanners),
        readers,
    )


def _lost_for_trust(
    entries: Iterable[Descriptor], excluded: Iterable[Excluded]
) -> Iterator[Finding]:
    """Yield a finding for each untrusted pack whose id another, unequal pack has."""
    untrusted = [one.descriptor for one in excluded if one.reason == "untrusted"]
    listed = {entry.id: entry for entry in entries} if untrusted else {}
    for pack in untrusted:
        winner = listed.get(pack.id)
        if winner is not None and winner.digest != pack.digest:
            path, place = f"{pack.origin.location}/{SKILL_FILE}", winner.origin.location
            yield Finding.of("untrusted-pack-loses", path, id=pack.id, winner=place)


def _sort_packs(  # noqa: PLR0913, PLR0917 - the parts of the catalog that is being made
    scanner: SourceScanner,
    rules: CatalogRules,
    claims: dict[str, list[Descriptor]],
    broken: dict[str, Descriptor],
    excluded: list[Excluded],
    findings: list[Finding],
) -> None:
    """Add each pack of a source to what claims an id, or to what is excluded."""
    source, result = scanner.source, scanner.result
    for pack in result.packs.values() if result else ():
        descriptor = pack.descriptor
        disabled = None
        for pattern in rules.disabled:
            if pattern.matches(descriptor.id, scanner.label):
                disabled = pattern
                break
        # What is not in use claims nothing, so that it cannot shadow or block another.
        in_use = source.trusted and disabled is None
        if in_use and not (pack.refused or pack.filtered):
            unverified = (
                rules.verifier.problem_of(descriptor) if rules.verifier else None
            )
            if unverified:
                findings.append(unverified)
            if unverified and unverified.severity == "error":
                detail, fix = unverified.message, unverified.fix
                excluded.append(Excluded(descriptor, "unverified", detail, fix))
                continue
            claims.setdefault(descriptor.id, []).append(descriptor)
            continue
        # A broken pack keeps its id from sources that yield, or a server could take it
        # over by waiting for a typing error.
        if pack.refused and source.trusted and not source.yields:
            broken.setdefault(descriptor.id, descriptor)
        excluded.append(_exclusion(pack, scanner, disabled))


def _exclusion(
    pack: ScannedPack, scanner: SourceScanner, disabled: DisabledPattern | None
) -> Excluded:
    """Return the first reason why this pack claims nothing."""
    descriptor = pack.descriptor
    if pack.refused:
        first = next(f for f in pack.findings if f.severity == "error")
        return Excluded(descriptor, "refused", str(first), first.fix)
    if not scanner.source.trusted:
        return Excluded(
            descriptor,
            "untrusted",
            f"{descriptor.origin.location} belongs to a project that is not trusted",
            "name the folder yourself, or pass trust=True",
        )
    if pack.filtered or disabled is None:
        detail = f"source {scanner.label!r} leaves it out"
        return Excluded(descriptor, "filtered", detail, "widen the filter")
    return Excluded(descriptor, "disabled", disabled.detail, disabled.fix)


@dataclass(frozen=True, slots=True)
class _ConflictResolver:
    """Decides who has an id.

    ``scanners`` are the sources and their numbers, by label; ``broken`` are packs in
    error, by id.
    """

    rules: CatalogRules
    digests: PackDigests
    scanners: Mapping[str, tuple[int, SourceScanner]]
    excluded: list[Excluded]
    broken: Mapping[str, Descriptor]
    conflicts: list[Conflict] = field(default_factory=list[Conflict])

    def resolve(self, skill_id: str, owners: list[Descriptor]) -> Descriptor | None:
        """Return the pack that is listed under the id; None if none is.

        A skill of a source that yields never takes the place of another's, whatever
        order was chosen.
        """
        last = [owner for owner in owners if self._source(owner).yields]
        first = [owner for owner in owners if owner not in last]
        # Only sources that yield claim it, and a broken pack of another keeps it.
        if not first and skill_id in self.broken:
            broken = self.broken[skill_id]
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
        return self.scanners[owner.source][1].source

    def _choose(self, skill_id: str, owners: list[Descriptor]) -> Descriptor | None:
        """Return the winner among equals; None where no order was chosen."""
        if len(owners) == 1:
            return owners[0]
        owners = self._merge_equal(sorted(owners, key=self._rank))
        if len(owners) == 1:
            return owners[0]
        ranked = all(self._source(owner).precedence is not None for owner in owners)
        in_order = ranked or self.rules.on_conflict == "precedence"
        chosen = owners[0] if in_order else None
        self.conflicts.append(Conflict(skill_id, tuple(owners), chosen))
        if chosen is not None:
            self.excluded.extend(_shadowed(chosen, owner) for owner in owners[1:])
        return chosen

    def _rank(self, owner: Descriptor) -> tuple[int, int, bool, int]:
        """Return the sort key; the lowest wins. Owners come by source and key."""
        number, scanner = self.scanners[owner.source]
        above, _, folder = owner.origin.key.rpartition("/")
        depth = above.count("/") + bool(above)
        precedence = scanner.source.precedence or 0
        return precedence, number, folder != owner.name, depth

    def _merge_equal(self, owners: list[Descriptor]) -> list[Descriptor]:
        """Make one of those with equal bytes, with every origin."""
        readers: dict[str, FileReader] = {
            label: scanner.reader for label, (_, scanner) in self.scanners.items()
        }
        equal = Counter(owner.digest for owner in owners)
        merged: dict[object, Descriptor] = {}
        for owner in owners:
            key: object = owner.digest or owner.origin
            if owner.digest and equal[owner.digest] > 1:
                # Only then can the whole packs be equal.
                tree = self.digests.tree_or_none(owner, readers)
                key = owner.origin if tree is None else tree
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


def is_listed(entry: Descriptor) -> bool:
    """Tell whether a pack that has its id is listed, too."""
    return entry.status not in RETIRED_STATUSES and entry.model_invocable


def _unlisted(descriptor: Descriptor) -> Excluded:
    """Return why a pack that is retired or for users only is not listed."""
    reason: ExclusionReason
    if descriptor.status in RETIRED_STATUSES:
        successor = descriptor.replaced_by
        use = f"; use {successor} instead" if successor else ""
        reason, detail = "deprecated", f"its status is {descriptor.status}{use}"
        fix = f"load {successor}" if successor else ""
    else:
        reason, fix = "hidden", "take disable-model-invocation out of the manifest"
        detail = "its manifest keeps it from the model; a user may still load it"
    return Excluded(descriptor, reason, detail, fix)
