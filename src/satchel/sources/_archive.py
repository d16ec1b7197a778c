"""One pack in an archive: a .skill or .zip, a .tar.gz or .tgz."""

# ruff: noqa: PTH100, PTH119, PTH123 - as for folders: a Path costs start-up time
import os
import threading
from typing import Final, NamedTuple

from satchel.errors import (
    ArchiveError,
    LimitExceededError,
    SourceUnavailableError,
)
from satchel.files import ARCHIVE_SUFFIXES, archive_size_limit, mark_of, open_archive
from satchel.model import DEFAULT_LIMITS, FileStat, Finding, Found, Limits
from satchel.protocols import SourceAbilities
from satchel.sources._memory import MemorySource


class _OpenedArchive(NamedTuple):
    """What the archive had in it when its file had this stamp."""

    stamp: tuple[int, ...]
    packs: MemorySource
    finding: Finding | None = None


class ArchiveSource(SourceAbilities):
    """The pack in one archive, unpacked in memory: nothing is written to a disk.

    Its key is the name of the folder in the archive, or that of the file without its
    suffix.
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
        """Return the pack, then its findings."""
        opened = self._open()
        if opened.finding is not None:
            return (opened.finding,)
        return opened.packs.scan()

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
        except OSError as error:
            reason = error.strerror or str(error)
            raise SourceUnavailableError(self.label, reason) from error
        return opened

    def _read(self, stamp: tuple[int, ...]) -> _OpenedArchive:
        try:
            return _OpenedArchive(stamp, self._unpacked())
        # Of something that must not be unpacked nothing is used.
        except (ArchiveError, LimitExceededError) as error:
            fix = "make it again, with: satchel pack"
            finding = Finding.of_error(error, self._shown, fix=fix)
            return _OpenedArchive(stamp, MemorySource(label=self.label), finding)

    def _unpacked(self) -> MemorySource:
        most = archive_size_limit(self._limits)
        with open(self._path, "rb") as file:
            # One byte more shows that it is too large, without reading all of it.
            data = file.read(most + 1)
        if len(data) > most:
            raise LimitExceededError("archive_bytes", most, len(data), "bytes")
        pack = open_archive(data, limits=self._limits)
        name = pack.folder or _name_without_suffix(self._path)
        label = self._shown
        return MemorySource({name: pack.files}, label=label, limits=self._limits)


def _name_without_suffix(path: str) -> str:
    name = os.path.basename(path)
    lower = name.lower()
    suffix = next((end for end in ARCHIVE_SUFFIXES if lower.endswith(end)), "")
    return name[: len(name) - len(suffix)] or name
