"""A strict reader of .zip files: every byte of one belongs to one member or header.

Source: PKWARE's APPNOTE.TXT 6.3.10; sections are named where they matter.
"""

# The standard library's reader opens all that can be opened. This one must be sure that
# no other program sees other files: members follow one another from the first byte to
# the central directory, that ends where the end record begins, and both headers of a
# member say the same.

import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from satchel_store.archives._archive_tree import ArchiveTree, inflate

_END: Final = struct.Struct("<L4H2LH")
_CENTRAL: Final = struct.Struct("<L6H3L5H2L")
_LOCAL: Final = struct.Struct("<L5H3L2H")
_EXTRA: Final = struct.Struct("<2H")
_DATA_DESCRIPTOR: Final = struct.Struct("<3L")
_END_SIGN: Final = b"PK\5\6"
_CENTRAL_SIGN: Final = 0x02014B50
_LOCAL_SIGN: Final = 0x04034B50
_DESCRIPTOR_SIGN: Final = b"PK\7\x08"

# 4.4.4: how hard deflate tried (1, 2), lengths after the data (3), UTF-8 names (11).
_ENCRYPTED: Final = 0x2041
_LENGTHS_FOLLOW: Final = 0x0008
_KNOWN_FLAGS: Final = 0x0806 | _LENGTHS_FOLLOW
_STORED: Final = 0
_DEFLATED: Final = 8
_ZIP64: Final = 0x0001
_UNICODE_PATH: Final = 0x7075
# Extra fields of one member; two or three are usual.
_MOST_FIELDS: Final = 32
_RAW: Final = -zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class _ZipMember:
    """One entry of the central directory."""

    name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    kind: int

    @property
    def lengths_follow(self) -> bool:
        """Whether lengths and checksum may follow the data instead of preceding it."""
        return bool(self.flags & _LENGTHS_FOLLOW)


def read_zip(data: bytes, tree: ArchiveTree) -> None:
    """Put every file of a .zip into ``tree``; errors are those of `unpack`."""
    reader = _ZipReader(data, tree)
    central, members = reader.directory()
    position = 0
    # The central directory may list the members in any order.
    for member in sorted(members, key=lambda member: member.offset):
        if member.offset != position:
            raise tree.error("it has bytes that belong to no member, or to two")
        position = reader.read(member)
    if position != central:
        raise tree.error("it has bytes that belong to no member, or to two")


class _ZipReader:
    def __init__(self, data: bytes, tree: ArchiveTree) -> None:
        self._data = data
        self._tree = tree

    def directory(self) -> tuple[int, list[_ZipMember]]:
        """Return where the central directory begins, and its members (4.3.12)."""
        end = self._data.rfind(_END_SIGN)
        if end < 0 or end + _END.size > len(self._data):
            raise self._tree.error("the .zip ends early: it has no end record")
        _, disk, first_disk, here, count, size, start, comment = _END.unpack_from(
            self._data, end
        )
        if end + _END.size + comment != len(self._data):
            raise self._tree.error("there is data after the end of the .zip")
        if disk or first_disk or here != count:
            raise self._tree.error("it is one part of a .zip in several parts")
        if start + size != end:
            # The records of zip64 would be here, and data in front of the .zip shows.
            raise self._tree.error(
                "its central directory is not where the end record says: there is "
                "data in front of the .zip, or it is a zip64"
            )
        # Before they are read, which takes time and memory for each.
        self._tree.budget.check_members(count)
        members = list(self._members(start, end))
        if len(members) != count:
            raise self._tree.error("its end record counts more or fewer members")
        return start, members

    def _members(self, position: int, end: int) -> Iterator[_ZipMember]:
        while position < end:
            head = self._unpack(_CENTRAL, position, end)
            sign, _, _, flags, method, _, _, crc, packed, size = head[:10]
            name_size, extra_size, comment_size, disk, _, attributes, offset = head[10:]
            if sign != _CENTRAL_SIGN or disk:
                raise self._tree.error("its central directory is damaged")
            position += _CENTRAL.size
            name = self._slice(position, name_size, end)
            self._check_extra(self._slice(position + name_size, extra_size, end), name)
            position += name_size + extra_size
            self._slice(position, comment_size, end)
            position += comment_size
            # Whichever system made it (the field that is skipped): a link is refused.
            kind = stat.S_IFMT(attributes >> 16)
            yield _ZipMember(name, flags, method, crc, packed, size, offset, kind)

    def read(self, member: _ZipMember) -> int:
        """Add one member to the tree; return where it ends."""
        # Flag 11 promises UTF-8; without it macOS writes UTF-8 as well.
        name = self._tree.decoded(member.name)
        folder = name.endswith("/")
        self._check(member, name, folder=folder)
        path = self._tree.place(name, folder=folder)
        begin = self._local(member, name)
        packed = memoryview(self._data)[begin : begin + member.packed]
        if len(packed) != member.packed:
            raise self._tree.refused(name, "it ends early")
        if member.method == _STORED:
            self._tree.budget.take_out(len(packed))
            content = bytes(packed)
        else:
            content = b"".join(inflate(packed, _RAW, self._tree.budget))
        if len(content) != member.size or zlib.crc32(content) != member.crc:
            raise self._tree.refused(name, "its length or its checksum is wrong")
        if folder and content:
            raise self._tree.refused(name, "it is a folder, and has content")
        if member.kind == stat.S_IFLNK:
            self._tree.put_link(path)
        elif not folder:
            self._tree.put(path, content)
        return self._described(member, name, begin + member.packed)

    def _check(self, member: _ZipMember, name: str, *, folder: bool) -> None:
        """Refuse all but plain members, before any of it is unpacked."""
        problem = ""
        if member.flags & _ENCRYPTED:
            problem = "it is encrypted"
        elif member.flags & ~_KNOWN_FLAGS:
            problem = f"it has unknown flags ({member.flags:#06x})"
        elif member.method not in {_STORED, _DEFLATED}:
            problem = f"method {member.method} is not stored or deflated"
        # Writers on systems without modes leave the kind 0.
        elif member.kind == stat.S_IFLNK and self._tree.library and not folder:
            return
        elif member.kind not in {0, stat.S_IFDIR if folder else stat.S_IFREG}:
            problem = f"it is {_KINDS.get(member.kind, 'of an unknown kind')}"
        if problem:
            raise self._tree.refused(name, problem)

    def _local(self, member: _ZipMember, name: str) -> int:
        """Compare the local header (4.3.7); return where the content begins."""
        position = member.offset
        head = self._unpack(_LOCAL, position, len(self._data))
        sign, _, flags, method, _, _, crc, packed, size, name_size, extra_size = head
        position += _LOCAL.size
        local_name = self._slice(position, name_size, len(self._data))
        position += name_size
        extra = self._slice(position, extra_size, len(self._data))
        self._check_extra(extra, local_name)
        declared = (crc, packed, size)
        directory = (member.crc, member.packed, member.size)
        same = declared == directory
        if member.lengths_follow:
            # The header was written before these were known, so they may be 0 in it.
            same = all(a in {0, b} for a, b in zip(declared, directory, strict=True))
        expected = (_LOCAL_SIGN, member.flags, member.method, member.name)
        if (sign, flags, method, local_name) != expected or not same:
            problem = "its two headers differ, so programs would see two files"
            raise self._tree.refused(name, problem)
        return position + extra_size

    def _described(self, member: _ZipMember, name: str, position: int) -> int:
        """Return where a member ends: after the lengths that follow it (4.3.9)."""
        if not member.lengths_follow:
            return position
        lengths = _DATA_DESCRIPTOR.pack(member.crc, member.packed, member.size)
        # The signature is optional (4.3.9.3).
        for described in (_DESCRIPTOR_SIGN + lengths, lengths):
            if self._data.startswith(described, position):
                return position + len(described)
        raise self._tree.refused(name, "the lengths after it are not its own")

    def _check_extra(self, extra: bytes, name: bytes) -> None:
        """Refuse extra fields (4.5) that would change name or lengths."""
        position = fields = 0
        while position + _EXTRA.size <= len(extra):
            kind, size = _EXTRA.unpack_from(extra, position)
            position += _EXTRA.size + size
            fields += 1
            if position > len(extra) or fields > _MOST_FIELDS:
                raise self._tree.error("an extra field is damaged")
            if kind == _ZIP64:
                raise self._tree.error(
                    "it is a zip64, which is not needed at this size"
                )
            # A version, a checksum of the other name, then the name.
            field = extra[position - size : position] if kind == _UNICODE_PATH else b""
            if field and field[5:] != name:
                raise self._tree.error("a member has two names")
        if extra[position:].strip(b"\0"):
            raise self._tree.error("an extra field is damaged")

    def _unpack(self, what: struct.Struct, position: int, end: int) -> tuple[int, ...]:
        if position + what.size > end:
            raise self._tree.error("a header is cut off")
        return what.unpack_from(self._data, position)

    def _slice(self, position: int, size: int, end: int) -> bytes:
        if position + size > end:
            raise self._tree.error("a header is cut off")
        return self._data[position : position + size]


_KINDS: Final = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder, and its name does not end in /",
    stat.S_IFREG: "a file, and its name ends in /",
}
