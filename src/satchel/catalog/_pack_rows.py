"""Packs as rows of the index: JSON, since a file on disk is untrusted input."""

import json
import os
from collections.abc import Iterable
from operator import attrgetter
from struct import Struct
from typing import Any, Final

from satchel.catalog._packs import ScannedPack
from satchel.model import SKILL_FILE, Descriptor, FileStat, Finding, Origin

# Of a folder: modified, changed, inode, device. Of a file: modified, inode, changed,
# size. An inode of Windows has more bits than fit.
_MARKS: Final = Struct("<4q")
_TWO_MARKS: Final = Struct("<8q")
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
        (entry.category, entry.owner, entry.odd_fields),
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
    category, owner, odd_fields = rest
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
        above = lstat(folder)
        if folders_only:
            return _folder_bytes(above)
        file = lstat(f"{folder}/{SKILL_FILE}")
        return _TWO_MARKS.pack(
            above.st_mtime_ns,
            above.st_ctime_ns,
            above.st_ino & _BITS,
            above.st_dev & _BITS,
            file.st_mtime_ns,
            file.st_ino & _BITS,
            file.st_ctime_ns,
            file.st_size,
        )
    marks: list[bytes] = []
    for path in paths.decode("utf-8", "surrogatepass").split("\0"):
        if path[-1] == "/":
            marks.append(_folder_bytes(lstat(f"{folder}/{path[:-1]}")))
        elif not folders_only:
            file = lstat(f"{folder}/{path}")
            marks.append(
                _MARKS.pack(
                    file.st_mtime_ns,
                    file.st_ino & _BITS,
                    file.st_ctime_ns,
                    file.st_size,
                )
            )
    return b"".join(marks)


def _folder_bytes(status: os.stat_result) -> bytes:
    return _MARKS.pack(
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino & _BITS,
        status.st_dev & _BITS,
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
