"""A pack as one .zip or one .tar.gz: equal files give equal bytes, on any machine."""

import io
import stat
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from tarfile import BLOCKSIZE, RECORDSIZE, USTAR_FORMAT, TarInfo
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo
from zlib import crc32

# The earliest time that a .zip can say (APPNOTE.TXT 4.4.6).
_ZIP_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
_ZIP_UNIX: Final = 3


def zip_pack(
    folder: str, files: Mapping[str, bytes], programs: Collection[str] = ()
) -> bytes:
    """Return a .zip with one folder, which has ``files`` by path.

    Sorted by path by code point; no entries for folders, no time, no owner, mode 0644,
    and 0755 for those of ``programs``.
    """
    # Not compressed: the output of deflate depends on the zlib that Python was built
    # with, and equal files need equal bytes.
    whole = io.BytesIO()
    with ZipFile(whole, "w", ZIP_STORED) as archive:
        for path in sorted(files):
            member = ZipInfo(f"{folder}/{path}", _ZIP_NO_TIME)
            # Other systems have no modes, and zipfile would write the one it runs on.
            member.create_system = _ZIP_UNIX
            mode = 0o755 if path in programs else 0o644
            member.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(member, files[path])
    return whole.getvalue()


# Bytes of one member: the header has room for 11 octal digits.
_MAX_MEMBER_BYTES: Final = 8**11 - 1

# Deflate, no flags, no time, no level, and an unknown system (255).
_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff"
# Bytes of one stored block (RFC 1951, section 3.2.4).
_MAX_STORED_BYTES: Final = 0xFFFF


def tar_gz(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a USTAR archive inside gzip, with ``files`` (path, bytes) at its root.

    Sorted by path by code point; no ``./``, no folders, no time, no owner, mode 0644;
    ``ValueError`` if a path is given twice, or has an `archive_problem`.

    Source: what ``npx skills`` 1.7.4 unpacks: it drops members that begin with ``./``,
    and does not read the PAX headers that long names would need.
    """
    return b"".join(_gzip(b"".join(_tar(sorted(files)))))


def archive_problem(path: str, size: int = 0) -> str:
    """Return why `tar_gz` cannot take a file of ``size`` bytes; empty if it can."""
    if path.startswith(("/", "./")):
        return "a path in an archive does not begin with / or ./"
    if size > _MAX_MEMBER_BYTES:
        return f"it has more than {_MAX_MEMBER_BYTES:,} bytes"
    try:
        _tar_header(path, 0)
    except UnicodeEncodeError:
        return "its path is not valid Unicode"
    except ValueError:
        return (
            "its path is too long for a USTAR archive: at most 100 bytes for the name, "
            "and 155 for the folders before it"
        )
    return ""


def _tar(files: list[tuple[str, bytes]]) -> Iterator[bytes]:
    total = 0
    last = None
    for path, data in files:
        twice = path == last
        problem = "it is given twice" if twice else archive_problem(path, len(data))
        if problem:
            raise ValueError(f"{path!r} cannot be archived: {problem}")
        last = path
        padding = -len(data) % BLOCKSIZE
        yield _tar_header(path, len(data))
        yield data
        yield bytes(padding)
        total += BLOCKSIZE + len(data) + padding
    # Two empty blocks end an archive; tar pads it to a whole record.
    yield bytes(2 * BLOCKSIZE + -(total + 2 * BLOCKSIZE) % RECORDSIZE)


def _tar_header(path: str, size: int) -> bytes:
    member = TarInfo(path)
    member.size = size
    member.mode = 0o644
    return member.tobuf(USTAR_FORMAT, "utf-8", "strict")


def _gzip(data: bytes) -> Iterator[bytes]:
    """Yield gzip with stored blocks (RFC 1952, RFC 1951): the same with any zlib."""
    yield _GZIP_HEAD
    # Not empty: a tar has at least one record.
    starts = range(0, len(data), _MAX_STORED_BYTES)
    for start in starts:
        block = data[start : start + _MAX_STORED_BYTES]
        # "Is it the last", the length, and its complement (RFC 1951, section 3.2.4).
        yield struct.pack(
            "<BHH", start == starts[-1], len(block), len(block) ^ _MAX_STORED_BYTES
        )
        yield block
    yield struct.pack("<II", crc32(data), len(data) & 0xFFFFFFFF)
