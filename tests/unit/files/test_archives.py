"""Whatever an archive holds, what comes out is a plain pack, or a refusal."""

import gzip
import io
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from typing import Any

import pytest

from satchel.errors import ArchiveError, LimitExceededError
from satchel.model import Limits
from satchel_store.archives import archive_size_limit, tar_gz, unpack
from tests.unit.files.archive_makers import (
    SKILL,
    Zipped,
    one_zipped,
    plain_tar,
    plain_zip,
    raw_tar,
    tar_block,
    zipped,
)

GUIDE = ("references/guide.md", b"# Guide\r\n" * 50)
PACK = {"SKILL.md": SKILL, "references/guide.md": GUIDE[1]}


def pax(*records: tuple[bytes, bytes], kind: bytes = b"x") -> bytes:
    """Return an extended header with these records."""
    lines = b""
    for key, value in records:
        line = b" " + key + b"=" + value + b"\n"
        size = len(line) + 1
        while len(b"%d" % size) + len(line) != size:
            size += 1
        lines += b"%d" % size + line
    return tar_block(b"pax", lines, kind)


def streamed(*members: tuple[str, bytes]) -> bytes:
    """Return a .zip that was written without going back: lengths stand behind."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.held = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            piece = bytes(data)  # type: ignore[call-overload]
            self.held += piece
            return len(piece)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return bytes(pipe.held)


def behind(data: bytes = SKILL, packed: int | None = None) -> bytes:
    size = len(data)
    return struct.pack(
        "<3L", zlib.crc32(data), size if packed is None else packed, size
    )


def zip_of(*members: tuple[str, bytes], **more: Any) -> bytes:  # noqa: ANN401
    """Return a .zip with a SKILL.md first."""
    return plain_zip(("SKILL.md", SKILL), *members, **more)


def tar_of(*members: tuple[str, bytes] | tarfile.TarInfo, **more: Any) -> bytes:  # noqa: ANN401
    """Return a .tar.gz with a SKILL.md first."""
    return plain_tar(("SKILL.md", SKILL), *members, **more)


def tarred(*more: bytes, **changes: Any) -> bytes:  # noqa: ANN401
    """Return a .tar.gz with a SKILL.md first, made block by block."""
    return raw_tar(tar_block(), *more, **changes)


def extended(content: bytes, kind: bytes = b"x") -> bytes:
    """Return a .tar.gz whose one member has an extended header with this content."""
    return raw_tar(tar_block(kind, content, kind), tar_block())


def folder(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    return info


GOOD: dict[str, bytes] = {
    "zip": zip_of(GUIDE),
    "zip stored": zip_of(GUIDE, method=zipfile.ZIP_STORED),
    "zip in a folder": plain_zip(
        ("a/", b""), ("a/SKILL.md", SKILL), (f"a/{GUIDE[0]}", GUIDE[1])
    ),
    "zip with ./": plain_zip(("./", b""), ("./SKILL.md", SKILL), GUIDE),
    "zip of macOS": plain_zip(
        ("a/SKILL.md", SKILL), (f"a/{GUIDE[0]}", GUIDE[1]), ("__MACOSX/a/._S", b"0")
    ),
    "zip with folders": plain_zip(("references/", b""), ("SKILL.md", SKILL), GUIDE),
    "zip written to a pipe": streamed(("SKILL.md", SKILL), GUIDE),
    "zip with a comment": zipped(
        Zipped(), Zipped(GUIDE[0].encode(), GUIDE[1]), comment=b"commit 1234"
    ),
    "zip with lengths behind, unsigned": zipped(
        Zipped(flags=8, behind=behind(), local={"crc": 0, "packed": 0, "size": 0}),
        Zipped(GUIDE[0].encode(), GUIDE[1], method=8),
    ),
    "zip with modes": zipped(
        Zipped(attributes=(stat.S_IFREG | 0o4755) << 16),
        Zipped(b"references/", b"", attributes=(stat.S_IFDIR | 0o777) << 16),
        Zipped(GUIDE[0].encode(), GUIDE[1]),
    ),
    "zip with its name said again": zipped(
        Zipped(extra=struct.pack("<2HBL", 0x7075, 5 + 8, 1, 0) + b"SKILL.md" + b"\0\0"),
        Zipped(GUIDE[0].encode(), GUIDE[1]),
    ),
    "tar": tar_of(GUIDE),
    "tar of GNU": tar_of(GUIDE, style=tarfile.GNU_FORMAT),
    "tar of pax": tar_of(GUIDE, style=tarfile.PAX_FORMAT),
    "tar with ./": plain_tar(
        folder("."), ("./SKILL.md", SKILL), (f"./{GUIDE[0]}", GUIDE[1])
    ),
    "tar in a folder": plain_tar(
        folder("a"), ("a/SKILL.md", SKILL), (f"a/{GUIDE[0]}", GUIDE[1])
    ),
    "tar of git": raw_tar(
        pax((b"comment", b"0" * 40), kind=b"g"),
        tar_block(),
        tar_block(b"references/", b"", b"5"),
        tar_block(b"guide.md", GUIDE[1], prefix=b"references"),
    ),
    "tar of macOS": raw_tar(
        pax((b"mtime", b"1.5"), (b"LIBARCHIVE.xattr.x", b"\xff=\xff")),
        tar_block(kind=b"\0"),
        pax((b"path", GUIDE[0].encode()), (b"size", b"%d" % len(GUIDE[1]))),
        tar_block(b"short", GUIDE[1]),
    ),
    "tar of a release": tar_gz(PACK.items()),
}


@pytest.mark.parametrize("data", GOOD.values(), ids=GOOD)
def test_what_tools_write(data: bytes) -> None:
    assert unpack(data) == PACK
    assert list(unpack(data)) == sorted(PACK)


def test_long_names() -> None:
    """Each style has its own way to say more than 100 characters."""
    path = f"references/{'n' * 120}.md"
    for style in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        data = tar_of((path, b"x"), style=style)

        assert unpack(data) == {"SKILL.md": SKILL, path: b"x"}


def test_dot_files_come_out() -> None:
    """Which of the files are listed, the source decides, and says."""
    assert ".env" in unpack(zip_of((".env", b"KEY=1")))


NAMES = {
    "climbs": "../evil.md",
    "climbs inside": "a/../../evil.md",
    "absolute": "/etc/cron.d/evil",
    "a drive": "C:/evil.md",
    "a drive without slash": "C:evil.md",
    "UNC": "//server/share/evil.md",
    "backslash": "..\\evil.md",
    "backslash UNC": "\\\\server\\share",
    "NUL": "a.md\0.png",
    "line feed": "a\n.md",
    "escape": "a\x1b[2J.md",
    "dot at the end": "a.md.",
    "blank at the end": "a.md ",
    "folder with a dot at its end": "a./b.md",
    "a device": "references/con.md",
    "another device": "NUL",
    "superscript device": "com¹.txt",
    "encoded dots": "%2e%2e/a.md",
    "an empty part": "a//b.md",
    "a dot": "a/./b.md",
    "a long part": "x" * 256,
    "a long path": "a/" * 4 + "/".join(["y" * 200] * 6),
    "right to left": "a\u202egpj.md",
    "zero width": "a\u200b.md",
    "tag character": "a\U000e0041.md",
    "a second SKILL.md in other letters": "skill.MD",
    "stream": "SKILL.md::$DATA",
    "empty": "",
    "two dots": "..",
}


@pytest.mark.row("A09")
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_that_no_pack_needs(kind: str, name: str) -> None:
    if kind == "zip":
        data = zipped(Zipped(), Zipped(name.encode(), b"evil"))
    else:
        data = tarred(pax((b"path", name.encode())), tar_block(b"x"))
        if not name:  # an empty path is none, and the short name holds
            data = tarred(tar_block(b""))

    with pytest.raises(ArchiveError) as caught:
        unpack(data, where="x.zip")

    assert str(caught.value).startswith("the archive x.zip is not unpacked: ")
    assert str(caught.value).isprintable()


TWICE = {
    "the same": ("a.md", "a.md"),
    "case": ("Guide.md", "guide.md"),
    "sharp s": ("straße.md", "STRASSE.md"),
    "composed": ("é.md", unicodedata.normalize("NFD", "é.md")),
    "folders that differ in case": ("Refs/a.md", "refs/b.md"),
    "a file and a folder": ("refs", "refs/b.md"),
    "a folder and a file": ("refs/b.md", "refs"),
    "a folder twice": ("refs/", "refs/"),
    "with and without ./": ("a.md", "./a.md"),
}


@pytest.mark.parametrize("names", TWICE.values(), ids=TWICE)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_no_two_files_of_one_name(kind: str, names: tuple[str, str]) -> None:
    if kind == "zip":
        data = zipped(Zipped(), *(Zipped(name.encode(), b"") for name in names))
    else:
        blocks = [
            tar_block(name.encode(), b"", b"5" if name.endswith("/") else b"0")
            for name in names
        ]
        data = tarred(*blocks)

    with pytest.raises(ArchiveError, match=r"twice|same as|not a folder"):
        unpack(data)


LINK = (stat.S_IFLNK | 0o777) << 16
HOSTILE_ZIPS: dict[str, tuple[bytes, str]] = {
    "a link": (zipped(Zipped(), Zipped(b"x", b"/etc", attributes=LINK)), "link"),
    "a FIFO": (one_zipped(attributes=stat.S_IFIFO << 16), "FIFO"),
    "a device": (one_zipped(attributes=stat.S_IFBLK << 16), "device"),
    "a socket": (one_zipped(attributes=stat.S_IFSOCK << 16), "socket"),
    "an unknown kind": (one_zipped(attributes=0x3000 << 16), "unknown kind"),
    "a folder by mode": (one_zipped(attributes=stat.S_IFDIR << 16), "folder"),
    "a file by mode": (zipped(Zipped(b"a/", attributes=stat.S_IFREG << 16)), "file"),
    "a folder with content": (zipped(Zipped(b"a/", b"x")), "has content"),
    "encrypted": (one_zipped(flags=1), "encrypted"),
    "strongly encrypted": (one_zipped(flags=0x41), "encrypted"),
    "hidden headers": (one_zipped(flags=0x2000), "encrypted"),
    "a patch": (one_zipped(flags=0x20), "flags"),
    "bzip2": (one_zipped(method=12), "method 12"),
    "zstd": (one_zipped(method=93), "method 93"),
    "two names": (one_zipped(central={"name": b"SKILL.MD"}), "headers differ"),
    "two names of one length": (
        one_zipped(local={"name": b"../../md"}),
        "headers differ",
    ),
    "two methods": (one_zipped(local={"method": 8}), "headers differ"),
    "two sizes": (one_zipped(local={"size": 1}), "headers differ"),
    "two packed sizes": (one_zipped(local={"packed": 9}), "headers differ"),
    "two checksums": (one_zipped(local={"crc": 1}), "headers differ"),
    "two kinds of flags": (one_zipped(local={"flags": 8}), "headers differ"),
    "lengths only behind, unflagged": (
        one_zipped(local={"size": 0, "packed": 0, "crc": 0}),
        "headers differ",
    ),
    "lengths behind that lie": (
        one_zipped(flags=8, behind=behind(packed=3)),
        "lengths after",
    ),
    "lengths behind that lack": (one_zipped(flags=8), "lengths after"),
    "a wrong checksum": (one_zipped(both={"crc": 7}), "checksum is wrong"),
    "a size that lies": (one_zipped(method=8, both={"size": 9}), "length"),
    "a packed size beyond the end": (one_zipped(both={"packed": 99_999}), "ends early"),
    "a packed size that is short": (
        one_zipped(method=8, both={"packed": 9}),
        "ends early",
    ),
    "deflate with something behind": (
        one_zipped(
            method=8, behind=b"zz", both={"packed": len(Zipped(method=8).packed) + 2}
        ),
        "after the end",
    ),
    "no deflate at all": (one_zipped(data=b"\xff" * 9, both={"method": 8}), "damaged"),
    "something in front": (zipped(Zipped(), front=b"#!/bin/sh\n"), "neither like"),
    "a .zip in front": (
        plain_zip(("SKILL.md", b"other")) + plain_zip(("SKILL.md", SKILL)),
        "in front",
    ),
    "something in front, that is said": (
        zipped(Zipped(), front=b"PK\0\0"),
        "no member",
    ),
    "something behind": (zipped(Zipped(), end=b"<html>"), "after the end"),
    "something between": (zipped(Zipped(), Zipped(b"b", b""), gap=b"x"), "no member"),
    "something before the end record": (
        zipped(Zipped(), before_end=b"12345678"),
        "in front",
    ),
    "a comment that is said": (zipped(Zipped(), comment_size=9), "after the end"),
    "members that overlap": (
        zipped(Zipped(), Zipped(b"b.md", central={"offset": 0})),
        "no member, or to two",
    ),
    "an offset to nowhere": (
        one_zipped(central={"offset": 4_000_000_000}),
        "no member",
    ),
    "a member without an entry": (
        zipped(Zipped(), Zipped(b"b.md"), before_end=b"", count=1, here=1),
        "counts more",
    ),
    "several disks": (zipped(Zipped(), disk=1), "several parts"),
    "here and there": (zipped(Zipped(), here=1, count=2), "several parts"),
    "a directory elsewhere": (zipped(Zipped(), start=3), "end record"),
    "a directory of garbage": (one_zipped(central={"sign": b"PK\0\0"}), "damaged"),
    "a directory cut off": (one_zipped(central={"extra_size": 9}), "cut off"),
    "a comment cut off": (one_zipped(central={"comment_size": 9}), "cut off"),
    "zip64 in an extra field": (
        one_zipped(extra=struct.pack("<2HQ", 1, 8, 50)),
        "zip64",
    ),
    "zip64 in the local one alone": (
        one_zipped(local={"extra": struct.pack("<2HQ", 1, 8, 50)}),
        "zip64",
    ),
    "another name in an extra field": (
        one_zipped(extra=struct.pack("<2HBL", 0x7075, 9, 1, 0) + b"evil"),
        "two names",
    ),
    "an extra field that is too long": (
        one_zipped(extra=struct.pack("<2H", 9, 900)),
        "extra field",
    ),
    "many extra fields": (
        one_zipped(extra=struct.pack("<2H", 9, 0) * 9_000),
        "extra field",
    ),
    "an extra field of garbage": (one_zipped(extra=b"xyz"), "extra field"),
    "no UTF-8": (zipped(Zipped(), Zipped(b"caf\xe9.md")), "UTF-8"),
    "cut in the end record": (zipped(Zipped())[:-5], "end record"),
    "cut in the middle": (zipped(Zipped())[:40], "end record"),
    "the sign alone": (b"PK", "end record"),
    "no member": (zipped(), "SKILL.md"),
}


def kind(letter: bytes, *, link: bytes = b"/etc/passwd") -> bytes:
    return tarred(tar_block(b"evil", b"", letter, link=link))


HOSTILE_TARS: dict[str, tuple[bytes, str]] = {
    "a hard link": (kind(b"1"), "hard link"),
    "a link inside": (kind(b"2", link=b"SKILL.md"), "symbolic link"),
    "a link outside": (kind(b"2"), "symbolic link"),
    "a character device": (kind(b"3"), "device"),
    "a block device": (kind(b"4"), "device"),
    "a FIFO": (kind(b"6"), "FIFO"),
    "a contiguous file": (kind(b"7"), "contiguous"),
    "a sparse file": (kind(b"S"), "sparse"),
    "a long link": (kind(b"K"), "link"),
    "a volume": (kind(b"V"), "volume"),
    "a backup's folder": (kind(b"D"), "backup"),
    "the rest of a file": (kind(b"M"), "rest"),
    "a kind of a vendor": (kind(b"Z"), "unknown"),
    "sparse by pax": (
        raw_tar(pax((b"GNU.sparse.major", b"1")), tar_block()),
        "may not say",
    ),
    "a link by pax": (raw_tar(pax((b"linkpath", b"/etc")), tar_block()), "may not"),
    "a charset by pax": (raw_tar(pax((b"hdrcharset", b"x")), tar_block()), "may not"),
    "a record twice": (
        raw_tar(pax((b"path", b"a.md"), (b"path", b"b.md")), tar_block()),
        "may not say",
    ),
    "another size by pax": (raw_tar(pax((b"size", b"3")), tar_block()), "two sizes"),
    "a size of nothing": (raw_tar(pax((b"size", b"3"))), "two sizes"),
    "a path for all": (
        raw_tar(pax((b"path", b"evil.md"), kind=b"g"), tar_block()),
        "for all members",
    ),
    "two extended headers": (
        raw_tar(pax((b"path", b"a")), pax((b"path", b"b")), tar_block()),
        "two extended headers",
    ),
    "two kinds of long names": (
        raw_tar(tar_block(b"L", b"a.md\0", b"L"), pax((b"path", b"b")), tar_block()),
        "two extended headers",
    ),
    "an extended header alone": (tarred(pax((b"path", b"b"))), "before no"),
    "an empty long name": (extended(b"\0", b"L"), "empty"),
    "a long extended header": (extended(b"1" * 70_000), "too long"),
    "a record without length": (extended(b"path=a\n"), "damaged"),
    "a record that is too long": (extended(b"99 path=a\n"), "damaged"),
    "a record that is too short": (extended(b"2 path=a\n"), "damaged"),
    "a record without a value": (extended(b"7 path\n"), "damaged"),
    "a record without an end": (extended(b"9 path=ab"), "damaged"),
    "a size that is negative": (raw_tar(tar_block(size=b"-0000000001\0")), "no octal"),
    "a size in base 256": (
        raw_tar(tar_block(size=b"\x80" + bytes(10) + b"\x05")),
        "no octal",
    ),
    **{
        # Python's own reader takes such a header for the end of the archive.
        f"a {field} that is no number": (
            tarred(tar_block(b"evil.md", more=[(at, b"zzzzzzz\0")])),
            "damaged",
        )
        for field, at in (
            ("mode", 100),
            ("user", 108),
            ("group", 116),
            ("time", 136),
            ("device", 329),
            ("minor device", 337),
        )
    },
    "a prefix in GNU's format": (  # some take it for a folder, some for a time
        raw_tar(
            tar_block(magic=b"ustar  \0"),
            tar_block(b"x.md", prefix=b"a", magic=b"ustar  \0"),
        ),
        "read differently",
    ),
    "a size beyond the end": (raw_tar(tar_block(size=b"77777777777\0")), "ends early"),
    "a folder with content": (raw_tar(tar_block(b"a", b"x", b"5")), "has content"),
    "a file that is called a folder": (raw_tar(tar_block(b"a/", b"x")), "part that is"),
    "a wrong checksum": (raw_tar(tar_block(checksum=b"000001\0 ")), "damaged"),
    "a checksum of garbage": (raw_tar(tar_block(checksum=b"garbage!")), "damaged"),
    "an old kind of tar": (raw_tar(tar_block(magic=bytes(8))), "no .tar"),
    "no tar": (gzip.compress(b"hello" * 200), "no .tar"),
    "a gzip of nothing": (gzip.compress(b""), "ends early"),
    "no end": (tarred(end=b""), "ends early"),
    "half an end": (tarred(end=bytes(512)), "after the end"),
    "something behind the end": (
        tarred(end=bytes(1024) + tar_block(b"evil.md")),
        "after the end",
    ),
    "something behind the gzip": (tarred() + b"x", "after the end"),
    "two gzips": (tarred() * 2, "after the end"),
    "something far behind the gzip": (tarred() + b"x" * 200_000, "after the end"),
    "a gzip cut off": (tarred()[:-9], "ends early"),
    "a gzip with a wrong checksum": (tarred()[:-8] + b"12345678", "damaged"),
    "a gzip's first bytes": (b"\x1f\x8b", "ends early"),
    "no UTF-8": (tarred(tar_block(b"caf\xe9.md")), "UTF-8"),
    "no SKILL.md": (raw_tar(tar_block(b"README.md")), "no SKILL.md"),
    "a SKILL.md in other letters": (raw_tar(tar_block(b"skill.md")), "rename 'skill"),
    "two folders": (
        raw_tar(tar_block(b"a/SKILL.md"), tar_block(b"b/SKILL.md")),
        "one folder",
    ),
    "two folders deep": (raw_tar(tar_block(b"a/b/SKILL.md")), "one folder"),
    "a SKILL.md that is a folder": (
        raw_tar(tar_block(b"SKILL.md", b"", b"5")),
        "no SK",
    ),
}


@pytest.mark.parametrize(
    ("data", "says"),
    [*HOSTILE_ZIPS.values(), *HOSTILE_TARS.values()],
    ids=[*(f"zip: {name}" for name in HOSTILE_ZIPS), *HOSTILE_TARS],
)
def test_hostile_archives(data: bytes, says: str) -> None:
    with pytest.raises(ArchiveError, match=says):
        unpack(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"---\nname: a\n---\n",
        b"7z\xbc\xaf",
        b"ustar",
        tarfile.TarInfo("a").tobuf(),
    ],
    ids=["empty", "text", "7z", "word", "tar without gzip"],
)
def test_no_archive(data: bytes) -> None:
    with pytest.raises(ArchiveError, match="begins neither"):
        unpack(data)


MIB = 1024 * 1024
SMALL = Limits(archive_files=3, archive_bytes=1_000, pack_depth=2)
OVER: dict[str, tuple[bytes, Limits, str]] = {
    "a bomb in a zip": (zip_of(("zeros", bytes(20 * MIB))), Limits(), "archive_ratio"),
    "a bomb in a gzip": (
        tarred(tar_block(b"zeros", bytes(20 * MIB))),
        Limits(),
        "archive_ratio",
    ),
    "a bomb that says it is small": (
        zipped(
            Zipped(),
            Zipped(
                b"zeros",
                bytes(2 * MIB),
                method=8,
                local={"size": 9},
                central={"size": 9},
            ),
        ),
        Limits(),
        "archive_ratio",
    ),
    "many bytes": (zip_of(("a", b"x" * 1_000)), SMALL, "archive_bytes"),
    "many bytes in a tar": (tar_of(("a", b"x" * 1_000)), SMALL, "archive_bytes"),
    "many bytes of stored ones": (
        zip_of(("a", b"x" * 1_000), method=zipfile.ZIP_STORED),
        SMALL,
        "archive_bytes",
    ),
    "bytes behind the tar": (tarred(end=bytes(200_000)), SMALL, "archive_bytes"),
    "many files": (zip_of(*((str(n), b"") for n in range(3))), SMALL, "archive_files"),
    "many folders": (
        tar_of(*(folder(str(n)) for n in range(12))),
        SMALL,
        "archive_files",
    ),
    "many entries": (
        plain_zip(*((f"{n}/", b"") for n in range(13))),
        SMALL,
        "archive_files",
    ),
    "many extended headers": (
        raw_tar(*[pax((b"comment", b"x"), kind=b"g")] * 13, tar_block()),
        SMALL,
        "archive_files",
    ),
    "deep": (zip_of(("a/b/c/d", b"")), SMALL, "pack_depth"),
    "deeper": (zip_of(("a/b/c/d/e", b"")), SMALL, "pack_depth"),
    "more than a pack may have": (
        zip_of(("a", b"")),
        Limits(pack_files=1),
        "pack_files",
    ),
}


@pytest.mark.parametrize(("data", "limits", "which"), OVER.values(), ids=OVER)
def test_more_than_was_agreed(data: bytes, limits: Limits, which: str) -> None:
    with pytest.raises(LimitExceededError) as caught:
        unpack(data, limits=limits, where="x")

    assert caught.value.limit == which
    assert caught.value.actual > caught.value.maximum


def test_all_that_is_allowed() -> None:
    """As many files, bytes and folders as the limits say, and not one more."""
    files = [("SKILL.md", SKILL), ("a/b", b"x" * (1_000 - len(SKILL))), ("c", b"")]

    assert unpack(plain_tar(*files), limits=SMALL) == dict(files)
    assert unpack(plain_zip(*files), limits=SMALL) == dict(files)


def test_text_may_shrink_a_lot() -> None:
    """Below 256 KiB there is no bomb: 512 empty files are a tar of mostly nothing."""
    files = [("SKILL.md", SKILL), *((f"references/{n:03}.md", b"") for n in range(255))]

    assert len(unpack(plain_tar(*files))) == 256


def test_what_a_release_stores_fits_into_what_is_fetched() -> None:
    limits = Limits(archive_files=4, archive_bytes=1_000)
    files = {"SKILL.md": SKILL, "a": b"1" * (1_000 - len(SKILL)), "b": b"", "c": b""}
    data = tar_gz(files.items())

    assert len(data) <= archive_size_limit(limits)
    assert unpack(data, limits=limits) == files
