"""Harvests into one catalog: who is in, who is not and why, and who claims what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from satchel.catalog.digests import Digests
from satchel.catalog.entry import RETIRED, Entry
from satchel.catalog.harvest import Field
from satchel.model import (
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Reader,
    Withheld,
    WithheldReason,
)

__all__ = ["OnConflict", "Rules", "assemble"]

OnConflict = Literal["error", "precedence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What decides between packs that were all read well."""

    on_conflict: OnConflict = "error"
    disabled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Claim:
    """A pack that wants an id: the how manyth of which source, and how good a one."""

    descriptor: Descriptor
    precedence: int | None
    place: int
    turn: int

    @property
    def rank(self) -> tuple[int, int, bool, int, int]:
        """What goes first among the claims to one id: the lower."""
        above, _, folder = self.descriptor.origin.key.rpartition("/")
        return (
            self.precedence or 0,
            self.place,
            folder != self.descriptor.name,
            above.count("/") + bool(above),
            self.turn,
        )


def assemble(fields: tuple[Field, ...], rules: Rules, digests: Digests) -> Catalog:
    """Build the catalog of all that the sources last gave.

    Untrusted, disabled and filtered packs claim nothing, so that none of them can
    shadow or block another. Packs of equal tree digest are one entry with several
    origins. Ties inside one rank go to the earlier source; inside one source to the
    pack in the folder of its own name, as the specification wants it, so that no
    other can take its place; then to the one nearer to the root, then the lower key.
    """
    findings: list[Finding] = []
    withheld: list[Withheld] = []
    claims: dict[str, list[_Claim]] = {}
    readers: dict[str, Reader] = {}
    for place, each in enumerate(fields):
        readers[each.label] = each.source
        if each.harvest is None:
            continue
        findings.extend(each.harvest.findings)
        for entry in each.harvest.entries:
            findings.extend(entry.findings)
            held = _refusal(entry, each, rules)
            if held is not None:
                withheld.append(held)
                continue
            _claim(claims, entry.descriptor, each, place)
    entries, conflicts = _settle(claims, rules, digests, readers, withheld)
    listed = [d for d in entries if not _retire(d, withheld)]
    return Catalog(
        tuple(listed),
        tuple(sorted(withheld, key=_withheld_order)),
        tuple(conflicts),
        tuple(findings),
        tuple(each.state for each in fields),
        readers,
    )


def _claim(
    claims: dict[str, list[_Claim]], descriptor: Descriptor, field: Field, place: int
) -> None:
    precedence = getattr(field.source, "precedence", None)
    mine = claims.setdefault(descriptor.id, [])
    mine.append(_Claim(descriptor, precedence, place, len(mine)))


def _refusal(entry: Entry, field: Field, rules: Rules) -> Withheld | None:
    """Return why this entry claims nothing, by the first reason that holds."""
    descriptor = entry.descriptor
    if entry.refused:
        first = next(f for f in entry.findings if f.severity == "error")
        return Withheld(descriptor, "refused", str(first), first.fix)
    if not getattr(field.source, "trusted", True):
        return Withheld(
            descriptor,
            "untrusted",
            f"{descriptor.origin.location} belongs to a project nobody vouched for",
            "name the folder yourself, or pass trust=True",
        )
    if entry.filtered:
        detail = f"source {field.label!r} leaves it out"
        return Withheld(descriptor, "filtered", detail, "widen the filter")
    if descriptor.id in rules.disabled:
        return Withheld(
            descriptor, "disabled", "it is switched off", "take it off `disabled`"
        )
    return None


def _settle(
    claims: Mapping[str, list[_Claim]],
    rules: Rules,
    digests: Digests,
    readers: Mapping[str, Reader],
    withheld: list[Withheld],
) -> tuple[list[Descriptor], list[Conflict]]:
    entries: list[Descriptor] = []
    conflicts: list[Conflict] = []
    for skill_id in sorted(claims):
        mine = claims[skill_id]
        if len(mine) == 1:
            entries.append(mine[0].descriptor)
            continue
        mine = _merge_equal(sorted(mine, key=lambda c: c.rank), digests, readers)
        if len(mine) == 1:
            entries.append(mine[0].descriptor)
            continue
        kept = _winner(mine, rules)
        owners = tuple(claim.descriptor for claim in mine)
        conflicts.append(Conflict(skill_id, owners, kept))
        if kept is not None:
            entries.append(kept)
            withheld.extend(_shadowed(kept, owner) for owner in owners[1:])
    return entries, conflicts


def _shadowed(kept: Descriptor, owner: Descriptor) -> Withheld:
    return Withheld(
        owner,
        "shadowed",
        f"{kept.origin.location} goes before {owner.origin.location}",
        "rename one of the two, or give a source a prefix",
    )


def _merge_equal(
    claims: Iterable[_Claim], digests: Digests, readers: Mapping[str, Reader]
) -> list[_Claim]:
    """Make one claim of those with equal bytes, with every origin."""
    merged: dict[object, _Claim] = {}
    for claim in claims:
        digest = digests.tree_or_none(claim.descriptor, readers)
        key: object = claim.descriptor.origin if digest is None else digest
        first = merged.get(key)
        if first is None:
            merged[key] = claim
            continue
        origins = first.descriptor.origins + claim.descriptor.origins
        merged[key] = replace(
            first, descriptor=replace(first.descriptor, origins=origins)
        )
    return list(merged.values())


def _winner(claims: list[_Claim], rules: Rules) -> Descriptor | None:
    """Return who goes first, where an order was chosen; claims come sorted by rank."""
    if rules.on_conflict == "precedence" or all(
        claim.precedence is not None for claim in claims
    ):
        return claims[0].descriptor
    return None


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
