"""Bytes that are no UTF-8, or not the UTF-8 that was expected."""

import gzip
import os
from functools import partial
from pathlib import Path
from typing import Final

from satchel.testing.hostile._pack import (
    BAD,
    CannotMake,
    HostilePack,
    front,
    skill,
    write_skill,
)

_CAFE: Final = "Use when there is caf\u00e9."

_encoding: Final = partial(skill, "encoding", threat="T14")


def _bytes(name: str, what: str, data: bytes) -> HostilePack:
    return _encoding(name, what=what, text=data)


def _folder_name(name: bytes) -> HostilePack:
    def writes(library: Path) -> None:
        if os.name == "nt":
            raise CannotMake("file names are text here")
        pack = os.path.join(os.fsencode(library), name)  # noqa: PTH118 - bytes
        os.mkdir(pack)  # noqa: PTH102
        with open(os.path.join(pack, b"SKILL.md"), "wb") as file:  # noqa: PTH118, PTH123
            file.write(b"---\ndescription: x\n---\n")  # the folder is to name it

    what = "a folder whose name is no UTF-8, for a pack without a name"
    return HostilePack("folder-name", "encoding", "T14", writes, what)


def _file_name(name: bytes) -> HostilePack:
    def writes(library: Path) -> None:
        if os.name == "nt":
            raise CannotMake("file names are text here")
        pack = os.fsencode(write_skill(library, BAD, front().encode()))
        with open(os.path.join(pack, name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(b"x")

    what = "a file beside SKILL.md whose name is no UTF-8"
    return HostilePack("file-name", "encoding", "T14", writes, what)


PACKS: Final[tuple[HostilePack, ...]] = (
    _bytes("utf-16", "UTF-16 with a mark", front().encode("utf-16")),
    _bytes("utf-16-be", "UTF-16, big end first, no mark", front().encode("utf-16-be")),
    _bytes("utf-32", "UTF-32 with a mark", front().encode("utf-32")),
    _bytes("latin-1", "Latin-1", front(_CAFE).encode("latin-1")),
    _bytes("shift-jis", "Shift JIS", front("\u6771\u4eac").encode("shift_jis")),
    _bytes("bom", "a byte order mark", front().encode("utf-8-sig")),
    _bytes("two-boms", "two of them", b"\xef\xbb\xbf" + front().encode("utf-8-sig")),
    _bytes("nul", "NULs in the description", front("a\0b\0c").encode()),
    _bytes("nul-body", "NULs in the body", front().encode() + b"\0" * 1000),
    _bytes("overlong", "a slash in two bytes", front().encode() + b"\xc0\xaf"),
    _bytes(
        "overlong-description",
        "the same in the description",
        front("a??b").encode().replace(b"??", b"\xc0\xaf"),
    ),
    _bytes(
        "surrogates",
        "surrogates in three bytes each",
        front("a??b").encode().replace(b"??", b"\xed\xa0\xbd\xed\xb8\x80"),
    ),
    _bytes("cut", "the end is the half of a character", front().encode() + b"\xe2\x82"),
    _bytes("crlf", "CRLF", front().replace("\n", "\r\n").encode()),
    _bytes("cr", "CR alone", front().replace("\n", "\r").encode()),
    _bytes("mixed-ends", "LF, CRLF and CR", b"---\rname: bad\r\ndescription: x\n---\r"),
    _bytes("nel", "the line ends of YAML 1.1", front("a\u0085b\u2028c").encode()),
    _bytes("gzip", "gzip", gzip.compress(front().encode(), mtime=0)),
    _bytes("program", "the head of a program", b"\x7fELF\x02\x01\x01" + bytes(9000)),
    _bytes("noise", "every byte there is", bytes(range(256)) * 40),
    _folder_name(b"bad-\xff\xfe"),
    _file_name(b"bad-\xff.md"),
)
