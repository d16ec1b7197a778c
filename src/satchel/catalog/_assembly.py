"""Scan results to one catalog: what is listed, what is excluded, who has an id."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Final, Literal

from satchel.catalog._packs import RETIRED_STATUSES, PackDigests, ScannedPack
from satchel.catalog._source_scanner import SourceScanner
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
from satchel.protocols import Verifier

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
    readers: dict[str, FileReader] = {one.label: one.reader for one in scanners}
    chosen: dict[str, Descriptor | None] = {}
    conflicts: list[Conflict] = []
    contested = [id for id in claims if len(claims[id]) > 1 or id in broken]
    if contested:  # in few libraries
        from satchel.catalog._conflicts import ConflictResolver, PluginNames

        resolver = ConflictResolver(scanners, rules.on_conflict, digests, broken)
        chosen = {id: resolver.resolve(id, claims[id]) for id in sorted(contested)}
        excluded += resolver.excluded
        conflicts += map(PluginNames(readers).added, resolver.conflicts)
    # By id: equal packs give equal bytes, whatever source answered first.
    entries: list[Descriptor] = []
    for skill_id in sorted(claims):
        entry = chosen[skill_id] if skill_id in chosen else claims[skill_id][0]
        if entry is not None and is_listed(entry):
            entries.append(entry)
        elif entry is not None:
            excluded.append(_unlisted(entry))
    findings.extend(_lost_for_trust(entries, excluded))
    return Catalog(
        tuple(entries),
        tuple(sorted(excluded, key=_ORDER)),
        tuple(conflicts),
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
