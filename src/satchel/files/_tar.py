"""A strict reader of .tar.gz files: what can be read in two ways is refused.

Source: POSIX.1-2017, pax; the manual of GNU tar for its long names.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from satchel.errors import ArchiveError
from satchel.files._archive_tree import ArchiveBudget, ArchiveTree, inflate, shown_name

_BLOCK: Final = 512
_GZIP_WBITS: Final = 16 + zlib.MAX_WBITS
_EMPTY: Final = bytes(_BLOCK)
_LONGEST_HEADER_BYTES: Final = 65_536
"""Bytes of one extended header; a path has at most 1,024."""

_FILE: Final = (b"0", b"\0")
_FOLDER: Final = b"5"
_PAX: Final = b"x"
_PAX_FOR_ALL: Final = b"g"
_GNU_NAME: Final = b"L"
_REFUSED: Final = {
    b"1": "it is a hard link",
    b"2": "it is a symbolic link",
    b"3": "it is a device",
    b"4": "it is a device",
    b"6": "it is a FIFO",
    b"7": "it is a contiguous file",
    b"D": "it is a folder of a GNU backup",
    b"K": "it is a link with a long name",
    b"M": "it is the rest of a file in another archive",
    b"S": "it is a sparse file",
    b"V": "it is the name of a volume",
}
_POSIX: Final = b"ustar\x0000"
_GNU: Final = b"ustar  \0"

_OCTAL: Final = re.compile(rb" *([0-7]+)[ \0]*")
# Mode, user, group, time and device are not kept. But Python's own reader takes a
# header in which one is no number for the end, and shows nothing of what follows.
_NOT_KEPT: Final = (
    (100, 108),
    (108, 116),
    (116, 124),
    (136, 148),
    (329, 337),
    (337, 345),
)
_NUMBER: Final = re.compile(rb" *[0-7]*[ \0]*|[\x80\xff].*", re.DOTALL)
_RECORD: Final = re.compile(rb"([1-9][0-9]{0,5}) ")
# What these would change, programs change in different ways, or not at all.
_AMBIGUOUS: Final = re.compile(r"linkpath|hdrcharset|charset|GNU\.sparse\..*")
_HARMLESS_FOR_ALL: Final = frozenset(
    {"comment", "mtime", "atime", "ctime", "uid", "gid", "uname", "gname"}
)


@dataclass(frozen=True, slots=True)
class _Header:
    """One header; ``content`` is where the member's bytes begin."""

    name: str
    kind: bytes
    size: int
    content: int

    @property
    def next(self) -> int:
        """Where the next header begins."""
        return self.content + -(-self.size // _BLOCK) * _BLOCK


def read_tar(data: bytes, tree: ArchiveTree, budget: ArchiveBudget) -> None:
    """Put every file of a .tar.gz into ``tree``.

    Raises:
        ArchiveError: See `satchel.files.unpack`.
        LimitExceededError: As there.
    """
    # Headers, names and filling up are no file's bytes, and bounded with the members.
    overhead = budget.most_members * 4 * _BLOCK
    out = inflate(data, _GZIP_WBITS, budget, overhead=overhead)
    _TarReader(b"".join(out), tree, budget).read()


class _TarReader:
    def __init__(self, data: bytes, tree: ArchiveTree, budget: ArchiveBudget) -> None:
        self._data = data
        self._tree = tree
        self._budget = budget

    def error(self, detail: str) -> ArchiveError:
        return ArchiveError(self._budget.where, detail)

    def read(self) -> None:
        long_name: str | None = None
        for header in self._headers():
            kind = header.kind
            if kind in {_PAX, _GNU_NAME}:
                if long_name is not None:
                    raise self.error("two extended headers stand before one member")
                long_name = self._long_name(header)
                continue
            if kind == _PAX_FOR_ALL:
                self._check_for_all(header)
                continue
            self._take(header, long_name or header.name)
            long_name = None
        if long_name is not None:
            raise self.error("an extended header stands before no member")

    def _headers(self) -> Iterator[_Header]:
        """Yield the headers up to the two empty blocks; behind these all is empty."""
        position = 0
        while True:
            block = self._data[position : position + _BLOCK]
            if len(block) < _BLOCK:
                raise self.error("the .tar ends early")
            if block == _EMPTY:
                rest = self._data[position:]
                if len(rest) < 2 * _BLOCK or rest.strip(b"\0"):
                    raise self.error("something stands behind the end of the .tar")
                return
            header = self._header(block, position + _BLOCK)
            if header.content + header.size > len(self._data):
                raise self._tree.refused(header.name, "it ends early")
            yield header
            position = header.next

    def _header(self, block: bytes, content: int) -> _Header:
        magic = block[257:265]
        if magic not in {_POSIX, _GNU}:
            raise self.error("it is no .tar of a kind that is written today")
        blanked = block[:148] + b" " * 8 + block[156:]
        if sum(blanked) != self._octal(block[148:156], "checksum"):
            raise self.error("a header of the .tar is damaged")
        if not all(_NUMBER.fullmatch(block[start:end]) for start, end in _NOT_KEPT):
            raise self.error("a mode, an owner, a time or a device is no number")
        name = _string(block[:100])
        prefix = _string(block[345:500])
        if prefix and magic == _GNU:  # the time of a backup, or a folder
            raise self.error("a header has what each program reads in another way")
        if prefix:
            name = prefix + b"/" + name
        size = self._octal(block[124:136], "size")
        return _Header(self._text(name), block[156:157], size, content)

    def _octal(self, field: bytes, what: str) -> int:
        # Numbers that are not octal are for files of 8 GiB and more.
        found = _OCTAL.fullmatch(field)
        if found is None:
            raise self.error(f"the {what} of a member is no octal number")
        return int(found[1], 8)

    def _text(self, name: bytes) -> str:
        try:
            return name.decode()
        except UnicodeDecodeError:
            detail = f"{shown_name(name.decode('latin-1'))}: the name is no UTF-8"
            raise self.error(detail) from None

    def _take(self, header: _Header, name: str) -> None:
        folder = header.kind == _FOLDER
        if not folder and header.kind not in _FILE:
            kind = header.kind.decode("latin-1")
            problem = _REFUSED.get(
                header.kind, f"its kind {shown_name(kind)} is unknown"
            )
            raise self._tree.refused(name, problem)
        if folder and header.size:
            raise self._tree.refused(name, "it is a folder, and has content")
        path = self._tree.place(name, folder=folder)
        if not folder:
            content = self._data[header.content : header.content + header.size]
            self._tree.put(path, content)

    def _extended(self, header: _Header) -> bytes:
        self._budget.take_member()
        if header.size > _LONGEST_HEADER_BYTES:
            raise self.error("an extended header is too long")
        return self._data[header.content : header.content + header.size]

    def _long_name(self, header: _Header) -> str:
        """Return the name for the next member; empty where it keeps its own."""
        content = self._extended(header)
        if header.kind == _GNU_NAME:
            name = self._text(content.removesuffix(b"\0"))
            if not name:
                raise self.error("a long name is empty")
            return name
        records = self._records(content)
        size = records.get("size")
        if size is not None and size != str(self._size_behind(header)):
            raise self.error("a member has two sizes")
        return records.get("path", "")

    def _size_behind(self, header: _Header) -> int:
        """Return the size that the member's own header declares."""
        block = self._data[header.next : header.next + _BLOCK]
        return self._header(block, 0).size if len(block) == _BLOCK else -1

    def _check_for_all(self, header: _Header) -> None:
        """Let a header for all members pass where it changes none (git writes one)."""
        for key in self._records(self._extended(header)):
            if key not in _HARMLESS_FOR_ALL:
                raise self.error(
                    f"{shown_name(key)} is declared for all members at once"
                )

    def _records(self, content: bytes) -> dict[str, str]:
        """Return the records of an extended header: ``length key=value``."""
        records: dict[str, str] = {}
        position = 0
        while position < len(content):
            length = _RECORD.match(content, position)
            end = position + int(length[1]) if length else 0
            if length is None or end > len(content) or end <= length.end():
                raise self.error("an extended header is damaged")
            line = content[length.end() : end]
            key, equals, value = line.partition(b"=")
            if not (equals and value.endswith(b"\n")):
                raise self.error("an extended header is damaged")
            name = self._text(key)
            if name in records or _AMBIGUOUS.fullmatch(name):
                raise self.error(
                    f"an extended header may not say {shown_name(name)} here"
                )
            # Other values, of extended attributes say, may be any bytes.
            known = name in {"path", "size"}
            records[name] = self._text(value[:-1]) if known else ""
            position = end
        return records


def _string(field: bytes) -> bytes:
    return field.partition(b"\0")[0]
