"""What one pack on disk holds: its files, and what was left out."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

from satchel.files.listing import Listing
from satchel.model import DEFAULT_LIMITS, FileStat, Finding, Limits

__all__ = ["Walked", "list_folder", "stat_of", "walk_pack"]


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
    return FileStat(path, status.st_size, (status.st_mtime_ns, status.st_ino))


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
