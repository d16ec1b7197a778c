"""A catalog that an earlier process assembled, of packs that are still the same."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from satchel._published import VERSION
from satchel.catalog._assembly import CatalogRules, conflict_finding
from satchel.catalog._pack_rows import decode_findings, encode_findings
from satchel.catalog._source_scanner import SourceScanner
from satchel.catalog._stored_packs import ROW_ERRORS, StoredPacks, merged
from satchel.model import (
    Catalog,
    Conflict,
    Descriptor,
    Excluded,
    Finding,
    LazyTuple,
)

if TYPE_CHECKING:
    from satchel.index import IndexSettings

# Raised when catalogs are assembled otherwise, so that older ones are not used.
ASSEMBLY_VERSION: Final = 1
_PARTS: Final = ("", "/excluded", "/conflicts", "/findings")
_LOW: Final = 0xFFFFFFFF
# What a checksum says is as it was written.
_Json: TypeAlias = Any


class StoredCatalogs:
    """The assembled catalogs of one list of sources, under one set of rules."""

    def __init__(self, settings: "IndexSettings", rules: CatalogRules) -> None:
        self._settings = settings
        self._rules = rules
        self._generations: Sequence[str] = ()
        self.catalog: Catalog | None = None
        """The catalog that was recalled last, and the findings on its conflicts."""
        self.conflict_findings: tuple[Finding, ...] = ()

    def recall(self, scanners: Sequence[SourceScanner]) -> Catalog | None:
        """Return the catalog of what the sources have; None where nobody stored it."""
        stored = [s.result.packs for s in scanners if s.result and s.result.whole]
        packs = [of_one for of_one in stored if isinstance(of_one, StoredPacks)]
        if len(packs) < len(scanners) or any(s.error for s in scanners):
            return None
        generations = [of_one.generation for of_one in packs]
        if self.catalog is not None and self._generations == generations:
            return self.catalog
        name = self._name(scanners)
        parts = self._settings.file().blobs([name + part for part in _PARTS])
        try:
            listing, excluded, conflicts, findings = (
                _decode(part, generations) for part in parts
            )
            stamp = sha256(repr((name, generations)).encode()).hexdigest()
            catalog = _RowPacks(packs).catalog(listing, excluded, conflicts, stamp)
            noted, self.conflict_findings = map(decode_findings, findings)
        except ROW_ERRORS:
            return None
        catalog = Catalog(
            catalog.entries,
            catalog.excluded,
            catalog.conflicts,
            noted,
            tuple(scanner.state for scanner in scanners),
            {scanner.label: scanner.reader for scanner in scanners},
        )
        self._generations, self.catalog = generations, catalog
        return catalog

    def save(self, scanners: Sequence[SourceScanner], catalog: Catalog) -> None:
        """Store a catalog that was assembled, where all its packs have rows."""
        if isinstance(catalog.entries, LazyTuple):
            return
        generations: list[str] = []
        refs: dict[tuple[str, str], int] = {}
        for position, scanner in enumerate(scanners):
            rows = scanner.stored_rows()
            if rows is None or not scanner.result or not scanner.result.whole:
                return
            generation, numbers = rows
            generations.append(generation)
            for key, number in numbers.items():
                ref = (number & _LOW) * len(scanners) + position
                refs[scanner.label, key] = ref
        if any(scanner.error for scanner in scanners):
            return
        conflicts = [conflict_finding(conflict) for conflict in catalog.unresolved]
        try:
            fields: tuple[Any, ...] = (
                _entry_rows(catalog.entries, refs),
                _excluded_rows(catalog.excluded, refs),
                _conflict_rows(catalog.conflicts, refs),
                (encode_findings(catalog.findings), encode_findings(conflicts)),
            )
        except KeyError:  # a pack was replaced since
            return
        name = self._name(scanners)
        self._settings.file().put(
            {
                name + part: _encode(values, generations)
                for part, values in zip(_PARTS, fields, strict=True)
            }
        )

    def _name(self, scanners: Sequence[SourceScanner]) -> str:
        sources = [
            (s.label, s.source.trusted, s.source.precedence, s.source.yields)
            for s in scanners
        ]
        names = [s.index_name for s in scanners]
        all_of_it = repr((ASSEMBLY_VERSION, VERSION, self._rules, sources, names))
        digest = sha256(all_of_it.encode("utf-8", "backslashreplace")).hexdigest()
        return f"catalog/{digest}"


class _RowPacks:
    """Turns references to rows into packs, each when it is asked for."""

    def __init__(self, packs: Sequence[StoredPacks]) -> None:
        self._packs = packs
        # The upper half of every number of a source is the same.
        self._firsts = [
            of_one.numbers[0] & ~_LOW if of_one.numbers else 0 for of_one in packs
        ]

    def catalog(
        self, listing: _Json, excluded: _Json, conflicts: _Json, stamp: str
    ) -> Catalog:
        ids, refs = listing
        excluded_ids, excluded_refs, reasons = excluded
        conflict_ids, owners, preferred = conflicts
        for rows, names in (
            (refs, ids),
            (reasons, excluded_ids),
            (owners, conflict_ids),
        ):
            if len(rows) != len(names):
                raise ValueError("rows are missing")

        def make_entries(start: int, stop: int) -> list[Descriptor]:
            return self.descriptors(refs[start:stop])

        def make_excluded(start: int, stop: int) -> Iterable[Excluded]:
            packs = self.descriptors(excluded_refs[start:stop])
            return map(Excluded, packs, *zip(*reasons[start:stop], strict=True))

        def make_conflicts(start: int, stop: int) -> Iterable[Conflict]:
            for place in range(start, stop):
                packs = tuple(self.descriptors(owners[place]))
                chosen = preferred[place]
                first = None if chosen is None else self.descriptors([chosen])[0]
                yield Conflict(conflict_ids[place], packs, first)

        return Catalog(
            LazyTuple(ids, make_entries, stamp),
            LazyTuple(excluded_ids, make_excluded),
            LazyTuple(conflict_ids, make_conflicts),
        )

    def descriptors(self, refs: Sequence[int | list[int]]) -> list[Descriptor]:
        rows = [ref if isinstance(ref, list) else [ref] for ref in refs]
        by_source: dict[int, list[int]] = {}
        for row in rows:
            for ref in row:
                low, position = divmod(ref, len(self._packs))
                by_source.setdefault(position, []).append(self._firsts[position] | low)
        made = {
            (position, number): pack.descriptor
            for position, numbers in by_source.items()
            for number, pack in zip(
                numbers, self._packs[position].at(numbers), strict=True
            )
        }

        def of(ref: int) -> Descriptor:
            low, position = divmod(ref, len(self._packs))
            return made[position, self._firsts[position] | low]

        return [merged(of(row[0]), [of(ref) for ref in row[1:]]) for row in rows]


_Refs = Mapping[tuple[str, str], int]


def _ref(entry: Descriptor, refs: _Refs) -> int | list[int]:
    several = [refs[origin.source, origin.key] for origin in entry.origins]
    return several[0] if len(several) == 1 else several


def _entry_rows(entries: Sequence[Descriptor], refs: _Refs) -> tuple[Any, ...]:
    return [entry.id for entry in entries], [_ref(entry, refs) for entry in entries]


def _excluded_rows(excluded: Sequence[Excluded], refs: _Refs) -> tuple[Any, ...]:
    return (
        [one.descriptor.id for one in excluded],
        [_ref(one.descriptor, refs) for one in excluded],
        [(one.reason, one.detail, one.fix) for one in excluded],
    )


def _conflict_rows(conflicts: Sequence[Conflict], refs: _Refs) -> tuple[Any, ...]:
    return (
        [conflict.id for conflict in conflicts],
        [[_ref(owner, refs) for owner in conflict.owners] for conflict in conflicts],
        [
            conflict.preferred and _ref(conflict.preferred, refs)
            for conflict in conflicts
        ],
    )


def _encode(values: object, generations: Sequence[str]) -> bytes:
    text = json.dumps((generations, values), separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), 1)


def _decode(data: bytes | None, generations: Sequence[str]) -> _Json:
    """Return the values; ``ValueError`` where they are of other packs."""
    if data is None:
        raise ValueError("nothing is stored")
    try:
        of, values = json.loads(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError("it is damaged") from error
    if of != list(generations):
        raise ValueError("it is of other packs")
    return values
