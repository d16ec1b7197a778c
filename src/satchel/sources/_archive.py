"""One pack in an archive: a .skill or .zip, a .tar.gz or .tgz."""

# ruff: noqa: PTH100, PTH119, PTH123 - as for folders: a Path costs start-up time
import os
import threading
from typing import Final, NamedTuple

from satchel.errors import (
    ArchiveError,
    LimitExceededError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import ARCHIVE_SUFFIXES, archive_size_limit, mark_of, open_archive
from satchel.model import DEFAULT_LIMITS, FileStat, Finding, Found, Limits
from satchel.protocols import SourceAbilities
from satchel.sources._memory import MemorySource


class _OpenedArchive(NamedTuple):
    """What was in the archive when its file had this stamp."""

    stamp: tuple[int, ...]
    packs: MemorySource
    finding: Finding | None = None


class ArchiveSource(SourceAbilities):
    """The pack in one archive, taken apart in memory: nothing is written anywhere.

    Its key is the name of the folder in the archive, else that of the file without its
    suffix. The file is opened again when it changed; what cannot be unpacked, or should
    not be, is a finding.
    """

    near = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        label: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Take the file, relative to the working folder of now; open nothing.

        Args:
            path: The archive.
            label: What to call the source; None is ``path`` as it is written.
            limits: Bounds on what is accepted.
        """
        written = os.fspath(path)
        self.label: Final = written if label is None else label
        self._shown: Final = written
        self._path: Final = os.path.abspath(written)
        self._limits = limits
        self._opened: _OpenedArchive | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        """Return what a debugger shows."""
        return f"{type(self).__name__}({self._shown!r}, label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        """Return the pack, then what was met on the way.

        Raises:
            SourceUnavailableError: The file is not there, or cannot be read.
        """
        opened = self._open()
        if opened.finding is not None:
            return (opened.finding,)
        return opened.packs.scan()

    def manifest(self, key: str) -> bytes:
        """Return the raw SKILL.md."""
        return self._open().packs.manifest(key)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return the files of the pack, sorted by path."""
        return self._open().packs.files(key)

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes."""
        opened = self._open()
        if opened.finding is not None:
            raise SkillNotFoundError(key)
        return opened.packs.read(key, path, limit_bytes)

    def close(self) -> None:
        """Let go of what was taken out of the archive."""
        self._opened = None

    def _open(self) -> _OpenedArchive:
        """Return what the archive holds now.

        Raises:
            SourceUnavailableError: As for `scan`.
        """
        try:
            status = os.stat(self._path)  # noqa: PTH116 - see above
            stamp = (*mark_of(status), status.st_size)
            opened = self._opened
            if opened is None or opened.stamp != stamp:
                with self._lock:
                    self._opened = opened = self._read(stamp)
        except OSError as error:
            reason = error.strerror or str(error)
            raise SourceUnavailableError(self.label, reason) from error
        return opened

    def _read(self, stamp: tuple[int, ...]) -> _OpenedArchive:
        try:
            return _OpenedArchive(stamp, self._unpacked())
        except (ArchiveError, LimitExceededError) as error:
            return _OpenedArchive(
                stamp, MemorySource(label=self.label), self._told(error)
            )

    def _unpacked(self) -> MemorySource:
        most = archive_size_limit(self._limits)
        with open(self._path, "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise LimitExceededError("archive_bytes", most, len(data), "bytes")
        pack = open_archive(data, limits=self._limits)
        name = pack.folder or _name_without_suffix(self._path)
        label = self._shown
        return MemorySource({name: pack.files}, label=label, limits=self._limits)

    def _told(self, error: SkillError) -> Finding:
        fix = "make it again, with: satchel pack"
        return Finding.of_error(error, self._shown, fix=fix)


def _name_without_suffix(path: str) -> str:
    name = os.path.basename(path)
    ending = next((end for end in ARCHIVE_SUFFIXES if name.lower().endswith(end)), "")
    return name[: len(name) - len(ending)] or name
