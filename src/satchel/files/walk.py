"""What one pack on disk holds: its files, and what was left out."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Final, cast

from satchel.files.listing import Listing
from satchel.model import DEFAULT_LIMITS, FileStat, Finding, Limits

__all__ = ["Walked", "is_settled", "list_folder", "mark_of", "stat_of", "walk_pack"]

_SECOND_NS: Final = 1_000_000_000
COARSE_NS: Final = 2 * _SECOND_NS
"""The coarsest clock of a file system that is in use: FAT counts every other second."""
FINE_NS: Final = 50_000_000
"""Longer than the 4 to 10 ms in which Linux gives two writes one time."""


@dataclass(frozen=True, slots=True)
class Walked:
    """The files of a pack, sorted by path; the findings' paths are pack-relative."""

    files: tuple[FileStat, ...]
    findings: tuple[Finding, ...] = ()


def list_folder(folder: str, at_most: int) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, unsorted; one more than ``at_most`` at most.

    Raises:
        OSError: The folder cannot be listed.
    """
    with os.scandir(folder) as entries:
        return list(islice(entries, at_most + 1))


def walk_pack(
    folder: str,
    entries: Sequence[os.DirEntry[str]] | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Walked:
    """Return what the pack in ``folder`` holds, reading and following nothing.

    Listed are regular files whose path `path_problem` has nothing to say about, and
    which are not left out by kind. Everything else is a finding.

    Args:
        folder: The pack's own folder.
        entries: Its entries, where the caller has listed it already.
        limits: ``pack_files``, ``pack_bytes`` and ``pack_depth`` are kept.

    Raises:
        LimitExceededError: The pack is larger than was agreed to accept. Files and
            folders count alike, so that a tree of empty folders ends, too.
        OSError: The folder itself cannot be listed.
    """
    if entries is None:
        entries = list_folder(folder, limits.scan_entries)
    listing = Listing(limits)
    _take(entries, "", listing)
    return Walked(listing.files(), listing.findings())


def stat_of(entry: os.DirEntry[str], path: str) -> FileStat:
    """Return what can be told of a file without reading it; links are not followed."""
    status = entry.stat(follow_symlinks=False)
    return FileStat(path, status.st_size, mark_of(status))


def mark_of(status: os.stat_result) -> tuple[int, int, int]:
    """Return what tells a change of a file by: two times and the inode.

    Anybody can set the modification time back; the time of the status change moves
    with every write all the same. Windows has the time of creation in its place.
    """
    return status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def is_settled(files: Iterable[FileStat], now_ns: int) -> bool:
    """Tell whether an edit of any of these would show in its mark.

    It would not where a file was written so shortly before ``now_ns``, in nanoseconds
    since the epoch, that its file system gives the next write the same time.
    """
    for file in files:
        mtime_ns, _, ctime_ns = cast("tuple[int, int, int]", file.mark)
        last_ns = max(mtime_ns, ctime_ns)
        if abs(now_ns - last_ns) <= COARSE_NS:  # one of the far future never settles
            coarse = not (mtime_ns % _SECOND_NS or ctime_ns % _SECOND_NS)
            if coarse or last_ns >= now_ns - FINE_NS:
                return False
    return True


def _take(entries: Iterable[os.DirEntry[str]], prefix: str, listing: Listing) -> None:
    """Take in one folder of the pack, in the order of names."""
    for entry in sorted(entries, key=attrgetter("name")):
        path = prefix + entry.name
        try:
            if not listing.admits(path):
                continue
            if entry.is_symlink():
                listing.skip("link-in-pack", path)
            elif entry.is_dir(follow_symlinks=False):
                listing.add_folder(path)
                inner = list_folder(entry.path, listing.limits.scan_entries)
                _take(inner, f"{path}/", listing)
            elif entry.is_file(follow_symlinks=False):
                listing.add(stat_of(entry, path))
            else:
                listing.skip("special-file", path)
        except FileNotFoundError:
            continue  # gone since it was listed: as if it had never been there
        except OSError as error:
            listing.skip("unreadable-file", path, error.strerror or "")
