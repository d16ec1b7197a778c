"""Packs in a folder of this machine."""

# ruff: noqa: PTH100, PTH112, PTH118 - a Path for each pack costs too much
import os
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

from satchel.errors import (
    LimitExceededError,
    ReferenceEscapesError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import LruCache, is_settled, mark_of, read_file, read_seen, walk_pack
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.protocols import SourceAbilities
from satchel.sources._folder_search import FolderSearch, PackLocation, with_linked

if TYPE_CHECKING:
    from satchel.sources._unlisted import SearchTrace

# Keys are paths that a scan went down itself; nothing else is one, so that no key
# climbs, and none leads where no scan goes.
_INVALID_KEY: Final = re.compile(r"\A\Z|(?:\A|/)(?:\.|/|\Z)|\x00|[\ud800-\udfff]")


# Bytes of SKILL.md files that a source remembers.
_MOST_CACHED: Final = 4 * 1024 * 1024


class LocalSource(SourceAbilities):
    """A folder with packs in it, or one pack.

    A folder with a SKILL.md is one pack. Else it is searched, down to
    ``limits.scan_depth`` folders. A pack in a place for skills, such as ``skills`` in
    another pack, is one of its own; any other SKILL.md is a finding
    (docs/reference/discovery.md). A search follows links that stay inside; one right
    below the root may also lead to a pack elsewhere (docs/decisions/0006). Inside a
    pack none is followed. Keys are paths relative to the root; that of a root that is
    itself a pack is the folder's name.
    """

    near: bool | None = True
    finds_one = True
    is_editable = True
    """Whether its packs are the user's own, and not those of an installed package."""
    _starts: tuple[str, ...] = ()
    """Folders below the root to search in its place; empty for the root itself."""
    _depth: int = 0
    """How many folders deep to search; 0 is the limit."""
    _root_may_be_pack: bool = True

    def __init__(  # noqa: PLR0913 - one keyword for each property of a folder
        self,
        root: str | os.PathLike[str],
        *,
        label: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        shown: str | None = None,
        missing_ok: bool = False,
        scope: str = "",
        trusted: bool = True,
        precedence: int | None = None,
    ) -> None:
        """Take the folder, relative to the working folder of now; look at nothing.

        Args:
            root: The folder; a link to it is followed.
            label: What to call the source; None is ``root`` as it is written.
            limits: Bounds on what is accepted.
            shown: What begins the paths that are shown; None is ``root`` as
                it is written.
            missing_ok: Whether a folder that is not there is one without packs.
            scope: ``project``, ``user`` or ``managed``; empty for a named folder.
            trusted: Whether its packs may be listed and loaded.
            precedence: See the class.
        """
        written = os.fspath(root)
        self.root = os.path.abspath(written)
        self.label: Final = written if label is None else label
        self.scope: Final = scope
        self.trusted = trusted
        self.precedence = precedence
        self.missing_ok = missing_ok
        self._shown = written if shown is None else shown
        self._limits = limits
        self._places: dict[str, PackLocation] | None = None
        self._linked: dict[str, PackLocation] = {}
        self._skill_files: dict[str, FileStat] = {}
        self._cached: LruCache[str, tuple[bytes, FileStat]] = LruCache(_MOST_CACHED)
        self._running: FolderSearch | None = None
        self._seen = 0
        self.trace: SearchTrace | None = None
        """What the last scan depended on."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown!r}, label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        """Return the packs, sorted by key, then the findings.

        Raises:
            SourceUnavailableError: The folder is not there, or cannot be listed.
        """
        search = self._running = FolderSearch(
            self.root,
            self._shown,
            self._limits,
            self._depth or self._limits.scan_depth,
            root_may_be_pack=self._root_may_be_pack,
            starts=self._starts,
        )
        self.trace = None
        # Before the search: a file that is written during it must not count as settled.
        now_ns = time.time_ns()
        try:
            result = search.run()
        except FileNotFoundError as error:
            if not self.missing_ok:
                raise SourceUnavailableError(self.label, "no such folder") from error
            return ()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SourceUnavailableError(self.label, reason) from error
        self._places, self._linked = result.places, result.linked
        self.trace = search.trace
        self._seen, self._running = search.seen, None  # what it held can go
        self._skill_files = {
            pack.key: file
            for pack in result.found
            for file in pack.files or ()
            if file.path == SKILL_FILE
        }
        packs = [
            pack
            if is_settled(pack.files or (), now_ns)
            else replace(pack, settled=False)
            for pack in result.found
        ]
        return (*packs, *result.findings)

    @property
    def index_key(self) -> object:
        """All that decides, next to the files, what a scan finds; None if unknown."""
        if type(self) is not LocalSource:  # it may read other bytes, or find more
            return None
        return self.root, self.label, self._shown, self._limits

    def look_at(
        self, key: str, *, alone: bool = True
    ) -> tuple[Found, int, tuple[str, ...]] | None:
        """Return one pack as `scan` finds it, its entries, and the folders in it.

        None where there is none; where it has to be all that a scan would find there,
        ``alone``, also if there are findings.
        """
        limits = self._limits
        search = FolderSearch(self.root, self._shown, limits, limits.scan_depth)
        try:
            pack, is_clear = search.look_at_pack(key)
        except (OSError, ValueError):
            return None
        if pack is None or (alone and not is_clear):
            return None
        return pack, search.seen, search.trace.subfolders.get(key, ())

    def skip_scan(self, keys: Iterable[str]) -> None:
        """Take each of these keys for a path below the root, as a search found them."""
        # All other keys are checked when they are asked for.
        dotted = (key for key in keys if key[0] == "." or "/." in key)
        self._places = {key: (self.root, key) for key in dotted}

    @property
    def progress(self) -> int:
        """How many entries of folders the last scan has seen, while it goes on, too."""
        running = self._running
        return self._seen if running is None else running.seen

    def manifest(self, key: str) -> bytes:
        """Return the raw SKILL.md."""
        seen = self._skill_files.get(key)
        if seen is not None and seen.size <= self._limits.skill_md_bytes:
            data = read_seen(os.path.join(*self._place(key), SKILL_FILE), seen)
            if data is not None:
                return data
        try:
            return self._read(key, SKILL_FILE, self._limits.skill_md_bytes)
        except ReferenceNotFoundError as error:
            self._check_root()
            raise SkillNotFoundError(key) from error
        except ReferenceEscapesError as error:
            raise ReferenceUnreadableError(
                key, SKILL_FILE, detail=error.detail
            ) from error

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return the files of the pack as they are now, sorted by path."""
        self._check_pack(key)
        root, folder = self._place(key)
        linked: tuple[FileStat, ...] = ()
        try:
            walked = walk_pack(os.path.join(root, folder), limits=self._limits)
            if key in self._linked:
                status = os.lstat(os.path.join(*self._linked[key]))
                linked = (FileStat(SKILL_FILE, status.st_size, mark_of(status)),)
        except FileNotFoundError as error:  # it went away since it was checked
            raise SkillNotFoundError(key) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise SourceUnavailableError(self.label, reason) from error
        return with_linked(walked.files, linked)

    def scan_one(self, key: str, location: str) -> Found | None:
        """Return one pack as `scan` would find it now; None where it would not.

        ``location`` is what an earlier scan showed for it.

        Raises:
            SkillNotFoundError, SourceUnavailableError: There is no such pack.
        """
        now_ns = time.time_ns()
        try:
            files = self.files(key)
        except LimitExceededError:
            return None
        settled = is_settled(files, now_ns)
        return Found(key, location, files, files, settled=settled)

    def is_unchanged(self, key: str, stat: FileStat) -> bool:
        """Tell whether a file still has this size and mark."""
        try:
            status = os.lstat(os.path.join(*self._file(key, stat.path)))
        except (OSError, ValueError):
            return False
        now = FileStat(stat.path, status.st_size, mark_of(status))
        return S_ISREG(status.st_mode) and now == stat

    def folder_of(self, key: str) -> str:
        """Return where a pack of this key is: an absolute path, links not resolved.

        For programs that write to it; reading goes through `read`.

        Raises:
            SkillNotFoundError, SourceUnavailableError: There is no such pack.
        """
        self._check_pack(key)
        root, folder = self._place(key)
        return os.path.join(root, folder) if folder else root

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, confined to the pack."""
        try:
            return self._read(key, path, limit_bytes)
        except ReferenceNotFoundError:
            self._check_pack(key)
            raise

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _read(self, key: str, path: str, limit_bytes: int) -> bytes:
        is_skill = path == SKILL_FILE
        cached, stat = (is_skill and self._cached.find(key)) or (b"", None)
        # The bytes are those of a file that was opened safely. While inode and times
        # are the same, to open it again, folder by folder, would give no other ones.
        if stat and stat.size <= limit_bytes and self.is_unchanged(key, stat):
            return cached
        root, folder, file = self._file(key, path)
        now_ns, of = time.time_ns(), (root, file, limit_bytes)
        data, status = read_file(*of, folder=folder, owner=key)
        stat = FileStat(path, status.st_size, mark_of(status))
        # A file of /proc has no size, and changes without a mark.
        if is_skill and stat.size == len(data) and is_settled((stat,), now_ns):
            self._cached.put(key, (data, stat), len(data))
        return data

    def _file(self, key: str, path: str) -> tuple[str, str, str]:
        """Return where a file of a pack really is: a trusted folder, and two parts."""
        root, folder = self._place(key)
        if path == SKILL_FILE and key in self._linked:
            root, whole = self._linked[key]
            folder, _, path = whole.rpartition("/")
        return root, folder, path

    def _place(self, key: str) -> PackLocation:
        if self._places is None:
            self.scan()
        place = self._places.get(key) if self._places else None
        if place is not None:
            return place  # nearly always: keys come from a scan
        if _INVALID_KEY.search(key):
            raise SkillNotFoundError(key)
        return self.root, key

    def _check_root(self) -> None:
        if not (self.missing_ok or os.path.isdir(self.root)):
            raise SourceUnavailableError(self.label, "no such folder")

    def _check_pack(self, key: str) -> None:
        """Accept a key that leads to a pack; else say if the whole folder is gone."""
        # With 0 bytes allowed nothing is read: over the limit means that it is there.
        try:
            self._read(key, SKILL_FILE, 0)
        except LimitExceededError:
            return
        except (ReferenceNotFoundError, ReferenceEscapesError) as error:
            self._check_root()
            raise SkillNotFoundError(key) from error


def folder(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> LocalSource:
    """Make a source of a folder with packs in it, or of one pack."""
    return LocalSource(path, label=label, limits=limits)
