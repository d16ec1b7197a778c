"""A strict reader of .tar.gz files: it refuses what programs read differently.

Source: POSIX.1-2017, pax; the manual of GNU tar for its long names.
"""

# Headers are decoded by the standard library's `tarfile`. The walk over them, and the
# extended headers of pax and GNU, are read here: `TarFile` takes a damaged header for
# the end of the archive, calls itself for every extended header, lets the last of two
# records win, and searches each with a regular expression whose time grows with the
# square of its length (CVE-2024-6232, in every Python 3.11 before 3.11.10). Its
# extraction filters do not apply, because nothing is extracted to a disk.

import re
import zlib
from tarfile import BLOCKSIZE, HeaderError, TarInfo
from typing import Final

from satchel_store.archives._archive_tree import ArchiveTree, inflate, shown_name

_END: Final = bytes(BLOCKSIZE)
_GZIP_WBITS: Final = 16 + zlib.MAX_WBITS
# Bytes of one extended header; a path has at most 1,024.
_MAX_EXTENDED_BYTES: Final = 65_536

_FILES: Final = frozenset({b"0", b"\0"})
_FOLDER: Final = b"5"
_LINK: Final = b"2"
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

# `int`, which tarfile uses, also accepts a sign, an underscore and 0o.
_OCTAL: Final = re.compile(rb" *[0-7]+[ \0]*")
# Six digits are enough: an extended header has at most 65,536 bytes.
_RECORD: Final = re.compile(rb"([1-9][0-9]{0,5}) ")
# Programs apply these records in different ways, or not at all.
_AMBIGUOUS: Final = re.compile(r"linkpath|hdrcharset|charset|GNU\.sparse\..*")
_HARMLESS_FOR_ALL: Final = frozenset(
    {"comment", "mtime", "atime", "ctime", "uid", "gid", "uname", "gname"}
)


def read_tar(data: bytes, tree: ArchiveTree) -> None:
    """Put every file of a .tar.gz into ``tree``; errors are those of `unpack`."""
    # Headers, names and padding are not part of a file; the number of members bounds
    # them.
    overhead = tree.budget.most_members * 4 * BLOCKSIZE
    out = inflate(data, _GZIP_WBITS, tree.budget, overhead=overhead)
    _TarReader(b"".join(out), tree).read()


class _TarReader:
    def __init__(self, data: bytes, tree: ArchiveTree) -> None:
        self._data = data
        self._tree = tree

    def read(self) -> None:
        """Read all members, up to the two empty blocks that end the archive."""
        position = 0
        long_name: str | None = None
        while (header := self._header(position)) is not None:
            start = position + BLOCKSIZE
            if start + header.size > len(self._data):
                raise self._tree.refused(header.name, "it ends early")
            content = self._data[start : start + header.size]
            position = start + header.size + -header.size % BLOCKSIZE
            if header.type == _PAX_FOR_ALL:
                self._check_for_all(content)
            elif header.type in {_PAX, _GNU_NAME}:
                if long_name is not None:
                    raise self._tree.error(
                        "two extended headers stand before one member"
                    )
                long_name = self._long_name(header.type, content, position)
            else:
                self._take(header, long_name or header.name, content)
                long_name = None
        if long_name is not None:
            raise self._tree.error("an extended header stands before no member")

    def _header(self, position: int) -> TarInfo | None:
        """Return the header at ``position``; None at the end of the archive."""
        block = self._data[position : position + BLOCKSIZE]
        if len(block) < BLOCKSIZE:
            raise self._tree.error("the .tar ends early")
        if block == _END:
            # Zeros pad the archive; some programs read members that come after them.
            rest = self._data[position:]
            if len(rest) < 2 * BLOCKSIZE or rest.strip(b"\0"):
                raise self._tree.error("there is data after the end of the .tar")
            return None
        magic, has_prefix = block[257:265], block[345] != 0
        if magic not in {_POSIX, _GNU}:
            raise self._tree.error("it is no .tar of a kind that is written today")
        if has_prefix and magic == _GNU:  # the time of a backup, or a folder
            raise self._tree.error(
                "a header has a field that programs read differently"
            )
        try:
            header = TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except HeaderError:
            raise self._tree.error("a header of the .tar is damaged") from None
        if not _OCTAL.fullmatch(block[124:136]):  # other numbers are for 8 GiB and more
            raise self._tree.error("the size of a member is no octal number")
        # Decoded again, strictly: tarfile keeps wrong bytes as surrogates.
        header.name = self._tree.decoded(header.name.encode("utf-8", "surrogateescape"))
        return header

    def _take(self, header: TarInfo, name: str, content: bytes) -> None:
        folder = header.type == _FOLDER
        if header.type == _LINK and self._tree.library:
            self._tree.put_link(self._tree.place(name, folder=False))
            return
        if not folder and header.type not in _FILES:
            unknown = f"its kind {shown_name(header.type.decode('latin-1'))} is unknown"
            raise self._tree.refused(name, _REFUSED.get(header.type, unknown))
        if folder and content:
            raise self._tree.refused(name, "it is a folder, and has content")
        path = self._tree.place(name, folder=folder)
        if not folder:
            self._tree.put(path, content)

    def _check_extended(self, content: bytes) -> None:
        # Each of them takes time, so it counts as a member.
        self._tree.budget.take_member()
        if len(content) > _MAX_EXTENDED_BYTES:
            raise self._tree.error("an extended header is too long")

    def _long_name(self, kind: bytes, content: bytes, position: int) -> str:
        """Return the name of the member at ``position``; empty if its header has it."""
        self._check_extended(content)
        if kind == _GNU_NAME:
            name = self._tree.decoded(content.removesuffix(b"\0"))
            if not name:
                raise self._tree.error("a long name is empty")
            return name
        records = self._records(content)
        size = records.get("size")
        # Some programs use this size, and others the one in the header.
        if size is not None:
            member = self._header(position)
            if member is None or size != str(member.size):
                raise self._tree.error("a member has two sizes")
        return records.get("path", "")

    def _check_for_all(self, content: bytes) -> None:
        """Accept a header for all members if it changes none, as the one of git."""
        self._check_extended(content)
        for key in self._records(content):
            if key not in _HARMLESS_FOR_ALL:
                raise self._tree.error(f"{shown_name(key)} is declared for all members")

    def _records(self, content: bytes) -> dict[str, str]:
        """Return the records of an extended header: ``length key=value``."""
        records: dict[str, str] = {}
        position = 0
        while position < len(content):
            length = _RECORD.match(content, position)
            end = position + int(length[1]) if length else 0
            if length is None or end > len(content) or end <= length.end():
                raise self._tree.error("an extended header is damaged")
            key, equals, value = content[length.end() : end].partition(b"=")
            if not (equals and value.endswith(b"\n")):
                raise self._tree.error("an extended header is damaged")
            name = self._tree.decoded(key)
            if name in records or _AMBIGUOUS.fullmatch(name):
                raise self._tree.error(
                    f"an extended header may not say {shown_name(name)}"
                )
            # Other values, for example extended attributes, may be any bytes.
            is_used = name in {"path", "size"}
            records[name] = self._tree.decoded(value[:-1]) if is_used else ""
            position = end
        return records
