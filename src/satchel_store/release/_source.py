"""A release as a source: every byte checked against one digest before it is used."""

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from satchel.errors import (
    DigestMismatchError,
    InvalidReleaseError,
    LimitExceededError,
    PackFileError,
    ReferenceNotFoundError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import check_path, check_read_size, digest_bytes, read_confined
from satchel.model import (
    DEFAULT_LIMITS,
    RELEASE_FILE,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
    Resource,
)
from satchel.protocols import SourceAbilities
from satchel_store.release._format import (
    FORMAT,
    SITE_FORMAT,
    check_release_id,
    parse_release,
    parse_release_file,
)
from satchel_store.release._release import Release, ReleasedSkill, release_path

# The folder of a release on a site.
_HEX: Final = re.compile("[0-9a-f]{64}")

# Returns the unchecked bytes of a file, by its plain path and the most to accept.
#
# It raises `ReferenceNotFoundError`, `LimitExceededError` or `SourceUnavailableError`.
FetchFile: TypeAlias = Callable[[str, int], bytes]


@dataclass(frozen=True, slots=True)
class _CurrentRelease:
    """The release in use, and its folder in the place."""

    release: Release
    folder: str
    document: bytes = field(repr=False)
    skills: dict[str, ReleasedSkill] = field(repr=False)

    @classmethod
    def of(cls, release: Release, folder: str, document: bytes) -> "_CurrentRelease":
        skills = {skill.id: skill for skill in release.skills}
        return cls(release, folder, document, skills)


class ReleaseSource(SourceAbilities):
    """The skills of one release, in a folder or wherever ``fetch`` reads files.

    The place is a release of `satchel build`, or a site of `satchel publish`: with a
    ``pin`` exactly that release is used, without one the site's current one. Only
    release.json is read before a skill is loaded. Keys are ids.
    """

    def __init__(  # noqa: PLR0913 - what only the place knows, all by name
        self,
        fetch: FetchFile,
        *,
        label: str,
        pin: str | None = None,
        shown: str | None = None,
        near: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        published: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Fetch nothing yet; ``fetch`` is called from any thread.

        ``shown`` begins the paths in messages; None is ``label``. ``near`` is whether
        ``fetch`` reads from a disk of this machine. ``published`` returns the ids of
        the releases of a site, the latest first, where the place can list them.
        """
        self.label: Final = label
        self.near = near
        self.pin: Final = None if pin is None else check_release_id(pin, "pin")
        self._fetch = fetch
        self._shown = label if shown is None else shown
        self._limits = limits
        self._published = published
        self._current: _CurrentRelease | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown!r}, pin={self.pin!r})"

    @property
    def release(self) -> str:
        """The id of the release in use; empty before the first answer."""
        current = self._current
        return current.release.id if current else ""

    def open(self) -> Release:
        """Return the release, fetched again unless a pin says that it cannot change."""
        with self._lock:
            if self._current is None or self.pin is None:
                self._current = self._fetch_current()
            return self._current.release

    def history(self) -> "tuple[ReleaseSource, ...]":
        """Return the releases of the place, the latest first; else the one in use."""
        ids = [*self._published()]
        if self.release not in ids:
            return (self,)
        make = partial(
            ReleaseSource, self._fetch, label=self.label, near=bool(self.near)
        )
        return tuple(make(pin=pin, limits=self._limits) for pin in ids)

    def scan(self) -> tuple[Found, ...]:
        """Return the packs, sorted by key; errors are those of `open`."""
        self.open()
        current = self._use()
        return tuple(
            Found(
                key,
                f"{self._shown}/{current.folder}{release_path(key)}",
                (skill.digest, skill.descriptor),
                skill.descriptor.files,
                skill.descriptor,
            )
            for key, skill in current.skills.items()
        )

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        """Return the id that the release has for a pack, which is its key."""
        del manifest
        return key

    def manifest(self, key: str) -> bytes:
        return self.read(key, SKILL_FILE, self._limits.skill_md_bytes)

    def files(self, key: str) -> tuple[FileStat, ...]:
        return self._skill(key).descriptor.files

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, after a check of their size and digest."""
        check_path(path, key)
        files = self._skill(key).resources
        file = next((file for file in files if file.path == path), None)
        if file is None:
            raise ReferenceNotFoundError(key, path)
        check_read_size(path, file.size, limit_bytes)
        whole = Resource(release_path(key, path), file.digest, file.size)
        return self._checked(whole, key, path)

    def read_file(self, file: Resource) -> bytes:
        """Return the checked bytes of any file of the release, by its path in there."""
        current = self._use()
        if file == current.release.document:
            return current.document
        return self._checked(file, self.label, file.path)

    def damage(self) -> Iterator[Finding]:
        """Read every file, and yield an error for each that cannot be used."""
        for file in self._use().release.files:
            try:
                self.read_file(file)
            except SkillError as error:
                place = f"{self._shown}/{self._use().folder}{file.path}"
                fix = "build the release again, or copy it again"
                yield Finding.of_error(error, place, fix=fix)

    def owner_of(self, key: str) -> str:
        """Return the owner of a skill by its release; empty if it has none."""
        current = self._current
        skill = current.skills.get(key) if current else None
        return skill.descriptor.owner if skill else ""

    def close(self) -> None:
        """Do nothing: no file or connection is open."""

    def _use(self) -> _CurrentRelease:
        current = self._current
        if current is not None:
            return current
        with self._lock:
            self._current = self._current or self._fetch_current()
            return self._current

    def _skill(self, key: str) -> ReleasedSkill:
        try:
            return self._use().skills[key]
        except KeyError:
            raise SkillNotFoundError(key) from None

    def _checked(self, file: Resource, name: str, path: str) -> bytes:
        """Return a file of the release; errors name the skill and the path in it."""
        try:
            data = self._fetch(self._use().folder + file.path, file.size)
        except PackFileError as error:
            raise type(error)(name, path, detail=error.detail) from error
        # At most the announced size is fetched, so a larger file is another file.
        except LimitExceededError as error:
            detail = f"it has more than its {file.size:,} bytes"
            raise DigestMismatchError(name, path, detail=detail) from error
        if len(data) != file.size:
            detail = f"it has {len(data):,} bytes, and not {file.size:,}"
        elif (digest := digest_bytes(data)) != file.digest:
            detail = f"its digest is {digest}, and not {file.digest}"
        else:
            return data
        raise DigestMismatchError(name, path, detail=detail)

    def _fetch_current(self) -> _CurrentRelease:
        if self.pin is not None:
            try:
                return self._release_at(_release_folder(self.pin), self.pin)
            # Not a site: the place may be the pinned release itself.
            except ReferenceNotFoundError:
                return self._top(self.pin)
        return self._top(None)

    def _top(self, pin: str | None) -> _CurrentRelease:
        """Return the release at the top, or the one that the site says is current."""
        where = f"{self._shown}/{RELEASE_FILE}"
        try:
            data = self._document(RELEASE_FILE)
        except ReferenceNotFoundError as error:
            raise InvalidReleaseError(where, "there is no such file") from error
        release = parse_release_file(data, where, self._limits)
        if isinstance(release, Release):
            self._compare(release.id, pin, RELEASE_FILE)
            return _CurrentRelease.of(release, "", data)
        if pin is not None:
            detail = f"the site has no release {pin}; its current one is {release}"
            raise InvalidReleaseError(where, detail)
        try:
            return self._release_at(_release_folder(release), release)
        except ReferenceNotFoundError as error:
            detail = f"the site has no release {release}, which it says is current"
            raise InvalidReleaseError(where, detail) from error

    def _release_at(self, folder: str, expected: str) -> _CurrentRelease:
        current = self._current
        if current and (current.folder, current.release.id) == (folder, expected):
            return current  # a folder that is named by its digest cannot change
        path = folder + RELEASE_FILE
        data = self._document(path)
        release = parse_release(data, f"{self._shown}/{path}", self._limits)
        self._compare(release.id, expected, path)
        return _CurrentRelease.of(release, folder, data)

    def _document(self, path: str) -> bytes:
        limit = self._limits.release_bytes
        try:
            return self._fetch(path, limit)
        except LimitExceededError as error:
            actual, where = error.actual, f"{self._shown}/{path}"
            name = "release_bytes"
            raise LimitExceededError(name, limit, actual, "bytes", where) from error

    def _compare(self, actual: str, expected: str | None, path: str) -> None:
        if expected not in (None, actual):
            detail = f"it is release {actual}, expected {expected}"
            raise DigestMismatchError(self.label, path, detail=detail)


def release_folder(
    path: str | os.PathLike[str], pin: str | None, label: str | None, limits: Limits
) -> ReleaseSource:
    """Make a source of a release, or a site of releases, in a folder."""
    written = os.fspath(path)
    root = os.path.abspath(written)  # noqa: PTH100 - pathlib costs start-up time
    name = written if label is None else label

    def fetch(file: str, limit_bytes: int) -> bytes:
        try:
            return read_confined(root, file, limit_bytes)
        except ReferenceNotFoundError as error:
            if os.path.isdir(root):  # noqa: PTH112
                raise
            raise SourceUnavailableError(name, "no such folder") from error

    return ReleaseSource(
        fetch,
        label=name,
        pin=pin,
        shown=written,
        near=True,
        limits=limits,
        published=lambda: _published_in(root),
    )


def _published_in(root: str) -> list[str]:
    """Return the ids of the releases of a site, the one that came last first."""
    try:
        with os.scandir(os.path.join(root, "releases")) as folders:  # noqa: PTH118
            named = [folder for folder in folders if _HEX.fullmatch(folder.name)]
            times = {folder.name: folder.stat().st_mtime_ns for folder in named}
    except OSError:
        return []
    names = sorted(times, key=lambda name: (-times[name], name))
    return [f"sha256-tree-v1:{name}" for name in names]


def is_release(path: str) -> bool:
    """Return whether a folder looks like a release, or a site of releases."""
    try:
        head = read_confined(path, RELEASE_FILE, DEFAULT_LIMITS.release_bytes)
    except PackFileError:
        return False
    except LimitExceededError:
        head = b""
    # A damaged one still is one: its skills must not be read as those of a plain
    # folder, without a check.
    head = head[:4_096]
    if FORMAT.encode() in head or SITE_FORMAT.encode() in head:
        return True
    # These are the folders that `satchel publish` makes.
    folders = (f"{path}/{name}" for name in ("skills", "releases"))
    return os.path.isdir(f"{path}/.well-known") and any(map(os.path.isdir, folders))  # noqa: PTH112


def _release_folder(release: str) -> str:
    return f"releases/{release.rpartition(':')[2]}/"
