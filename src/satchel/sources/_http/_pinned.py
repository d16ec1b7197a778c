"""One release on a site: the same bytes every time, or an error."""

import os
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from satchel.errors import ReferenceNotFoundError, SourceUnavailableError
from satchel.files import LruCache, ReadLimiter, check_path
from satchel.model import DEFAULT_LIMITS, Limits
from satchel.sources._http._cache import DiskCache
from satchel.sources._http._client import OK, HttpClient, HttpRequest
from satchel.sources._http._packs import CACHED_PACKS_BYTES
from satchel.sources._http._source import DISK_CACHE_BYTES
from satchel.sources._http._urls import Url, parse_url
from satchel.sources._release import ReleaseSource

_GONE: Final = frozenset({404, 410})


class PinnedSource(ReleaseSource):
    """The release of the pin, on a site of `satchel publish`, and no other.

    Files that were read and verified stay in memory up to a limit, and on disk if a
    cache is given. Thread-safe.
    """

    limits_reads = True

    def __init__(
        self,
        client: HttpClient,
        *,
        pin: str,
        cache: str | os.PathLike[str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Ask the site nothing yet; the client is closed with the source."""
        self._client = client
        self._folder = _folder_url(client.home)
        self._hosts = client.hosts.including(client.home)
        self._limiter = ReadLimiter(client.label, client.environment.monotonic)
        self._memory: LruCache[str, bytes] = LruCache(CACHED_PACKS_BYTES)
        self._disk = None if cache is None else DiskCache(cache, DISK_CACHE_BYTES)
        super().__init__(self._get, label=client.label, pin=pin, limits=limits)

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes; see `ReleaseSource.read`."""
        check_path(path, key)
        stat = next((file for file in self.files(key) if file.path == path), None)
        # The base class has the errors for both.
        if stat is None or stat.size > limit_bytes:
            return super().read(key, path, limit_bytes)
        data = self._memory.find(stat.digest)
        if data is None and self._disk:
            # The cache compares the digest, so a changed file on disk is fetched again.
            data = self._disk.get(stat.digest, stat.size)
        if data is None:
            # Only a request takes a place among the concurrent reads; a cache hit does
            # not wait.
            with self._limiter.hold():
                data = super().read(key, path, limit_bytes)
            if self._disk:
                self._disk.put(stat.digest, data)
                self._disk.prune()
        self._memory.put(stat.digest, data, len(data))
        return data

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._client.close()

    def _get(self, path: str, limit_bytes: int) -> bytes:
        url = parse_url(quote(path), self._folder)
        request = HttpRequest(url, "file_bytes", limit_bytes, self._hosts)
        answer = self._client.get(request)
        if answer.status in _GONE:
            raise ReferenceNotFoundError(self.label, path)
        if answer.status != OK:
            detail = f"{url}: the server answers {answer.status}"
            raise SourceUnavailableError(self.label, detail)
        return answer.body


def _folder_url(home: Url) -> Url:
    """Return the folder that paths are relative to."""
    path = home.path.rpartition("/")[0] if home.path.endswith(".json") else home.path
    return replace(home, path=f"{path.rstrip('/')}/", query="")
