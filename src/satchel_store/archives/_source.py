"""Packs in a tree of files in memory: of an archive, or of a package in a zip file."""

# ruff: noqa: PTH100, PTH119, PTH123 - as for folders: a Path costs start-up time
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from posixpath import normpath
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from satchel.errors import ArchiveError, LimitExceededError, SourceUnavailableError
from satchel.files import ARCHIVE_SUFFIXES, Listing, locate_findings, mark_of
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.protocols import SourceAbilities
from satchel.sources import FolderSearch, MemorySource
from satchel_store.plugins import is_manifest

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from satchel.sources import Entries

# An archive may have the files and bytes of so many packs.
_PACKS: Final = 16


class _TreeEntry:
    """A file or folder of the tree, as `os.scandir` gives those of a disk."""

    def __init__(self, path: str, data: bytes | None = None) -> None:
        self.path, self.name = path, path.rpartition("/")[2]
        self._data = data

    def read(self) -> bytes:
        return self._data or b""

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        return self._data is None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        return self._data is not None

    def is_symlink(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:  # noqa: ARG002
        return os.stat_result((0, 0, 0, 0, 0, 0, len(self.read()), 0, 0, 0))


class TreeSource(MemorySource):
    """The packs that a folder with these files would have, and its findings."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        name: str,
        *,
        label: str,
        limits: Limits,
        links: Iterable[str] = (),
    ) -> None:
        """Search; a pack at the root is called ``name``, and ``links`` are no files."""
        folders: dict[str, dict[str, _TreeEntry]] = {name: {}}
        for path, data in files.items():
            entry = _TreeEntry(f"{name}/{path}", data)
            while entry.path != name:
                above = entry.path.rpartition("/")[0]
                folders.setdefault(above, {})[entry.name] = entry
                entry = _TreeEntry(above)
        shown = f"{label}/{name}" if SKILL_FILE in files else label
        search = FolderSearch(name, shown, limits, limits.scan_depth)
        search.entries_of = lambda folder, _: cast(
            "Entries", list(folders[folder.replace(os.sep, "/")].values())
        )
        result = search.run()
        starts: dict[str, Found] = {}
        packs: dict[str, dict[str, bytes]] = {}
        for pack in result.found:
            start = f"{result.places[pack.key][1]}/".removeprefix("/")
            starts[start] = pack
            packs[pack.key] = {f.path: files[start + f.path] for f in pack.files or ()}
        # The search has judged them, and refused what is over a limit.
        most = replace(limits, pack_files=sys.maxsize, pack_bytes=sys.maxsize)
        super().__init__(packs, label=label, limits=most)
        findings = [*result.findings]
        for link in sorted(links):
            around = max(filter(link.startswith, starts), key=len, default=None)
            if link.rpartition("/")[2] == SKILL_FILE:
                kind = "a link, and none is followed in an archive"
                where = f"{shown}/{link}"
                findings.append(Finding.of("irregular-skill-file", where, kind=kind))
            elif around is not None:
                listing = Listing(limits)
                listing.skip("link-in-pack", link.removeprefix(around))
                findings += locate_findings(listing.findings(), starts[around].location)
        self._found = result.found
        self.findings = sorted(findings, key=attrgetter("path", "code"))
        # What the manifests of plugins say, and what is there: folders, and links.
        below = (normpath(folder[len(name) + 1 :]) for folder in folders)
        manifests = {path: files[path] for path in filter(is_manifest, files)}
        self.tree = {**dict.fromkeys((*below, *links)), **manifests}

    def scan(self) -> tuple[Found | Finding, ...]:
        listed = [(pack, self.files(pack.key)) for pack in self._found]
        packs = [Found(pack.key, pack.location, stats, stats) for pack, stats in listed]
        return (*packs, *self.findings)


class _OpenedArchive(NamedTuple):
    """What the archive had in it when its file had this stamp."""

    stamp: tuple[int, ...]
    packs: TreeSource


class ArchiveSource(SourceAbilities):
    """The packs in one archive, unpacked in memory: nothing is written to a disk.

    They are those that its folder would have; a folder that all is in does not count.
    A pack at the root has for a key the name of that folder, else its own name, else
    the name of the file without its suffix.
    """

    near: bool | None = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        label: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Open nothing yet; ``path`` is relative to the current working folder."""
        written = os.fspath(path)
        self.label: Final = written if label is None else label
        self._shown: Final = written
        self._path: Final = os.path.abspath(written)
        self._limits = limits
        self._opened: _OpenedArchive | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown!r}, label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        return self._open().packs.scan()

    def manifest(self, key: str) -> bytes:
        return self._open().packs.manifest(key)

    def files(self, key: str) -> tuple[FileStat, ...]:
        return self._open().packs.files(key)

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        return self._open().packs.read(key, path, limit_bytes)

    def close(self) -> None:
        self._opened = None

    def _open(self) -> _OpenedArchive:
        """Return what the archive has in it now, unpacked again if it has changed."""
        try:
            status = os.stat(self._path)  # noqa: PTH116 - see above
            stamp = (*mark_of(status), status.st_size)
            opened = self._opened
            if opened is None or opened.stamp != stamp:
                # Two threads may unpack it twice; the result is the same.
                with self._lock:
                    self._opened = opened = self._read(stamp)
                    self.tree = opened.packs.tree
        except OSError as error:
            reason = error.strerror or str(error)
            raise SourceUnavailableError(self.label, reason) from error
        return opened

    def _read(self, stamp: tuple[int, ...]) -> _OpenedArchive:
        try:
            return _OpenedArchive(stamp, self._unpacked())
        # Of something that must not be unpacked nothing is used.
        except (ArchiveError, LimitExceededError) as error:
            fix = "unpack it and name the folder, or make it again: satchel pack"
            finding = Finding.of_error(error, self._shown, fix=fix)
            nothing = TreeSource({}, "", label=self.label, limits=self._limits)
            nothing.findings = [finding]
            return _OpenedArchive(stamp, nothing)

    def _unpacked(self) -> TreeSource:
        from satchel_store.archives._unpack import archive_size_limit, open_library

        limits = self._limits
        many = replace(
            limits,
            archive_files=limits.archive_files * _PACKS,
            archive_bytes=limits.archive_bytes * _PACKS,
            pack_files=sys.maxsize,
            pack_bytes=sys.maxsize,
        )
        most = archive_size_limit(many)
        with open(self._path, "rb") as file:
            # One byte more shows that it is too large, without reading all of it.
            data = file.read(most + 1)
        if len(data) > most:
            raise LimitExceededError("archive_bytes", most, len(data), "bytes")
        tree = open_library(data, limits=many)
        of_one = replace(
            limits,
            pack_files=min(limits.pack_files, limits.archive_files),
            pack_bytes=min(limits.pack_bytes, limits.archive_bytes),
        )
        name = tree.folder or _name_in(tree.files) or _name_without_suffix(self._path)
        packs = TreeSource(
            tree.files, name, label=self._shown, limits=of_one, links=tree.links
        )
        if not packs.scan():
            raise ArchiveError("", f"it has no {SKILL_FILE}")
        return packs


def _name_in(files: Mapping[str, bytes]) -> str:
    """Return the name of a pack that is in no folder; empty where no folder has it."""
    from satchel.files import folder_problem
    from satchel.skill_md import parse

    manifest = parse(files.get(SKILL_FILE, b""), profile="lenient").manifest
    return "" if manifest is None or folder_problem(manifest.name) else manifest.name


def _name_without_suffix(path: str) -> str:
    name = os.path.basename(path)
    lower = name.lower()
    suffix = next((end for end in ARCHIVE_SUFFIXES if lower.endswith(end)), "")
    return name[: len(name) - len(suffix)] or name


def files_in(folder: "Traversable", prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield each file below a folder of a package, by its path."""
    for item in folder.iterdir():
        if item.is_dir():
            yield from files_in(item, f"{prefix}{item.name}/")
        else:
            yield prefix + item.name, item.read_bytes()
