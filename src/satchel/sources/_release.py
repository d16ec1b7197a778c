"""A release as a source: every byte checked against one digest before it is used."""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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
from satchel.files import (
    FORMAT,
    SITE_FORMAT,
    check_path,
    check_release_id,
    digest_bytes,
    parse_release,
    parse_release_file,
    read_confined,
)
from satchel.model import (
    DEFAULT_LIMITS,
    RELEASE_FILE,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    Release,
    ReleasedSkill,
    Resource,
    release_path,
)

FetchFile: TypeAlias = Callable[[str, int], bytes]
"""Returns the bytes of a file, by its path with ``/`` and the most bytes to accept.

It raises `ReferenceNotFoundError` where there is none, `LimitExceededError` where there
are more bytes, and `SourceUnavailableError` where nothing answers. The path is plain,
and not encoded for a URL. What it returns need not be checked.
"""

_FORMAT_HEAD_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class _CurrentRelease:
    """The release in use, and in which folder of the place it lies."""

    release: Release
    folder: str
    document: bytes = field(repr=False)
    skills: dict[str, ReleasedSkill] = field(repr=False)


class ReleaseSource:
    """The skills of one release, in a folder or wherever ``fetch`` finds files.

    The place is a release as `satchel build` makes it, or a site of `satchel publish`:
    with a ``pin`` that release and no other is used, without one the site's current
    one. Only release.json is read before somebody loads something. Keys are ids.

    ``release`` is the id of the release in use, empty before the first answer.
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
    ) -> None:
        """Take the place; fetch nothing.

        Args:
            fetch: Reads files of the place; called from any thread.
            label: What to call the source.
            pin: The id that the release must have.
            shown: What stands in front of paths that are shown; None is ``label``.
            near: Whether ``fetch`` reads from a disk of this machine.
            limits: Bounds on what is accepted.

        Raises:
            InvalidReleaseError: ``pin`` is no id of a release.
        """
        self.label: Final = label
        self.near: Final = near
        self.pin: Final = None if pin is None else check_release_id(pin, "pin")
        self._fetch = fetch
        self._shown = label if shown is None else shown
        self._limits = limits
        self._held: _CurrentRelease | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        """Return what a debugger shows."""
        return f"{type(self).__name__}({self._shown!r}, pin={self.pin!r})"

    @property
    def release(self) -> str:
        """The id of the release in use; empty where there is none yet."""
        held = self._held
        return held.release.id if held else ""

    def open(self) -> Release:
        """Return the release, looked for anew; one that was pinned cannot change.

        Raises:
            InvalidReleaseError: There is no release here, or not the one pinned.
            DigestMismatchError: What is here is not what the pin, or the site, says.
            LimitExceededError: release.json is larger than the limits allow.
            SourceUnavailableError: The place does not answer.
        """
        with self._lock:
            if self._held is None or self.pin is None:
                self._held = self._look()
            return self._held.release

    def scan(self) -> tuple[Found, ...]:
        """Return the packs, sorted by key; errors are those of `open`."""
        self.open()
        held = self._use()
        return tuple(
            Found(
                key,
                f"{self._shown}/{held.folder}{release_path(key)}",
                (skill.digest, skill.descriptor),
                skill.descriptor.files,
                skill.descriptor,
            )
            for key, skill in held.skills.items()
        )

    def manifest(self, key: str) -> bytes:
        """Return the raw SKILL.md."""
        return self.read(key, SKILL_FILE, self._limits.skill_md_bytes)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return the files of the pack with their digests, sorted by path."""
        return self._skill(key).descriptor.files

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, having checked their size and digest.

        Raises:
            DigestMismatchError: They are not those of the release.
            SkillError: As for every source.
        """
        check_path(path, key)
        files = self._skill(key).resources
        found = next((each for each in files if each.path == path), None)
        if found is None:
            raise ReferenceNotFoundError(key, path)
        if found.size > limit_bytes:
            limit = "skill_md_bytes" if path == SKILL_FILE else "file_bytes"
            raise LimitExceededError(limit, limit_bytes, found.size, "bytes", path)
        at = Resource(release_path(key, path), found.digest, found.size)
        return self._checked(at, key, path)

    def read_file(self, file: Resource) -> bytes:
        """Return the bytes of any file of the release, by its path in there, checked.

        Raises:
            SkillError: As for `read`; it names the path.
        """
        held = self._use()
        if file == held.release.document:
            return held.document
        return self._checked(file, self.label, file.path)

    def damage(self) -> Iterator[Finding]:
        """Read every file, and yield an error for each that cannot be used."""
        for file in self._use().release.files:
            try:
                self.read_file(file)
            except SkillError as error:
                place = f"{self._shown}/{self._use().folder}{file.path}"
                fix = "build the release anew, or copy it again"
                yield Finding.of_error(error, place, fix=fix)

    def owner_of(self, key: str) -> str:
        """Return who answers for a skill, as its release says; empty for nobody."""
        held = self._held
        skill = held.skills.get(key) if held else None
        return skill.descriptor.owner if skill else ""

    def close(self) -> None:
        """Nothing is held open."""

    def _use(self) -> _CurrentRelease:
        held = self._held
        if held is not None:
            return held
        with self._lock:
            self._held = self._held or self._look()
            return self._held

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
        except LimitExceededError as error:
            detail = f"it has more than its {file.size:,} bytes"
            raise DigestMismatchError(name, path, detail=detail) from error
        if len(data) != file.size:
            detail = f"it has {len(data):,} bytes, and not {file.size:,}"
            raise DigestMismatchError(name, path, detail=detail)
        digest = digest_bytes(data)
        if digest != file.digest:
            detail = f"its digest is {digest}, and not {file.digest}"
            raise DigestMismatchError(name, path, detail=detail)
        return data

    def _look(self) -> _CurrentRelease:
        if self.pin is not None:
            try:
                return self._release_at(_release_folder(self.pin), self.pin)
            except ReferenceNotFoundError:
                return self._top(self.pin)
        return self._top(None)

    def _top(self, pin: str | None) -> _CurrentRelease:
        """Return what lies at the top: a release, or what a site says is current."""
        where = f"{self._shown}/{RELEASE_FILE}"
        try:
            data = self._document(RELEASE_FILE)
        except ReferenceNotFoundError as error:
            raise InvalidReleaseError(where, "there is no such file") from error
        found = parse_release_file(data, where, self._limits)
        if isinstance(found, Release):
            self._compare(found.id, pin, RELEASE_FILE)
            return self._hold(found, "", data)
        if pin is not None:
            detail = f"the site has no release {pin}; its current one is {found}"
            raise InvalidReleaseError(where, detail)
        try:
            return self._release_at(_release_folder(found), found)
        except ReferenceNotFoundError as error:
            detail = f"the site has no release {found}, which it says is current"
            raise InvalidReleaseError(where, detail) from error

    def _release_at(self, folder: str, expected: str) -> _CurrentRelease:
        held = self._held
        if held and (held.folder, held.release.id) == (folder, expected):
            return held  # what has a digest for a name cannot change
        path = folder + RELEASE_FILE
        data = self._document(path)
        found = parse_release(data, f"{self._shown}/{path}", self._limits)
        self._compare(found.id, expected, path)
        return self._hold(found, folder, data)

    def _document(self, path: str) -> bytes:
        limit = self._limits.release_bytes
        try:
            return self._fetch(path, limit)
        except LimitExceededError as error:
            where = f"{self._shown}/{path}"
            raise LimitExceededError(
                "release_bytes", limit, error.actual, "bytes", where
            ) from error

    def _hold(self, found: Release, folder: str, document: bytes) -> _CurrentRelease:
        held = self._held
        if held and (held.folder, held.release.id) == (folder, found.id):
            return held
        skills = {skill.id: skill for skill in found.skills}
        return _CurrentRelease(found, folder, document, skills)

    def _compare(self, found: str, expected: str | None, path: str) -> None:
        if expected not in (None, found):
            detail = f"it is release {found}, and {expected} is wanted"
            raise DigestMismatchError(self.label, path, detail=detail)


def release_folder(
    path: str | os.PathLike[str],
    *,
    pin: str | None = None,
    label: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ReleaseSource:
    """Make a source of a release, or a site of releases, in a folder.

    Raises:
        InvalidReleaseError: ``pin`` is no id of a release.
    """
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
        fetch, label=name, pin=pin, shown=written, near=True, limits=limits
    )


def is_release(path: str) -> bool:
    """Tell whether a folder is a release, or a site of releases, as far as one sees.

    One whose release.json is damaged still is one: its skills must not be taken for a
    plain folder's, which nobody checks.
    """
    try:
        head = read_confined(path, RELEASE_FILE, DEFAULT_LIMITS.release_bytes)
    except PackFileError:
        return False
    except LimitExceededError:
        head = b""
    if any(
        name.encode() in head[:_FORMAT_HEAD_BYTES] for name in (FORMAT, SITE_FORMAT)
    ):
        return True
    inner = ("skills", "releases")
    return os.path.isdir(f"{path}/.well-known") and any(  # noqa: PTH112
        os.path.isdir(f"{path}/{each}")  # noqa: PTH112
        for each in inner
    )


def _release_folder(release: str) -> str:
    return f"releases/{release.rpartition(':')[2]}/"
