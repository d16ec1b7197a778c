"""What was fetched, kept for a while: in memory, and on disk where that is wanted."""

import contextlib
import os
import re
import threading
from collections import OrderedDict
from typing import Final, Generic, TypeVar

from satchel.files import digest_bytes, write_file

_T = TypeVar("_T")

_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
_CACHE_FILE_NAME: Final = re.compile(r"[0-9a-f]{64}")
_PRUNES_PER_FILL: Final = 16
"""How often a vault is looked through while as many bytes come as it may keep."""


class MemoryCache(Generic[_T]):
    """Values by key, up to a total of bytes; the one not used for longest goes first.

    Safe across threads.
    """

    def __init__(self, most_bytes: int) -> None:
        """Keep nothing yet."""
        self._most = most_bytes
        self._held: OrderedDict[str, tuple[_T, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> _T | None:
        """Return a value, None where it is not kept any more."""
        with self._lock:
            found = self._held.get(key)
            if found is None:
                return None
            self._held.move_to_end(key)
            return found[0]

    def put(self, key: str, value: _T, size: int) -> None:
        """Keep a value of so many bytes; one that is larger than all may be is not."""
        with self._lock:
            self._drop(key)
            if size > self._most:
                return
            self._held[key] = (value, size)
            self._bytes += size
            while self._bytes > self._most:
                self._drop(next(iter(self._held)))

    def _drop(self, key: str) -> None:
        found = self._held.pop(key, None)
        self._bytes -= found[1] if found else 0


class DiskCache:
    """Bytes by digest in a folder; a file that is not what its name says is no file.

    Files are called by their digests alone, so that nothing that looks for a SKILL.md
    finds a pack here. Whatever the system refuses is as if nothing were kept.
    """

    def __init__(self, folder: str | os.PathLike[str], most_bytes: int) -> None:
        """Make nothing yet; ``most_bytes`` is what `prune` leaves."""
        self._folder = os.path.abspath(folder)  # noqa: PTH100 - costs start-up time
        self._most = most_bytes
        self._unlooked = most_bytes  # so that the first look is at once

    def get(self, digest: str, limit_bytes: int) -> bytes | None:
        """Return the bytes of a digest, None where they are not kept."""
        try:
            with open(self._place(digest), "rb") as file:  # noqa: PTH123
                data = file.read(limit_bytes + 1)
        except OSError:
            return None
        whole = len(data) <= limit_bytes and digest_bytes(data) == digest
        return data if whole else None

    def has(self, digest: str) -> bool:
        """Tell whether there is a file for a digest; `get` tells whether it is good."""
        try:
            return os.path.isfile(self._place(digest))  # noqa: PTH113
        except FileNotFoundError:
            return False

    def put(self, digest: str, data: bytes) -> None:
        """Keep bytes, which are those of the digest."""
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)  # noqa: PTH103
            write_file(self._place(digest), data, 0o600)
            self._unlooked += len(data)

    def prune(self) -> None:
        """Remove the oldest files, until no more bytes are kept than may be.

        To look costs more the more is kept, and is left until there is something to it.
        """
        if self._unlooked < self._most // _PRUNES_PER_FILL:
            return
        self._unlooked = 0
        with contextlib.suppress(OSError):
            with os.scandir(self._folder) as entries:
                kept = [
                    (status.st_mtime_ns, entry.path, status.st_size)
                    for entry in entries
                    if _CACHE_FILE_NAME.fullmatch(entry.name)
                    and (status := entry.stat(follow_symlinks=False))
                ]
            total = sum(size for *_, size in kept)
            for _, path, size in sorted(kept):
                if total <= self._most:
                    return
                os.unlink(path)  # noqa: PTH108
                total -= size

    def _place(self, digest: str) -> str:
        found = _DIGEST.fullmatch(digest)
        if found is None:
            raise FileNotFoundError(digest)
        return os.path.join(self._folder, found[1])  # noqa: PTH118
