"""The packs of a source that an index has: each row is read when it is asked for.

Rows are JSON, since a file on disk is untrusted input.
"""

import json
import os
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import replace
from operator import attrgetter
from struct import Struct
from typing import Any, Final, Protocol

from satchel.catalog import ScannedPack, SourceScanner
from satchel.errors import SkillError
from satchel.index._file import IndexFile, StoredRows
from satchel.model import SKILL_FILE, Descriptor, FileStat, Finding, Found, Origin

# Of a folder: modified, changed, inode, device. Of a file: modified, inode, changed,
# size. An inode of Windows has more bits than fit.
_MARKS: Final = Struct("<4q")
_BITS: Final = (1 << 63) - 1
_SECOND_NS: Final = 1_000_000_000
# A file that was written so short a time before it was read may be written again
# without another mark: its clock may count 2 seconds (FAT), or be that of a server.
RACY_NS: Final = 2 * _SECOND_NS

_encode = json.JSONEncoder(separators=(",", ":")).encode


def encode_pack(pack: ScannedPack) -> bytes:
    """Return a pack of a folder as a row; its manifest is not in it."""
    entry = pack.descriptor
    origin = entry.origin
    fields = (
        (origin.key, origin.location, entry.id, entry.description, entry.name),
        (entry.references, entry.scripts, entry.assets, entry.others),
        (entry.digest, entry.size, entry.status, entry.replaced_by),
        (entry.model_invocable, entry.user_invocable),
        (entry.tools, entry.allowed_tools, entry.replaces, entry.keywords),
        (entry.category, entry.owner, entry.odd_fields, entry.requires),
        (pack.refused, pack.filtered),
        [(f.path, f.size, *f.mark) for f in _files(pack)],
        encode_findings(pack.findings),
    )
    return _encode(fields).encode("ascii")


def decode_pack(data: bytes, label: str) -> ScannedPack:
    """Return the pack of a row; ``ValueError`` or ``TypeError`` if it is none."""
    head, paths, state, callers, lists, rest, flags, files, findings = json.loads(data)
    key, location, skill_id, description, name = head
    references, scripts, assets, others = map(tuple, paths)
    digest, size, status, replaced_by = state
    tools, allowed_tools, replaces, keywords = map(tuple, lists)
    category, owner, odd_fields, requires = rest
    for_model, for_user = callers
    refused, filtered = flags
    stats = tuple(
        [
            FileStat(path, length, (modified, inode, changed))
            for path, length, modified, inode, changed in files
        ]
    )
    descriptor = Descriptor(
        skill_id,
        description,
        name,
        references,
        scripts,
        assets,
        others,
        (Origin(label, key, location),),
        digest,
        size,
        status,
        replaced_by,
        for_model,
        for_user,
        tools,
        allowed_tools,
        category,
        owner,
        () if refused else stats,
        "",
        replaces,
        keywords,
        tuple(odd_fields),
        tuple(requires),
    )
    noted = decode_findings(findings)
    return ScannedPack(descriptor, stats, noted, refused, filtered)


_finding_values = attrgetter(
    *("code", "severity", "message", "path", "line", "fix", "before", "after")
)


def encode_findings(findings: Iterable[Finding]) -> list[Any]:
    return [_finding_values(finding) for finding in findings]


def decode_findings(rows: Iterable[Any]) -> tuple[Finding, ...]:
    return tuple([Finding(*row) for row in rows])


def _files(pack: ScannedPack) -> tuple[Any, ...]:
    """Return the files by whose marks a pack is told from what it was."""
    stamp: Any = pack.stamp
    return tuple(stamp)


def paths_of(pack: ScannedPack, subfolders: tuple[str, ...]) -> bytes:
    """Return what is looked at of a pack: folders with a slash, then files.

    Nothing stands for the folder and its SKILL.md, as of nearly every pack.
    """
    names = [f"{folder}/" for folder in ("", *subfolders)]
    names += [file.path for file in _files(pack)]
    if names == ["/", SKILL_FILE]:
        return b""
    return "\0".join(names).encode("utf-8", "surrogatepass")


def mark_of_read(folder: str, pack: ScannedPack, subfolders: tuple[str, ...]) -> bytes:
    """Return the marks of folders as they are, and of files as they were read.

    Raises:
        OSError: One of the folders is gone.
    """
    marks = [folder_mark(f"{folder}/{name}") for name in subfolders]
    marks.insert(0, folder_mark(folder))
    for file in _files(pack):
        modified, inode, changed = file.mark
        marks.append(_MARKS.pack(modified, inode & _BITS, changed, file.size))
    return b"".join(marks)


def folder_mark(folder: str, *, follow: bool = False) -> bytes:
    """Return the marks of one folder; `OSError` if it is gone."""
    return _folder_bytes(os.stat(folder, follow_symlinks=follow))  # noqa: PTH116


def mark_now(folder: str, paths: bytes, *, folders_only: bool) -> bytes:
    """Return the marks as they are now; of the folders alone, if so asked.

    Raises:
        OSError: One of them is gone.
    """
    lstat = os.lstat
    if not paths:
        mark = _folder_bytes(lstat(folder))
        if folders_only:
            return mark
        return mark + _file_bytes(lstat(f"{folder}/{SKILL_FILE}"))
    marks: list[bytes] = []
    for path in paths.decode("utf-8", "surrogatepass").split("\0"):
        if path[-1] == "/":
            marks.append(_folder_bytes(lstat(f"{folder}/{path[:-1]}")))
        elif not folders_only:
            marks.append(_file_bytes(lstat(f"{folder}/{path}")))
    return b"".join(marks)


def _folder_bytes(status: os.stat_result) -> bytes:
    return _MARKS.pack(
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino & _BITS,
        status.st_dev & _BITS,
    )


def _file_bytes(status: os.stat_result) -> bytes:
    return _MARKS.pack(
        status.st_mtime_ns, status.st_ino & _BITS, status.st_ctime_ns, status.st_size
    )


def is_racy(mark: bytes, paths: bytes, now_ns: int) -> bool:
    """Tell whether an edit after ``now_ns`` might leave a mark as it is."""
    values = _MARKS.iter_unpack(mark)
    folders = paths.count(b"/\0") if paths else 1
    for number, (first, second, third, _) in enumerate(values):
        other = second if number < folders else third
        if max(first, other) >= now_ns - RACY_NS:
            return True
    return False


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
        file: IndexFile,
        name: str,
        source: IndexedSource,
        scanner: SourceScanner,
        stored: StoredRows,
        keys: Sequence[str] | None,
        replaced: tuple[str, Mapping[int, int]] | None = None,
    ) -> None:
        self._file = file
        self._name = name
        self._source = source
        self._scanner = scanner
        self.label: Final = scanner.label
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
