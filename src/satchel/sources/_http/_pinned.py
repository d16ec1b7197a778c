"""One release on a site: the same bytes every time, or an error."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from satchel.errors import ReferenceNotFoundError, SourceUnavailableError
from satchel.files import ReadLimiter, check_path
from satchel.model import DEFAULT_LIMITS, Limits
from satchel.sources._http._cache import DiskCache, MemoryCache
from satchel.sources._http._client import OK, HttpEnvironment, HttpRequest
from satchel.sources._http._packs import PACKS_BYTES
from satchel.sources._http._source import (
    DISK_CACHE_BYTES,
    open_client,
    parse_site,
    site_label,
)
from satchel.sources._http._urls import Url, parse_url
from satchel.sources._release import ReleaseSource

_GONE: Final = frozenset({404, 410})


class PinnedSource(ReleaseSource):
    """A release of ours on a site: the one of the pin, and no other.

    What was read, and was what the release says, stays in memory up to a bound, and on
    disk where a cache is named. Thread-safe.
    """

    limits_reads: Final = True

    def __init__(  # noqa: PLR0913 - one keyword for each thing that can be said of it
        self,
        url: str,
        *,
        pin: str,
        label: str | None = None,
        allow_private: bool = False,
        hosts: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        cache: str | os.PathLike[str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        environment: HttpEnvironment | None = None,
    ) -> None:
        """Take the site; ask it nothing.

        The arguments are those of `satchel.sources.http`.

        Raises:
            ConfigError: ``url``, ``hosts`` or ``headers`` cannot be used.
            InvalidReleaseError: ``pin`` is no id of a release.
        """
        home, named = parse_site(url, hosts)
        name = site_label(home) if label is None else label
        self._named = named.having(home)
        self._folder = _folder_url(home)
        self._wire = open_client(
            home,
            label=name,
            allow_private=allow_private,
            headers=headers,
            timeout_s=timeout_s,
            environment=environment,
        )
        self._places = ReadLimiter(name, self._wire.around.monotonic)
        self._shelf: MemoryCache[bytes] = MemoryCache(PACKS_BYTES)
        self._vault = None if cache is None else DiskCache(cache, DISK_CACHE_BYTES)
        super().__init__(self._get, label=name, pin=pin, limits=limits)

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes; errors are those of `ReleaseSource.read`."""
        check_path(path, key)
        stat = next((each for each in self.files(key) if each.path == path), None)
        if stat is None or stat.size > limit_bytes:
            return super().read(key, path, limit_bytes)
        kept = self._shelf.get(stat.digest)
        if kept is None and self._vault:
            kept = self._vault.get(stat.digest, stat.size)
        if kept is None:
            with self._places.hold():
                data = super().read(key, path, limit_bytes)
        else:
            data = kept
        self._shelf.put(stat.digest, data, len(data))
        if kept is None and self._vault:
            self._vault.put(stat.digest, data)
            self._vault.prune()
        return data

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._wire.close()

    def _get(self, path: str, limit_bytes: int) -> bytes:
        url = parse_url(quote(path), self._folder)
        wanted = HttpRequest(url, "file_bytes", limit_bytes, self._named)
        answer = self._wire.get(wanted)
        if answer.status in _GONE:
            raise ReferenceNotFoundError(self.label, path)
        if answer.status != OK:
            detail = f"{url}: the server answers {answer.status}"
            raise SourceUnavailableError(self.label, detail)
        return answer.body


def _folder_url(home: Url) -> Url:
    """Return the folder that paths are relative to."""
    path = home.path
    if path.endswith(".json"):
        path = path.rpartition("/")[0]
    return replace(home, path=f"{path.rstrip('/')}/", query="")
