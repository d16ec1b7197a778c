"""Archives made by hand, byte for byte, so that they can lie."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = [
    "SKILL",
    "Zipped",
    "one_zipped",
    "plain_tar",
    "plain_zip",
    "raw_tar",
    "tar_block",
    "zipped",
]

SKILL: Final = b"---\nname: a\ndescription: Use when testing.\n---\n# A\n"


def plain_zip(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return what the standard library makes of these."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def plain_tar(
    *members: tuple[str, bytes] | tarfile.TarInfo, style: int = tarfile.USTAR_FORMAT
) -> bytes:
    """Return what the standard library makes of these, gzipped."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=style) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            name, data = member
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@dataclass
class Zipped:
    """One member, each of whose numbers may be another than the true one."""

    name: bytes = b"SKILL.md"
    data: bytes = SKILL
    flags: int = 0
    method: int = 0
    attributes: int = 0
    extra: bytes = b""
    behind: bytes = b""
    local: dict[str, object] = field(default_factory=dict)
    central: dict[str, object] = field(default_factory=dict)
    both: dict[str, object] = field(default_factory=dict)

    def numbers(self, lies: dict[str, object]) -> dict[str, object]:
        packed = self.packed
        true: dict[str, object] = {
            "name": self.name,
            "flags": self.flags,
            "method": self.method,
            "crc": zlib.crc32(self.data),
            "packed": len(packed),
            "size": len(self.data),
            "extra": self.extra,
        }
        return {**true, **self.both, **lies}

    @property
    def packed(self) -> bytes:
        if self.method != 8:
            return self.data
        engine = zlib.compressobj(9, zlib.DEFLATED, -15)
        return engine.compress(self.data) + engine.flush()


def one_zipped(**lies: Any) -> bytes:  # noqa: ANN401
    """Return a .zip of one member; see `Zipped`."""
    return zipped(Zipped(**lies))


def zipped(
    *members: Zipped,
    front: bytes = b"",
    gap: bytes = b"",
    before_end: bytes = b"",
    end: bytes = b"",
    comment: bytes = b"",
    **lies: int,
) -> bytes:
    """Return a .zip of these; the numbers of its end record may be wrong."""
    out = bytearray(front)
    offsets: list[int] = []
    for member in members:
        offsets.append(len(out))
        says = member.numbers(member.local)
        out += _local(says) + member.packed + member.behind + gap
    start = len(out)
    for member, offset in zip(members, offsets, strict=True):
        out += _central(member.numbers({"offset": offset} | member.central), member)
    true = {"disk": 0, "here": len(members), "count": len(members)}
    numbers = true | {"size": len(out) - start, "start": start} | lies
    out += before_end
    out += struct.pack(
        "<4s4H2LH",
        b"PK\5\6",
        numbers["disk"],
        0,
        numbers["here"],
        numbers["count"],
        numbers["size"],
        numbers["start"],
        lies.get("comment_size", len(comment)),
    )
    return bytes(out + comment + end)


def _local(says: dict[str, object]) -> bytes:
    name, extra = says["name"], says["extra"]
    assert isinstance(name, bytes)
    assert isinstance(extra, bytes)
    numbers = [says[key] for key in ("crc", "packed", "size")]
    head = struct.pack(
        "<4s5H3L2H",
        b"PK\3\4",
        20,
        says["flags"],
        says["method"],
        *(0, 0),
        *numbers,
        len(name),
        len(extra),
    )
    return head + name + extra


def _central(says: dict[str, object], member: Zipped) -> bytes:
    name, extra = says["name"], says["extra"]
    assert isinstance(name, bytes)
    assert isinstance(extra, bytes)
    numbers = [says[key] for key in ("crc", "packed", "size")]
    head = struct.pack(
        "<4s6H3L5H2L",
        says.get("sign", b"PK\1\2"),
        (3 << 8) | 20,
        20,
        says["flags"],
        says["method"],
        *(0, 0),
        *numbers,
        len(name),
        says.get("extra_size", len(extra)),
        says.get("comment_size", 0),
        0,
        0,
        member.attributes,
        says["offset"],
    )
    return head + name + extra


def tar_block(  # noqa: PLR0913 - one for each field of a header
    name: bytes = b"SKILL.md",
    data: bytes = SKILL,
    kind: bytes = b"0",
    *,
    size: bytes | None = None,
    magic: bytes = b"ustar\x0000",
    prefix: bytes = b"",
    checksum: bytes | None = None,
    link: bytes = b"",
    more: Iterable[tuple[int, bytes]] = (),
) -> bytes:
    """Return header and content of one member, filled up to whole blocks.

    ``more`` is written over the header where it says.
    """
    size = b"%011o\0" % len(data) if size is None else size
    head = bytearray(512)
    head[: len(name)] = name
    head[100:108] = b"0004755\0"  # set user id: no mode is kept
    head[108:124] = b"0000000\x000000000\0"
    head[124:136] = size
    head[136:148] = b"00000000000\0"
    head[156:157] = kind
    head[157 : 157 + len(link)] = link
    head[257:265] = magic
    head[345 : 345 + len(prefix)] = prefix
    for at, written in more:
        head[at : at + len(written)] = written
    head[148:156] = b" " * 8
    head[148:156] = checksum or b"%06o\0 " % sum(head)
    return bytes(head) + data + bytes(-len(data) % 512)


def raw_tar(*blocks: bytes, end: bytes = bytes(1024)) -> bytes:
    """Return a gzipped .tar of these blocks and an end."""
    return gzip.compress(b"".join(blocks) + end, mtime=0)
