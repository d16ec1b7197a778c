"""The files of a pack: which are listed and which are not, their marks, and digests."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Final, TypeAlias, cast

from satchel.errors import LimitExceededError
from satchel.files._confined import READ_FILE, path_problem
from satchel.files._exclusion import JUDGED_BYTES, ExclusionKind, exclusion_kind
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Limits,
    Resource,
)

TREE_PREFIX: Final = "sha256-tree-v1:"

_FILE_PREFIX: Final = "sha256:"
_DIGEST: Final = re.compile(rf"{_FILE_PREFIX}[0-9a-f]{{64}}")


def digest_bytes(data: bytes) -> str:
    """Return ``sha256:`` and the hex digest of ``data``."""
    from hashlib import sha256

    return _FILE_PREFIX + sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    """Return whether ``text`` has the form of what `digest_bytes` returns."""
    return _DIGEST.fullmatch(text) is not None


def tree_digest(resources: Iterable[Resource]) -> str:
    """Return the digest of a pack: one for equal files under equal paths.

    It is the SHA-256 over ``path NUL hex LF`` of every file, SKILL.md included,
    sorted by path by code point. The order of ``resources`` does not matter.
    """
    from hashlib import sha256

    lines = sorted(
        (file.path, file.digest.removeprefix(_FILE_PREFIX)) for file in resources
    )
    tree = sha256()
    for path, digest in lines:
        # A source of a third party may give any string as a path.
        tree.update(f"{path}\0{digest}\n".encode("utf-8", "surrogatepass"))
    return TREE_PREFIX + tree.hexdigest()


def _head_of(path: str) -> bytes:
    """Return the beginning of a file, as far as it is judged; no link is followed."""
    fd = os.open(path, READ_FILE)
    try:
        return os.read(fd, JUDGED_BYTES + 1)
    finally:
        os.close(fd)


# Where a pack has packs of its own: the folders in a folder called ``skills``.
_PLACE: Final = re.compile(r"(?:plugins/[^/]+/)?skills/[^/]")

_NESTED: Final = f"/{SKILL_FILE}"

# Files that one message names.


# Lists a folder: its path, and how many entries are wanted at most.
EntriesOf: TypeAlias = Callable[[str, int], Sequence[os.DirEntry[str]]]


def list_folder(folder: str, at_most: int) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, unsorted; one more than ``at_most`` at most."""
    with os.scandir(folder) as entries:
        return list(islice(entries, at_most + 1))


@dataclass(slots=True)
class Listing:
    """The files of one pack while they are listed: by name and amount, without I/O.

    `path_problem` finds nothing in any path that it lists. What it does not list is one
    finding for each kind, with a count.
    """

    limits: Limits
    entries_of: EntriesOf = list_folder
    folders: list[str] = field(default_factory=list[str])
    hidden: list[str] = field(default_factory=list[str])
    inner: list[str] = field(default_factory=list[str])
    nested: list[str] = field(default_factory=list[str])
    _files: list[FileStat] = field(default_factory=list[FileStat])
    _excluded: dict[ExclusionKind, list[str]] = field(
        default_factory=dict[ExclusionKind, list[str]]
    )
    _skipped: dict[str, list[tuple[str, str]]] = field(
        default_factory=dict[str, list[tuple[str, str]]]
    )
    _entries: int = 0
    _size: int = 0

    def admits(self, path: str, read: Callable[[], bytes] | None = None) -> bool:
        """Return whether ``path`` may be listed by its name; note it if it may not.

        ``read`` gives what is in the file, where a name alone does not decide.
        """
        if path.endswith(_NESTED):
            self.nested.append(path)
        kind = exclusion_kind(path)
        if kind == "key material" and read is not None:  # few packs have such files
            from satchel.files._left_out import may_be_public

            kind = None if may_be_public(path, read) else kind
        if kind:
            self._excluded.setdefault(kind, []).append(path)
            return False
        problem = path_problem(path)
        if problem:
            self.skip("unsafe-file-name", path, problem)
        return not problem

    def skip(self, code: str, path: str, detail: str = "") -> None:
        """Note that ``path`` is not listed, under the code of a finding."""
        self._skipped.setdefault(code, []).append((path, detail))

    def add(self, file: FileStat) -> None:
        """List a file that was admitted, or raise `LimitExceededError`."""
        self.count(file.path, file.path.count("/"))
        self._size += file.size
        limit = self.limits.pack_bytes
        if self._size > limit:
            raise LimitExceededError("pack_bytes", limit, self._size, "bytes")
        self._files.append(file)

    def count(self, path: str, depth: int) -> None:
        """Count a file or a folder that is about to be entered; errors as for `add`."""
        limit = self.limits.pack_depth
        if depth > limit:
            raise LimitExceededError("pack_depth", limit, depth, "folders", path)
        self._entries += 1
        limit = self.limits.pack_files
        if self._entries > limit:
            raise LimitExceededError("pack_files", limit, self._entries, "files")

    def files(self) -> tuple[FileStat, ...]:
        """Return what is listed, sorted by path."""
        return tuple(sorted(self._files, key=attrgetter("path")))

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, with pack-relative paths."""
        folded = {file.path.lower() for file in self._files if file.path.isascii()}
        # Only then can two of them collide.
        paths = [file.path for file in self.files()] * (len(folded) < len(self._files))
        if not (self._excluded or self._skipped or paths):
            return ()
        from satchel.files._left_out import left_out_findings  # few packs have any

        return tuple(left_out_findings(self._excluded, self._skipped, paths))


# What to do about a pack over one of the limits.
TOO_LARGE_FIX: Final = "make the pack smaller, or raise the limit that is named"


def locate_findings(findings: Iterable[Finding], where: str) -> Iterator[Finding]:
    """Yield findings on a pack with its location in front of their paths."""
    for finding in findings:
        inner = f"{where}/{finding.path}" if finding.path else where
        yield replace(finding, path=inner)


_SECOND_NS: Final = 1_000_000_000
# The coarsest clock of a file system that is in use: FAT counts every other second.
COARSE_NS: Final = 2 * _SECOND_NS
# Longer than the 4 to 10 ms in which Linux gives two writes one time.
FINE_NS: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class WalkedPack:
    """The files of a pack, sorted by path; all paths are pack-relative.

    Attributes:
        files: What the pack lists.
        findings: What it does not list, and why.
        folders: Those below the pack's own that were listed, empty ones too.
        hidden: Folders that were not looked into, because of their names.
        inner: Folders of other packs, in a place for skills; nothing in them is listed.
        nested: Each other SKILL.md below the pack's own, of whatever kind it is.
    """

    files: tuple[FileStat, ...]
    findings: tuple[Finding, ...] = ()
    folders: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()


def walk_pack(
    folder: str,
    entries: Sequence[os.DirEntry[str]] | None = None,
    entries_of: EntriesOf | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> WalkedPack:
    """Return what the pack in ``folder`` holds, reading and following nothing.

    What `Listing` does not list is a finding. ``entries`` are those of the folder, if
    the caller has listed it already; ``entries_of`` lists folders that are on no disk.
    """
    if entries is None:
        entries = list_folder(folder, limits.scan_entries)
    # Files and folders count alike, so that a tree of empty folders ends, too.
    listing = Listing(limits, entries_of or list_folder)
    _list_into(entries, "", listing)
    return WalkedPack(
        listing.files(),
        listing.findings(),
        tuple(listing.folders),
        tuple(listing.hidden),
        tuple(listing.inner),
        tuple(listing.nested),
    )


def stat_of(entry: os.DirEntry[str], path: str) -> FileStat:
    """Return size and mark of a file without reading it; links are not followed."""
    status = entry.stat(follow_symlinks=False)
    return FileStat(path, status.st_size, mark_of(status))


def mark_of(status: os.stat_result) -> tuple[int, int, int]:
    """Return what changes with a file: two times and the inode."""
    # Anyone can set the modification time back; the time of the status change moves
    # with every write all the same. Windows has the time of creation in its place.
    return status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def read_seen(path: str, seen: FileStat) -> bytes | None:
    """Return the bytes of the very file that a walk saw here; None for any other.

    A walk enters no link. So a file that has the inode and the times of what it saw is
    confined as it was then, whatever became of the path since, and needs one open where
    `read_confined` opens each folder on the way.
    """
    try:
        fd = os.open(path, READ_FILE)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        # Some systems have no inode; then nothing shows which file it is.
        if (
            not status.st_ino
            or FileStat(seen.path, status.st_size, mark_of(status)) != seen
        ):
            return None
        data = os.read(fd, seen.size + 1)
    except OSError:
        return None
    finally:
        os.close(fd)
    return data if len(data) == seen.size else None


def is_settled(files: Iterable[FileStat], now_ns: int) -> bool:
    """Return whether an edit of these after ``now_ns`` would show in their marks."""
    for file in files:
        mtime_ns, _, ctime_ns = cast("tuple[int, int, int]", file.mark)
        last_ns = max(mtime_ns, ctime_ns)
        # So soon after a write the file system may give the next one the same time.
        if abs(now_ns - last_ns) <= COARSE_NS:  # one of the far future never settles
            # Whole seconds: most likely a file system that counts nothing smaller.
            coarse = not (mtime_ns % _SECOND_NS or ctime_ns % _SECOND_NS)
            if coarse or last_ns >= now_ns - FINE_NS:
                return False
    return True


def _list_into(
    entries: Iterable[os.DirEntry[str]], prefix: str, listing: Listing
) -> None:
    """Add one folder of the pack, in the order of names."""
    # Sorted, so that a limit is reached at the same file on every system.
    for entry in sorted(entries, key=attrgetter("name")):
        path = prefix + entry.name
        try:
            # What is on no disk is read by the entry itself.
            read = getattr(entry, "read", None) or partial(_head_of, entry.path)
            if not listing.admits(path, read):
                if entry.is_dir(follow_symlinks=False):
                    listing.hidden.append(path)
            elif entry.is_symlink():
                listing.skip("link-in-pack", path)
            elif entry.is_dir(follow_symlinks=False):
                inner = listing.entries_of(entry.path, listing.limits.scan_entries)
                if _PLACE.match(path) and any(e.name == SKILL_FILE for e in inner):
                    listing.inner.append(path)
                    continue
                # Before the folder is entered, so that the depth bounds the recursion.
                listing.count(path, path.count("/") + 1)
                listing.folders.append(path)
                _list_into(inner, f"{path}/", listing)
            elif entry.is_file(follow_symlinks=False):
                listing.add(stat_of(entry, path))
            else:
                listing.skip("special-file", path)
        except FileNotFoundError:
            continue  # gone since it was listed: as if it had never been there
        except OSError as error:
            listing.skip("unreadable-file", path, error.strerror or "")
