"""Scan results to one catalog: which packs are listed, which are excluded.

And why, which claim one id.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final, Literal

from satchel.catalog._packs import RETIRED_STATUSES, PackDigests, ScannedPack
from satchel.catalog._source_scanner import SourceScanner
from satchel.model import (
    Catalog,
    Conflict,
    Descriptor,
    Excluded,
    ExclusionReason,
    FileReader,
    Finding,
    OnConflict,
)

_PATTERN_CHARS: Final = frozenset("*?[")


def is_pattern(name: str) -> bool:
    """Tell whether a name is a shell pattern, which may fit what is not there yet."""
    return not _PATTERN_CHARS.isdisjoint(name)


@dataclass(frozen=True, slots=True)
class DisabledPattern:
    """One line of what is off: a shell pattern over ids, or over labels of sources.

    ``where`` is what it is a line of; ``detail`` is why a skill is off that fits.
    """

    pattern: str
    kind: Literal["skill", "source"] = "skill"
    where: str = "`disabled`"

    @property
    def fix(self) -> str:
        """Where to take the pattern off."""
        return f"take it off {self.where}"

    @property
    def detail(self) -> str:
        """Why a skill that fits is off."""
        off = "it" if self.kind == "skill" else "its source"
        return f"{off} is switched off"

    def turns_off(self, skill_id: str, source: str) -> bool:
        """Tell whether a skill of a source is off; its very id always fits."""
        name = skill_id if self.kind == "skill" else source
        return name == self.pattern or fnmatchcase(name, self.pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogRules:
    """What decides between packs that were all read well."""

    on_conflict: OnConflict = "error"
    disabled: tuple[DisabledPattern, ...] = ()

    def switch_for(self, skill_id: str, source: str) -> DisabledPattern | None:
        """Return the first switch that turns this skill off, if any."""
        return next((s for s in self.disabled if s.turns_off(skill_id, source)), None)


def assemble(
    fields: tuple[SourceScanner, ...], rules: CatalogRules, digests: PackDigests
) -> Catalog:
    """Build the catalog of all that the sources last gave.

    Untrusted, disabled and filtered packs claim nothing, so that none of them can
    shadow or block another; one in error blocks those of sources that yield, under the
    name of its folder. Packs of equal tree digest are one entry with several
    origins. Ties inside one rank go to the earlier source; inside one source to the
    pack in the folder of its own name, as the specification wants it, so that no
    other can take its place; then to the one nearer to the root, then the lower key.
    """
    findings: list[Finding] = []
    excluded: list[Excluded] = []
    claims: dict[str, list[Descriptor]] = {}
    broken: dict[str, Descriptor] = {}
    for each in fields:
        if each.result is None:
            continue
        findings.extend(each.result.findings)
        trusted = getattr(each.source, "trusted", True)
        for entry in each.result.entries.values():
            findings.extend(entry.findings)
            descriptor = entry.descriptor
            switch = rules.switch_for(descriptor.id, each.label)
            if entry.listable and trusted and switch is None:
                claims.setdefault(descriptor.id, []).append(descriptor)
            else:
                if entry.refused and trusted and not _yields(each.source):
                    broken.setdefault(descriptor.id, descriptor)
                excluded.append(_exclusion(entry, each.label, switch, trusted=trusted))
    readers = {each.label: each.reader for each in fields}
    settling = _ConflictResolver(
        rules,
        digests,
        readers,
        {each.label: (_precedence(each), n) for n, each in enumerate(fields)},
        excluded,
        broken,
    )
    entries = [
        found
        for skill_id in sorted(claims)
        if (found := settling.settle(skill_id, claims[skill_id])) is not None
        and not _exclude_retired(found, excluded)
    ]
    return Catalog(
        tuple(entries),
        tuple(sorted(excluded, key=_exclusion_order)),
        tuple(settling.conflicts),
        tuple(findings),
        tuple(each.state for each in fields),
        readers,
    )


def _yields(source: object) -> bool:
    return bool(getattr(source, "yields", False))


def _precedence(field: SourceScanner) -> int | None:
    return getattr(field.source, "precedence", None)


def _exclusion(
    entry: ScannedPack, label: str, switch: DisabledPattern | None, *, trusted: bool
) -> Excluded:
    """Return why this entry claims nothing, by the first reason that holds."""
    descriptor = entry.descriptor
    if entry.refused:
        first = next(f for f in entry.findings if f.severity == "error")
        return Excluded(descriptor, "refused", str(first), first.fix)
    if not trusted:
        return Excluded(
            descriptor,
            "untrusted",
            f"{descriptor.origin.location} belongs to a project nobody vouched for",
            "name the folder yourself, or pass trust=True",
        )
    if entry.filtered or switch is None:
        detail = f"source {label!r} leaves it out"
        return Excluded(descriptor, "filtered", detail, "widen the filter")
    return Excluded(descriptor, "disabled", switch.detail, switch.fix)


@dataclass(frozen=True, slots=True)
class _ConflictResolver:
    """Decides who has an id.

    ``places`` are precedence and number by source, ``broken`` packs in error by id.
    """

    rules: CatalogRules
    digests: PackDigests
    readers: Mapping[str, FileReader]
    places: Mapping[str, tuple[int | None, int]]
    excluded: list[Excluded]
    broken: Mapping[str, Descriptor]
    conflicts: list[Conflict] = field(default_factory=list[Conflict])

    def settle(self, skill_id: str, owners: list[Descriptor]) -> Descriptor | None:
        """Return who is listed under the id; None where nobody was given it.

        A skill of a source that yields never takes the place of another's, whatever
        order was chosen.
        """
        if len(owners) == 1 and skill_id not in self.broken:
            return owners[0]
        first = [owner for owner in owners if not self._yields(owner)]
        if not first and skill_id in self.broken:
            broken = self.broken[skill_id]
            self.excluded.extend(_shadowed(broken, owner) for owner in owners)
            return None
        if not first or len(first) == len(owners):
            return self._contest(skill_id, owners)
        known = len(self.conflicts)
        kept = self._contest(skill_id, first)
        last = [owner for owner in owners if self._yields(owner)]
        claims = (*first, *last)
        self.conflicts[known:] = [Conflict(skill_id, claims, kept)]
        self.excluded.extend(_shadowed(kept or first[0], owner) for owner in last)
        return kept

    def _yields(self, owner: Descriptor) -> bool:
        return _yields(self.readers[owner.source])

    def _contest(self, skill_id: str, owners: list[Descriptor]) -> Descriptor | None:
        """Return who goes first among equals; None where no order was chosen."""
        if len(owners) == 1:
            return owners[0]
        owners = self._merge_equal(sorted(owners, key=self._rank))
        if len(owners) == 1:
            return owners[0]
        kept = self._winner(owners)
        self.conflicts.append(Conflict(skill_id, tuple(owners), kept))
        if kept is not None:
            self.excluded.extend(_shadowed(kept, owner) for owner in owners[1:])
        return kept

    def _rank(self, owner: Descriptor) -> tuple[int, int, bool, int]:
        """Return what goes first: the lower; owners come by source and key."""
        precedence, place = self.places[owner.source]
        above, _, folder = owner.origin.key.rpartition("/")
        depth = above.count("/") + bool(above)
        return precedence or 0, place, folder != owner.name, depth

    def _merge_equal(self, owners: list[Descriptor]) -> list[Descriptor]:
        """Make one of those with equal bytes, with every origin."""
        alike = Counter(owner.digest for owner in owners)
        merged: dict[object, Descriptor] = {}
        for owner in owners:
            key: object = owner.digest or owner.origin
            if (
                owner.digest and alike[owner.digest] > 1
            ):  # only then can the whole packs be equal
                tree = self.digests.tree_or_none(owner, self.readers)
                key = owner.origin if tree is None else tree
            first = merged.setdefault(key, owner)
            if first is not owner:
                origins = first.origins + owner.origins
                merged[key] = replace(first, origins=origins)
        return list(merged.values())

    def _winner(self, owners: list[Descriptor]) -> Descriptor | None:
        """Return who goes first, where an order was chosen; owners come by rank."""
        ranked = all(self.places[owner.source][0] is not None for owner in owners)
        return owners[0] if ranked or self.rules.on_conflict == "precedence" else None


def _shadowed(kept: Descriptor, owner: Descriptor) -> Excluded:
    return Excluded(
        owner,
        "shadowed",
        f"{kept.origin.location} goes before {owner.origin.location}",
        "rename one of the two, or give a source a prefix",
    )


def _exclude_retired(descriptor: Descriptor, excluded: list[Excluded]) -> bool:
    reason: ExclusionReason
    if descriptor.status in RETIRED_STATUSES:
        heir = descriptor.replaced_by
        detail = f"its status is {descriptor.status}" + (
            f"; use {heir} instead" if heir else ""
        )
        reason, fix = "deprecated", f"load {heir}" if heir else ""
    elif not descriptor.model_invocable:
        reason, fix = "hidden", "take disable-model-invocation out of the manifest"
        detail = "its manifest keeps it from the model; a user may still load it"
    else:
        return False
    excluded.append(Excluded(descriptor, reason, detail, fix))
    return True


def _exclusion_order(held: Excluded) -> tuple[str, str, str]:
    return held.descriptor.id, held.reason, held.descriptor.origin.location
