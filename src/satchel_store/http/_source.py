"""The skills of a site as a source: those of its index, or of one release."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from satchel.errors import (
    LimitExceededError,
    ReferenceNotFoundError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import (
    LruCache,
    ReadLimiter,
    check_path,
    check_read_size,
    locate_findings,
)
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.protocols import SourceAbilities
from satchel_store.http._cache import DiskCache
from satchel_store.http._client import OK, HttpClient, HttpRequest
from satchel_store.http._packs import (
    CACHED_PACKS_BYTES,
    FetchedPack,
    FetchResult,
    IndexedSkill,
    PackStore,
)
from satchel_store.http._urls import Url, parse_url
from satchel_store.release import (
    INDEX_V1,
    INDEX_V2,
    DiscoveryIndex,
    IndexEntry,
    NotAnIndexError,
    ReleaseSource,
    parse_index,
)

# Artifacts that cannot be used and get a finding each; more are only counted.
MAX_FAILURE_FINDINGS: Final = 100
# Indexes that one scan reads after the first, while what they name is not there.
MORE_INDEXES: Final = 3
DISK_CACHE_BYTES: Final = 512 * 1024 * 1024
_GONE: Final = frozenset({404, 410})
_FAILURE_FIX: Final = "sync again later; if it stays, tell the publisher"


@dataclass(frozen=True, slots=True)
class _FetchedIndex:
    """An index as it was found; ``answered`` is its URL after redirects."""

    requested: Url
    answered: Url
    etag: str
    index: DiscoveryIndex


class HttpSource(SourceAbilities):
    """Skills by the index of any publisher; keys are their names.

    An artifact is fetched at the first scan that sees its digest, and not again. Reads
    are answered from memory, from the cache on disk, or by fetching again, and compared
    with the announced digest each time. Thread-safe.
    """

    limits_reads = True
    finds_one = True

    def __init__(
        self,
        client: HttpClient,
        *,
        cache: str | os.PathLike[str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Ask the site nothing yet; the client is closed with the source."""
        self.label: Final = client.label
        self._client = client
        self._index_urls = _index_urls(client.home)
        self._limits = limits
        self._disk = None if cache is None else DiskCache(cache, DISK_CACHE_BYTES)
        self._store = PackStore(client, self._disk, limits)
        self._lock = threading.Lock()
        # A lock of its own: a scan holds the other one while it waits for the site.
        self._packs_lock = threading.Lock()
        self._index: _FetchedIndex | None = None
        self._packs: Mapping[str, FetchedPack] | None = None
        self._failed: frozenset[str] = frozenset()
        self._complete = False

    def __repr__(self) -> str:
        home = str(self._client.home)
        return f"{type(self).__name__}({home!r}, label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        with self._lock:
            index = self._fetch_index(self._deadline())
            packs, findings = self._use(index)
            for _ in range(MORE_INDEXES):
                # Of several servers one may have had the next release already.
                newer = self._fetch_index(self._deadline()) if self._failed else index
                if newer.index.entries == index.index.entries:
                    break
                index = newer
                packs, findings = self._use(index)
            if self._disk:
                self._disk.prune()
        return (*(self._found(name, pack) for name, pack in packs.items()), *findings)

    def _use(
        self, index: _FetchedIndex
    ) -> tuple[dict[str, FetchedPack], list[Finding]]:
        """Take an index into use, with what can be fetched of it."""
        packs, findings = self._fetch_packs(index)
        with self._packs_lock:
            self._index, self._packs = index, MappingProxyType(packs)
        return packs, findings

    def scan_one(self, key: str, location: str) -> Found:
        """Return one pack; its files are fetched again if no digest is announced."""
        del location
        pack = self._pack(key)
        if pack.entry.type == "files":
            pack = self._store.fetch(pack.listed, pack, self._deadline())
            # A scan that ends at this moment must not lose what it found.
            with self._packs_lock:
                self._packs = MappingProxyType({**(self._packs or {}), key: pack})
        return self._found(key, pack)

    @property
    def progress(self) -> int:
        """How many packs came so far; the registry waits while this number grows."""
        return self._store.fetched

    def manifest(self, key: str) -> bytes:
        return self._read(self._pack(key), SKILL_FILE, self._limits.skill_md_bytes)

    def files(self, key: str) -> tuple[FileStat, ...]:
        return self._pack(key).files

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, verified by their digest."""
        check_path(path, key)
        return self._read(self._pack(key), path, limit_bytes)

    def local_skill_md(self, key: str, limit_bytes: int) -> bytes | None:
        """Return a SKILL.md if it is in memory; None if it would be fetched."""
        del limit_bytes
        pack = (self._packs or {}).get(key)
        return self._store.cached_skill_md(pack) if pack is not None else None

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._client.close()

    def _found(self, name: str, pack: FetchedPack) -> Found:
        stamp = pack.digest, pack.entry.type
        return Found(name, f"{self.label}/{name}", stamp, pack.files)

    def _deadline(self) -> float:
        return self._client.environment.monotonic() + self._store.scan_s

    def _read(self, pack: FetchedPack, path: str, limit_bytes: int) -> bytes:
        stat = next((file for file in pack.files if file.path == path), None)
        if stat is None:
            raise ReferenceNotFoundError(pack.entry.name, path)
        check_read_size(path, stat.size, limit_bytes)
        return self._store.read(pack, path)

    def _pack(self, key: str) -> FetchedPack:
        if self._packs is None:
            self.scan()
        try:
            return (self._packs or {})[key]
        except KeyError:
            raise SkillNotFoundError(key) from None

    def _fetch_index(self, until: float) -> _FetchedIndex:
        """Return the current index; the URL that had it last is asked first."""
        last = self._index
        urls = self._index_urls
        if last is not None:
            # A site answers for the same place again, so the others cost no request.
            urls = (last.requested, *(url for url in urls if url != last.requested))
        reasons: list[str] = []
        unknown: _FetchedIndex | None = None
        for url in urls:
            before = last if last is not None and last.requested == url else None
            result = self._fetch_index_at(url, before, until)
            if isinstance(result, str):
                reasons.append(f"{url}: {result}")
            # A later format may be served next to an older one that can be read.
            elif result.index.is_known:
                return result
            else:
                unknown = unknown or result
        if unknown is not None:
            return unknown
        detail = f"there is no index of skills ({'; '.join(reasons)})"
        raise SourceUnavailableError(self.label, detail)

    def _fetch_index_at(
        self, url: Url, before: _FetchedIndex | None, until: float
    ) -> _FetchedIndex | str:
        """Return the index at a URL, or why there is none."""
        # No `hosts`: an index may redirect anywhere, and its files may be where it is.
        most, etag = self._limits.index_bytes, before.etag if before else ""
        request = HttpRequest(url, "index_bytes", most, etag=etag, until=until)
        answer = self._client.get(request)
        if answer.unchanged and before is not None:
            return before
        if answer.status != OK:
            return f"the server answers {answer.status}"
        if answer.encoding_problem:
            return answer.encoding_problem
        try:
            index = parse_index(answer.body, str(answer.url), self._limits)
        except NotAnIndexError as error:
            return str(error)
        return _FetchedIndex(url, answer.url, answer.etag, index)

    def _fetch_packs(
        self, fetched: _FetchedIndex
    ) -> tuple[dict[str, FetchedPack], list[Finding]]:
        """Fetch what is new; unchanged packs cause no request."""
        entries = fetched.index.entries
        hosts = self._client.hosts.including(
            self._client.home, fetched.requested, fetched.answered
        )
        # The first scan goes on while packs come. Later ones have a share of the
        # time-out, and ask last for what failed, so that it does not delay the rest.
        in_order = sorted(entries, key=lambda entry: entry.name in self._failed)
        skills = [IndexedSkill(entry, fetched.answered, hosts) for entry in in_order]
        results = self._store.fetch_all(
            skills, self._packs or {}, extend=not self._complete
        )
        errors = {
            entry.name: result
            for entry, result in results.items()
            if isinstance(result, SkillError)
        }
        missing = sum(result is None for result in results.values())
        away = all(isinstance(e, SourceUnavailableError) for e in errors.values())
        # An empty catalog would say that the site has no skills.
        if errors and away and len(errors) + missing == len(results):
            raise next(iter(errors.values()))
        if missing and missing == len(results) and not self._packs:
            raise SourceUnavailableError(self.label, "no skill came in time")
        self._failed, self._complete = frozenset(errors), not missing
        findings = list(fetched.index.findings)
        if not fetched.index.has_digests:
            findings.append(Finding.of("no-digest", str(fetched.answered)))
        packs, pack_findings = self._usable_packs(fetched.index, results)
        findings += pack_findings
        if missing:
            part = "partial-listing", self.label
            findings.append(Finding.of(*part, missing=missing, total=len(results)))
        return packs, findings

    def _usable_packs(
        self, index: DiscoveryIndex, results: Mapping[IndexEntry, FetchResult]
    ) -> tuple[dict[str, FetchedPack], list[Finding]]:
        """Return the packs; for one that failed, the last good one."""
        packs: dict[str, FetchedPack] = {}
        findings: list[Finding] = []
        files = failures = 0
        for entry in index.entries:
            where = f"{self.label}/{entry.name}"
            result = results[entry]
            last = (self._packs or {}).get(entry.name)
            pack = result if isinstance(result, FetchedPack) else last
            if isinstance(result, SkillError):
                failures += 1
                if pack:
                    finding = Finding.of("stale-skill", where, error=result)
                else:
                    finding = Finding.of_error(result, where, fix=_FAILURE_FIX)
                findings += [finding] if failures <= MAX_FAILURE_FINDINGS else []
            if pack is None:
                continue
            # The limit of a scan is on files, because each costs the catalog an entry.
            files += len(pack.files)
            if files > self._limits.scan_entries:
                most = self._limits.scan_entries
                error = LimitExceededError("scan_entries", most, files, "files")
                fix = "publish several indexes, or raise the limit that is named"
                findings.append(Finding.of_error(error, self.label, fix=fix))
                break
            packs[entry.name] = pack
            if isinstance(result, FetchedPack):
                findings += locate_findings(result.findings, where)
        more = failures - MAX_FAILURE_FINDINGS
        if more > 0:
            rest = Finding.of("index-entry", self.label, sentence="failed", count=more)
            findings.append(rest)
        return packs, findings


def _index_urls(home: Url) -> tuple[Url, ...]:
    """Return where an index may be: under the path, then at the root; newest first."""
    if home.path.endswith(".json"):
        return (home,)
    path = home.path.rstrip("/")
    urls = [
        home.with_path(f"{start}/{index}")
        for index in (INDEX_V2, INDEX_V1)
        for start in (path, "")
    ]
    return tuple(dict.fromkeys(urls))


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
