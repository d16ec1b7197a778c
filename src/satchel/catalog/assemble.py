"""Harvests into one catalog: who is in, who is not and why, and who claims what."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from satchel.catalog.digests import Digests
from satchel.catalog.entry import RETIRED, Entry
from satchel.catalog.harvest import Field
from satchel.catalog.switches import Switch
from satchel.model import (
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    OnConflict,
    Reader,
    Withheld,
    WithheldReason,
)

__all__ = ["Rules", "assemble"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What decides between packs that were all read well."""

    on_conflict: OnConflict = "error"
    disabled: tuple[Switch, ...] = ()

    def switch_for(self, skill_id: str, source: str) -> Switch | None:
        """Return the first switch that turns this skill off, if any."""
        return next((s for s in self.disabled if s.turns_off(skill_id, source)), None)


def assemble(fields: tuple[Field, ...], rules: Rules, digests: Digests) -> Catalog:
    """Build the catalog of all that the sources last gave.

    Untrusted, disabled and filtered packs claim nothing, so that none of them can
    shadow or block another; one in error blocks those of sources that yield, under the
    name of its folder. Packs of equal tree digest are one entry with several
    origins. Ties inside one rank go to the earlier source; inside one source to the
    pack in the folder of its own name, as the specification wants it, so that no
    other can take its place; then to the one nearer to the root, then the lower key.
    """
    findings: list[Finding] = []
    withheld: list[Withheld] = []
    claims: dict[str, list[Descriptor]] = {}
    broken: dict[str, Descriptor] = {}
    for each in fields:
        if each.harvest is None:
            continue
        findings.extend(each.harvest.findings)
        trusted = getattr(each.source, "trusted", True)
        for entry in each.harvest.entries.values():
            findings.extend(entry.findings)
            descriptor = entry.descriptor
            switch = rules.switch_for(descriptor.id, each.label)
            if entry.listable and trusted and switch is None:
                claims.setdefault(descriptor.id, []).append(descriptor)
            else:
                if entry.refused and trusted and not _yields(each.source):
                    broken.setdefault(descriptor.id, descriptor)
                withheld.append(_refusal(entry, each.label, switch, trusted=trusted))
    readers = {each.label: each.reader for each in fields}
    settling = _Settling(
        rules,
        digests,
        readers,
        {each.label: (_precedence(each), n) for n, each in enumerate(fields)},
        withheld,
        broken,
    )
    entries = [
        found
        for skill_id in sorted(claims)
        if (found := settling.settle(skill_id, claims[skill_id])) is not None
        and not _retire(found, withheld)
    ]
    return Catalog(
        tuple(entries),
        tuple(sorted(withheld, key=_withheld_order)),
        tuple(settling.conflicts),
        tuple(findings),
        tuple(each.state for each in fields),
        readers,
    )


def _yields(source: object) -> bool:
    return bool(getattr(source, "yields", False))


def _precedence(field: Field) -> int | None:
    return getattr(field.source, "precedence", None)


def _refusal(
    entry: Entry, label: str, switch: Switch | None, *, trusted: bool
) -> Withheld:
    """Return why this entry claims nothing, by the first reason that holds."""
    descriptor = entry.descriptor
    if entry.refused:
        first = next(f for f in entry.findings if f.severity == "error")
        return Withheld(descriptor, "refused", str(first), first.fix)
    if not trusted:
        return Withheld(
            descriptor,
            "untrusted",
            f"{descriptor.origin.location} belongs to a project nobody vouched for",
            "name the folder yourself, or pass trust=True",
        )
    if entry.filtered or switch is None:
        detail = f"source {label!r} leaves it out"
        return Withheld(descriptor, "filtered", detail, "widen the filter")
    return Withheld(descriptor, "disabled", switch.detail, switch.fix)


@dataclass(frozen=True, slots=True)
class _Settling:
    """Decides who has an id.

    ``places`` are precedence and number by source, ``broken`` packs in error by id.
    """

    rules: Rules
    digests: Digests
    readers: Mapping[str, Reader]
    places: Mapping[str, tuple[int | None, int]]
    withheld: list[Withheld]
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
            self.withheld.extend(_shadowed(broken, owner) for owner in owners)
            return None
        if not first or len(first) == len(owners):
            return self._contest(skill_id, owners)
        known = len(self.conflicts)
        kept = self._contest(skill_id, first)
        last = [owner for owner in owners if self._yields(owner)]
        claims = (*first, *last)
        self.conflicts[known:] = [Conflict(skill_id, claims, kept)]
        self.withheld.extend(_shadowed(kept or first[0], owner) for owner in last)
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
            self.withheld.extend(_shadowed(kept, owner) for owner in owners[1:])
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


def _shadowed(kept: Descriptor, owner: Descriptor) -> Withheld:
    return Withheld(
        owner,
        "shadowed",
        f"{kept.origin.location} goes before {owner.origin.location}",
        "rename one of the two, or give a source a prefix",
    )


def _retire(descriptor: Descriptor, withheld: list[Withheld]) -> bool:
    reason: WithheldReason
    if descriptor.status in RETIRED:
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
    withheld.append(Withheld(descriptor, reason, detail, fix))
    return True


def _withheld_order(held: Withheld) -> tuple[str, str, str]:
    return held.descriptor.id, held.reason, held.descriptor.origin.location
