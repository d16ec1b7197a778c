"""Fetched bytes on disk, by their digests."""

import contextlib
import os
import re
from typing import Final

from satchel.files import digest_bytes, write_file

_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
_CACHE_FILE_NAME: Final = re.compile(r"[0-9a-f]{64}")
# How often the folder is listed while as many bytes are added as it may have.
_PRUNES_PER_FILL: Final = 16


class DiskCache:
    """Bytes by digest in a folder; a file with other bytes than its name says is none.

    If the system refuses a read or a write, the cache is as if it were empty.
    """

    def __init__(self, folder: str | os.PathLike[str], most_bytes: int) -> None:
        self._folder = os.path.abspath(folder)  # noqa: PTH100 - costs start-up time
        self._most = most_bytes
        self._added = most_bytes  # so that the first call of `prune` lists the folder

    def get(self, digest: str, limit_bytes: int) -> bytes | None:
        """Return the bytes of a digest, or None."""
        try:
            with open(self._path(digest), "rb") as file:  # noqa: PTH123
                # One byte too many shows that the file is not the one expected.
                data = file.read(limit_bytes + 1)
        except OSError:
            return None
        # Another program may have changed the file, or the disk may have failed.
        whole = len(data) <= limit_bytes and digest_bytes(data) == digest
        return data if whole else None

    def has(self, digest: str) -> bool:
        """Return whether there is a file for a digest; only `get` checks its bytes."""
        try:
            return os.path.isfile(self._path(digest))  # noqa: PTH113
        except FileNotFoundError:
            return False

    def put(self, digest: str, data: bytes) -> None:
        """Store bytes, which must be those of the digest."""
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)  # noqa: PTH103
            write_file(self._path(digest), data, 0o600)
            self._added += len(data)

    def prune(self) -> None:
        """Remove the oldest files until the rest is small enough."""
        # Listing a large folder takes time, so most calls do nothing.
        if self._added < self._most // _PRUNES_PER_FILL:
            return
        self._added = 0
        with contextlib.suppress(OSError):
            with os.scandir(self._folder) as entries:
                files = [
                    (status.st_mtime_ns, entry.path, status.st_size)
                    for entry in entries
                    if _CACHE_FILE_NAME.fullmatch(entry.name)
                    and (status := entry.stat(follow_symlinks=False))
                ]
            total = sum(size for *_, size in files)
            # By time of writing: the oldest entries go first.
            for _, path, size in sorted(files):
                if total <= self._most:
                    return
                os.unlink(path)  # noqa: PTH108
                total -= size

    def _path(self, digest: str) -> str:
        match = _DIGEST.fullmatch(digest)
        if match is None:
            raise FileNotFoundError(digest)
        # The digest alone, so that a search for SKILL.md finds no pack here.
        return os.path.join(self._folder, match[1])  # noqa: PTH118
