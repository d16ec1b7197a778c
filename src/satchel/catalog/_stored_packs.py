"""The packs of a source that an index has: each is read when it is asked for."""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from satchel.catalog._pack_rows import decode_pack
from satchel.catalog._packs import ScannedPack
from satchel.catalog._reread import ScannedSource
from satchel.errors import SkillError
from satchel.model import Descriptor, Finding, Found, Origin

if TYPE_CHECKING:
    from satchel.index import IndexFile, StoredRows

# What a damaged row may raise when it is taken apart.
ROW_ERRORS: Final = (ValueError, TypeError, LookupError, RecursionError)
UTF_8: Final = "utf-8", "surrogatepass"


class SearchedFolders(Protocol):
    """What a search depended on; `satchel.sources` has the class."""

    folders: list[str]
    subfolders: dict[str, tuple[str, ...]]
    links: dict[str, bool]
    is_plain: bool


class IndexedSource(Protocol):
    """A folder of this machine, whose scans say what they depended on."""

    root: str
    trace: SearchedFolders | None

    @property
    def progress(self) -> int: ...
    def look_at(
        self, key: str, *, alone: bool = True
    ) -> tuple[Found, int, tuple[str, ...]] | None: ...
    def skip_scan(self, keys: Iterable[str]) -> None: ...


class StoredPacks(Mapping[str, ScannedPack]):
    """Packs by key, in the order of keys; ``keys`` are those, if they were read.

    ``numbers`` are those of their rows, in that order. ``generation`` is another one
    whenever anything of the source changes; ``replaced`` is the one before, and what
    became of its rows, if that is known.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - where it is, and what of it
        self,
        file: "IndexFile",
        name: str,
        source: IndexedSource,
        scanner: ScannedSource,
        stored: "StoredRows",
        keys: Sequence[str] | None,
        replaced: tuple[str, Mapping[int, int]] | None = None,
    ) -> None:
        self._file = file
        self._name = name
        self._source = source
        self._scanner = scanner
        self.numbers: Final = stored.numbers
        self._keys = keys
        self._by_key: dict[str, int] | None = None
        self.generation: Final = stored.generation
        self.replaced: Final = replaced

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self.number_of())

    def __getitem__(self, key: str) -> ScannedPack:
        return self.at([self.number_of()[key]])[0]

    def values(self) -> ValuesView[ScannedPack]:
        return self._all().values()

    def items(self) -> ItemsView[str, ScannedPack]:
        return self._all().items()

    def number_of(self) -> Mapping[str, int]:
        """Return the number of each pack's row."""
        if self._by_key is None:
            keys = self._keys
            if keys is None:
                stored = self._file.rows(self._name)
                rows = stored.rows if stored is not None else ()
                by_number = {row.number: row.key.decode(*UTF_8) for row in rows}
                keys = [by_number.get(number, "") for number in self.numbers]
            self._by_key = dict(zip(keys, self.numbers, strict=True))
        return self._by_key

    def at(self, numbers: Sequence[int]) -> list[ScannedPack]:
        """Return the packs of some rows."""
        data = self._file.some_packs(numbers)
        return [self._decoded(number, data.get(number)) for number in numbers]

    def _all(self) -> dict[str, ScannedPack]:
        data = self._file.packs(self._name)
        return {
            key: self._decoded(number, data.get(number))
            for key, number in self.number_of().items()
        }

    def _decoded(self, number: int, data: bytes | None) -> ScannedPack:
        try:
            if data is not None:
                return decode_pack(data, self._scanner.label)
        except ROW_ERRORS:
            pass
        return self._read_again(number)

    def _read_again(self, number: int) -> ScannedPack:
        """Return a pack whose row was damaged, or deleted with the file."""
        self._file.drop(number)
        keys = (key for key, other in self.number_of().items() if other == number)
        key = next(keys, "")
        try:
            looked = self._source.look_at(key, alone=False)
        except SkillError:
            looked = None
        if looked is None:  # gone, too
            where = f"{self._source.root}/{key}"
            entry = Descriptor(
                key, "", origins=(Origin(self._scanner.label, key, where),)
            )
            gone = Finding("source-error", "error", "the pack went away", where)
            return ScannedPack(entry, None, (gone,), refused=True)
        return self._scanner.builder(self._scanner.source).read(looked[0])


def merged(first: Descriptor, others: Sequence[Descriptor]) -> Descriptor:
    """Return a pack that was found in several places."""
    origins = tuple(origin for other in others for origin in other.origins)
    return replace(first, origins=first.origins + origins) if others else first
