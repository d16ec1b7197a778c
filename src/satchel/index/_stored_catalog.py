"""A catalog that an earlier process assembled, of packs that are still the same."""

import json
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import accumulate
from typing import Any, Final, TypeAlias

from satchel.catalog import (
    PluginNames,
    ScannedPack,
    SourceScanner,
    conflict_finding,
    is_listed,
)
from satchel.index._file import IndexFile
from satchel.index._stored_packs import ROW_ERRORS, StoredPacks, merged
from satchel.model import (
    Catalog,
    Conflict,
    Descriptor,
    Excluded,
    Finding,
    LazyTuple,
    finding_kind,
)
from satchel.published import VERSION

# Raised when catalogs are assembled otherwise, so that older ones are not used.
ASSEMBLY_VERSION: Final = 5
_PARTS: Final = ("", "/excluded", "/conflicts", "/findings")
# Read when somebody asks why a pack is not listed.
_REASONS: Final = "/reasons"
# Rows that were replaced since the parts were stored.
_CHANGES: Final = "/changes"
_MOST_CHANGES: Final = 200
_LOW: Final = 0xFFFFFFFF
# What a checksum says is as it was written.
_Json: TypeAlias = Any


class StoredCatalogs:
    """The assembled catalogs of one list of sources, under one set of rules."""

    def __init__(self, file: IndexFile, rules: object) -> None:
        self._file = file
        self._rules = rules
        self._generations: Sequence[str] = ()
        self.catalog: Catalog | None = None
        """The catalog that was recalled last, and the findings on its conflicts."""
        self.conflict_findings: Sequence[Finding] = ()
        self.changes: tuple[Catalog, frozenset[str]] | None = None
        """The catalog before, and the ids of what was read again since, if known."""

    def recall(self, scanners: Sequence[SourceScanner]) -> Catalog | None:
        """Return the catalog of what the sources have; None where nobody stored it."""
        stored = [s.result.packs for s in scanners if s.result and s.result.whole]
        packs = [of_one for of_one in stored if isinstance(of_one, StoredPacks)]
        if len(packs) < len(scanners) or any(s.error for s in scanners):
            return None
        generations = [of_one.generation for of_one in packs]
        if self.catalog is not None and self._generations == generations:
            return self.catalog
        before, self.changes = self.catalog, None
        name = self._name(scanners)
        names = [name + part for part in (*_PARTS, _REASONS, _CHANGES)]
        *data, changes = self._file.blobs(names)
        try:
            of, (*packed, reasons) = _unwrapped(data)
            parts = [_decode(part) for part in packed]
            readers = {scanner.label: scanner.reader for scanner in scanners}
            rows = _RowPacks(packs, PluginNames(readers))
            now, refs = rows.changes_since(of, changes)
            if refs:
                rows.patch(parts, refs)
            (*listing, tools_named, needs), excluded, conflicts, noted = parts
            stamp = sha256(repr((name, generations)).encode()).hexdigest()
            of_sources = [s.result.findings if s.result else () for s in scanners]
            unpacked = cache(partial(_decode, reasons))
            made = rows.packs_of(listing, excluded, unpacked, conflicts, stamp)
            self.conflict_findings = _conflict_findings(made[-1], conflicts[-1])
            self.catalog = Catalog(
                *made,
                rows.findings(of_sources, *noted),
                tuple(scanner.state for scanner in scanners),
                readers,
                tools_named,
                needs,
            )
        except ROW_ERRORS:
            return None
        new = rows.read_since(self._generations)
        if before is not None and new is not None:
            ids = (id for id, ref in zip(*listing, strict=True) if ref in new)
            self.changes = before, frozenset(ids)
        if now != generations:
            pairs = list(refs.items())
            self._file.put({name + _CHANGES: _encode((generations, pairs), of)})
        self._generations = generations
        return self.catalog

    def save(self, scanners: Sequence[SourceScanner], catalog: Catalog) -> None:
        """Store a catalog that was assembled, where all its packs have rows."""
        if isinstance(catalog.entries, LazyTuple) or catalog is self.catalog:
            return
        generations: list[str] = []
        refs: dict[tuple[str, str], int] = {}
        for position, scanner in enumerate(scanners):
            index, result = scanner.index, scanner.result
            if index is None or result is None or not result.whole:
                return
            rows = index.rows_of(result.packs)
            if not rows:
                return
            generation, numbers = rows
            generations.append(generation)
            for key, number in numbers.items():
                ref = (number & _LOW) * len(scanners) + position
                refs[scanner.label, key] = ref
        if any(scanner.error for scanner in scanners):
            return
        conflicts = catalog.conflicts
        try:
            fields: tuple[Any, ...] = (
                (
                    [entry.id for entry in catalog.entries],
                    [_ref(entry, refs) for entry in catalog.entries],
                    catalog.names_tools,
                    [entry.id for entry in catalog.needing],
                ),
                (
                    [one.descriptor.id for one in catalog.excluded],
                    [_ref(one.descriptor, refs) for one in catalog.excluded],
                ),
                (
                    [conflict.id for conflict in conflicts],
                    [[_ref(owner, refs) for owner in one.owners] for one in conflicts],
                    [one.preferred and _ref(one.preferred, refs) for one in conflicts],
                ),
                _finding_rows(scanners, refs),
                [(one.reason, one.detail, one.fix) for one in catalog.excluded],
            )
        except KeyError:  # a pack was replaced since
            return
        name = self._name(scanners)
        self._file.put(
            {
                name + part: _encode(values, generations)
                for part, values in zip((*_PARTS, _REASONS), fields, strict=True)
            }
        )
        # What was stored is what is in use: the next sync, if nothing changed, needs
        # not one row.
        self.catalog, self._generations = catalog, generations
        self.conflict_findings = [conflict_finding(one) for one in catalog.unresolved]

    def _name(self, scanners: Sequence[SourceScanner]) -> str:
        sources = [
            (s.label, s.source.trusted, s.source.precedence, s.source.yields)
            for s in scanners
        ]
        names = [s.index.name if s.index else "" for s in scanners]
        all_of_it = repr((ASSEMBLY_VERSION, VERSION, self._rules, sources, names))
        digest = sha256(all_of_it.encode("utf-8", "backslashreplace")).hexdigest()
        return f"catalog/{digest}"


class _RowPacks:
    """Turns references to rows into packs, each when it is asked for."""

    def __init__(self, packs: Sequence[StoredPacks], names: PluginNames) -> None:
        self._packs, self._names = packs, names
        # The upper half of every number of a source is the same.
        self._firsts = [
            of_one.numbers[0] & ~_LOW if of_one.numbers else 0 for of_one in packs
        ]

    def packs_of(
        self,
        listing: _Json,
        excluded: _Json,
        reasons: Callable[[], _Json],
        conflicts: _Json,
        stamp: str,
    ) -> tuple[LazyTuple[Descriptor], LazyTuple[Excluded], LazyTuple[Conflict]]:
        ids, refs = listing
        excluded_ids, excluded_refs = excluded
        conflict_ids, owners, preferred = conflicts
        for rows, names in (
            (refs, ids),
            (excluded_refs, excluded_ids),
            (owners, conflict_ids),
        ):
            if len(rows) != len(names):
                raise ValueError("rows are missing")

        def make_entries(start: int, stop: int) -> list[Descriptor]:
            return self.descriptors(refs[start:stop])

        def make_excluded(start: int, stop: int) -> Iterable[Excluded]:
            packs = self.descriptors(excluded_refs[start:stop])
            return map(Excluded, packs, *zip(*reasons()[start:stop], strict=True))

        def make_conflicts(start: int, stop: int) -> Iterable[Conflict]:
            for place in range(start, stop):
                packs = tuple(self.descriptors(owners[place]))
                chosen = preferred[place]
                first = None if chosen is None else self.descriptors([chosen])[0]
                yield self._names.added(Conflict(conflict_ids[place], packs, first))

        return (
            LazyTuple(ids, make_entries, stamp, partial(self._places, refs)),
            LazyTuple(excluded_ids, make_excluded),
            LazyTuple(conflict_ids, make_conflicts),
        )

    def _places(self, refs: Sequence[int | list[int]]) -> Iterable[tuple[str, str]]:
        """Return the source and the key of each pack, in its first place."""
        keys = [
            {number & _LOW: key for key, number in packs.number_of().items()}
            for packs in self._packs
        ]
        for ref in refs:
            number, at = divmod(_flat(ref)[0], len(keys))
            yield self._packs[at].label, keys[at].get(number, "")

    def findings(
        self, of_sources: Sequence[tuple[Finding, ...]], kinds: _Json, rows: _Json
    ) -> LazyTuple[Finding]:
        """Return the findings of each source, and then of each of its packs."""
        ids: list[str] = []
        for of_source, (_, _, numbers) in zip(of_sources, rows, strict=True):
            ids += [finding_kind(finding) for finding in of_source]
            ids += [kinds[number] for number in numbers]
        # Where those of each source and of each pack begin, and what they are of.
        starts: list[int] = []
        owners: list[int | tuple[Finding, ...]] = []

        def make(start: int, stop: int) -> list[Finding]:
            if not owners:
                counts: list[int] = []
                for of_source, (refs, of_packs, _) in zip(
                    of_sources, rows, strict=True
                ):
                    owners.extend((of_source, *refs))
                    counts += (len(of_source), *of_packs)
                starts.extend(accumulate(counts[:-1], initial=0))
            first, last = bisect_right(starts, start) - 1, bisect_left(starts, stop)
            some = owners[first:last]
            packs = iter(self.packs([of for of in some if isinstance(of, int)]))
            made = [
                finding
                for of in some
                for finding in (next(packs).findings if isinstance(of, int) else of)
            ]
            return made[start - starts[first] : stop - starts[first]]

        return LazyTuple(ids, make)

    def changes_since(
        self, then: _Json, stored: bytes | None
    ) -> tuple[_Json, dict[int, int]]:
        """Return what became of rows since these generations, by reference.

        ``stored`` is what earlier processes noted of it, up to the generations that are
        returned.

        Raises:
            ValueError: That is not known, or is too much.
        """
        notes: list[tuple[_Json, dict[int, int]]] = [(then, {})]
        if stored is not None:
            of, (packed,) = _unwrapped([stored])
            until, pairs = _decode(packed)
            if of == then:
                notes.append((until, dict(pairs)))
        for until, refs in notes:
            bases = {new: old for old, new in refs.items()}
            for position, (packs, generation) in enumerate(
                zip(self._packs, until, strict=True)
            ):
                if packs.generation == generation:
                    continue
                if packs.replaced is None or packs.replaced[0] != generation:
                    break
                for numbers in packs.replaced[1].items():
                    old, new = (
                        (n & _LOW) * len(self._packs) + position for n in numbers
                    )
                    refs[bases.get(old, old)] = new
            else:
                if len(refs) <= _MOST_CHANGES:
                    return until, refs
        raise ValueError("it is of other packs")

    def read_since(self, generations: Sequence[str]) -> list[int] | None:
        """Return what took the places of other rows since these; None if unknown."""
        refs: list[int] = []
        if len(generations) != len(self._packs):
            return None
        for position, packs in enumerate(self._packs):
            if packs.generation == generations[position]:
                continue
            if packs.replaced is None or packs.replaced[0] != generations[position]:
                return None
            numbers = packs.replaced[1].values()
            refs += [(n & _LOW) * len(self._packs) + position for n in numbers]
        return refs

    def patch(self, parts: _Json, refs: Mapping[int, int]) -> None:
        """Put changed packs into the place of what they were.

        Raises:
            ValueError: It is about more than the entry of each.
        """
        (ids, entries, _, needs), _, (_, owners, _), (kinds, with_findings) = parts
        claimed = {ref for row in owners for one in row for ref in _flat(one)}
        for (old, new), pack in zip(
            refs.items(), self.packs([*refs.values()]), strict=True
        ):
            place, entry = entries.index(old), pack.descriptor
            is_plain = not (pack.refused or pack.filtered or old in claimed)
            if not (is_plain and entry.id == ids[place] and is_listed(entry)):
                raise ValueError("it takes another place")
            entries[place] = new
            parts[0][2] = parts[0][2] or bool(entry.tools)
            needs += [entry.id] if entry.requires and entry.id not in needs else []
            position = new % len(self._packs)
            numbers = [_number(kinds, finding_kind(one)) for one in pack.findings]
            self._replace_findings(with_findings[position], old, new, numbers)

    def _replace_findings(
        self, with_findings: _Json, old: int, new: int, numbers: list[int]
    ) -> None:
        refs, counts, all_numbers = with_findings
        if old in refs:
            at = refs.index(old)
            count = counts[at]
        elif numbers:
            size, position = len(self._packs), new % len(self._packs)
            order = {n & _LOW: at for at, n in enumerate(self._packs[position].numbers)}
            place, count = order[new // size], 0
            at = bisect_left(refs, place, key=lambda ref: order[ref // size])
        else:
            return
        first, end = sum(counts[:at]), at + (old in refs)
        refs[at:end] = [new] if numbers else []
        counts[at:end] = [len(numbers)] if numbers else []
        all_numbers[first : first + count] = numbers

    def descriptors(self, refs: Sequence[int | list[int]]) -> list[Descriptor]:
        rows = [_flat(ref) for ref in refs]
        packs = iter(self.packs([ref for row in rows for ref in row]))
        made = [[next(packs).descriptor for _ in row] for row in rows]
        return [merged(first, others) for first, *others in made]

    def packs(self, refs: Sequence[int]) -> list[ScannedPack]:
        by_source: dict[int, list[int]] = {}
        for ref in refs:
            number, position = divmod(ref, len(self._packs))
            by_source.setdefault(position, []).append(self._firsts[position] | number)
        read = {
            position: iter(self._packs[position].at(numbers))
            for position, numbers in by_source.items()
        }
        return [next(read[ref % len(self._packs)]) for ref in refs]


_Refs = Mapping[tuple[str, str], int]


def _ref(entry: Descriptor, refs: _Refs) -> int | list[int]:
    several = [refs[origin.source, origin.key] for origin in entry.origins]
    return several[0] if len(several) == 1 else several


def _finding_rows(scanners: Sequence[SourceScanner], refs: _Refs) -> tuple[Any, ...]:
    """Return the kinds of findings; and of each source its packs that have some.

    Of these there are the references, how many each has, and the numbers of the kinds.
    """
    kinds: list[str] = []
    sources: list[tuple[list[int], list[int], list[int]]] = []
    for scanner in scanners:
        rows, counts, numbers = list[int](), list[int](), list[int]()
        for key, pack in scanner.result.packs.items() if scanner.result else ():
            if pack.findings:
                rows.append(refs[scanner.label, key])
                counts.append(len(pack.findings))
                numbers += [_number(kinds, finding_kind(one)) for one in pack.findings]
        sources.append((rows, counts, numbers))
    return kinds, sources


def _number(kinds: list[str], kind: str) -> int:
    if kind not in kinds:
        kinds.append(kind)
    return kinds.index(kind)


def _flat(ref: int | list[int]) -> list[int]:
    return ref if isinstance(ref, list) else [ref]


def _conflict_findings(
    conflicts: Sequence[Conflict], preferred: Sequence[object]
) -> Sequence[Finding]:
    """Return the findings on what no precedence decided, made when asked for."""
    places = [place for place, chosen in enumerate(preferred) if chosen is None]
    if not places:
        return ()

    def make(start: int, stop: int) -> list[Finding]:
        return [conflict_finding(conflicts[place]) for place in places[start:stop]]

    (first,) = make(0, 1)
    return LazyTuple([finding_kind(first)] * len(places), make)


def _encode(values: object, generations: Sequence[str]) -> bytes:
    head, rest = (json.dumps(of, separators=(",", ":")) for of in (generations, values))
    return f"{head}\n".encode("ascii") + zlib.compress(rest.encode("ascii"), 1)


def _unwrapped(data: Sequence[bytes | None]) -> tuple[_Json, list[bytes]]:
    """Return the generations that all of it is of, and what each part holds, packed.

    Raises:
        ValueError: A part is missing, or another process writes them.
    """
    heads: set[bytes] = set()
    packed: list[bytes] = []
    for part in data:
        if part is None:
            raise ValueError("nothing is stored")
        head, _, rest = part.partition(b"\n")
        heads.add(head)
        packed.append(rest)
    if len(heads) > 1:
        raise ValueError("another process writes them")
    return json.loads(heads.pop()), packed


def _decode(packed: bytes) -> _Json:
    try:
        return json.loads(zlib.decompress(packed))
    except zlib.error as error:
        raise ValueError("it is damaged") from error
