"""The skills that a site publishes in an index, as a source."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from satchel.errors import (
    ConfigError,
    LimitExceededError,
    ReferenceNotFoundError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import check_path
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.sources import _findings
from satchel.sources._http import _index as index_findings
from satchel.sources._http._cache import DiskCache
from satchel.sources._http._client import OK, HttpClient, HttpEnvironment, HttpRequest
from satchel.sources._http._index import (
    NotAnIndexError,
    RemoteIndexEntry,
    SkillIndex,
    parse_index,
)
from satchel.sources._http._packs import FetchedPack, IndexLocation, PackStore
from satchel.sources._http._urls import AllowedHosts, Url, parse_url

SCAN_SHARE: Final = 0.8
"""How much of the time-out one scan may take: the registry, whose own deadline is the
same 30 seconds, then still gets what came in time."""
ARTIFACT_SHARE: Final = 0.5
"""How much of that one artifact may take, so that a few that hang leave some for the
rest."""
MAX_FAILURE_FINDINGS: Final = 100
"""Artifacts that cannot be used and are told of one by one."""
MAX_PARALLEL: Final = 6
"""Artifacts that are fetched at a time; what browsers do to one host."""
DISK_CACHE_BYTES: Final = 512 * 1024 * 1024

_FOLDERS: Final = (".well-known/agent-skills", ".well-known/skills")


@dataclass(frozen=True, slots=True)
class _FetchedIndex:
    """An index as it was found: asked for at one URL, answered by another perhaps."""

    asked: Url
    answered: Url
    etag: str
    index: SkillIndex


class HttpSource:
    """Skills by an index that any publisher may have written; keys are their names.

    What an index announces is fetched at the first scan that sees its digest, and not
    again: only the bytes tell which tools a skill asks for, whether a model may load
    it, and which files it has. Of each pack the files are announced with digests, so
    that nothing is read before somebody loads it; reads are answered from memory, from
    the cache on disk, or by fetching once more, and compared with the digest each time.

    An artifact that cannot be had, or is not what was announced, costs its skill alone;
    where an earlier one was good, that one stays, and a finding says so. Thread-safe.
    """

    limits_reads: Final = True

    def __init__(  # noqa: PLR0913 - one keyword for each thing that can be said of it
        self,
        url: str,
        *,
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

        The arguments are those of `satchel.sources.http`; ``surroundings`` is the
        machine.

        Raises:
            ConfigError: ``url``, ``hosts`` or ``headers`` cannot be used.
        """
        home, named = parse_site(url, hosts)
        self.label: Final = site_label(home) if label is None else label
        self._home = home
        self._named = named
        self._candidates = _index_urls(home)
        self._timeout_s = timeout_s
        self._limits = limits
        self._wire = open_client(
            home,
            label=self.label,
            allow_private=allow_private,
            headers=headers,
            timeout_s=timeout_s,
            environment=environment,
        )
        self._vault = None if cache is None else DiskCache(cache, DISK_CACHE_BYTES)
        self._store = PackStore(
            self._wire, self._vault, label=self.label, limits=limits
        )
        self._lock = threading.Lock()
        self._seen: _FetchedIndex | None = None
        self._packs: Mapping[str, FetchedPack] | None = None
        self._failed: frozenset[str] = frozenset()
        self._whole = False

    def __repr__(self) -> str:
        """Return what a debugger shows."""
        return f"{type(self).__name__}({str(self._home)!r}, label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        """Return the packs, sorted by key, then what is wrong with the index or some.

        Raises:
            SourceUnavailableError: There is no index to be had, or nothing of what it
                lists.
            LimitExceededError: The index is too large.
        """
        with self._lock:
            seen = self._look(self._wire.around.monotonic() + self._share_s)
            packs, findings = self._gather(seen)
            self._seen, self._packs = seen, MappingProxyType(packs)
            if self._vault:
                self._vault.prune()
        return (*(self._found(name, pack) for name, pack in packs.items()), *findings)

    def scan_one(self, key: str, location: str) -> Found:
        """Return one pack; its files are asked for again where no digest binds them.

        Raises:
            SkillNotFoundError, SourceUnavailableError: As for `manifest`.
        """
        del location
        pack = self._pack(key)
        if pack.entry.kind == "files":
            until = self._wire.around.monotonic() + self._share_s
            pack = self._store.fetch(pack.entry, pack.place, pack, until)
            self._packs = MappingProxyType({**(self._packs or {}), key: pack})
        return self._found(key, pack)

    def _found(self, name: str, pack: FetchedPack) -> Found:
        stamp = pack.digest, pack.entry.kind
        return Found(name, self._where(name), stamp, pack.files)

    @property
    def progress(self) -> int:
        """How many artifacts came so far: another number while the site gets on."""
        return self._store.came

    def manifest(self, key: str) -> bytes:
        """Return the raw SKILL.md."""
        return self._read(self._pack(key), SKILL_FILE, self._limits.skill_md_bytes)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return the files of the pack with their digests, sorted by path."""
        return self._pack(key).files

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, having compared their digest.

        Raises:
            ChangedSinceSyncError: An index of v0.1.0 leads to other bytes by now.
            SkillError: As for every source.
        """
        check_path(path, key)
        return self._read(self._pack(key), path, limit_bytes)

    def at_hand(self, key: str) -> bytes | None:
        """Return a SKILL.md that is in memory; None where it would be fetched."""
        pack = (self._packs or {}).get(key)
        return self._store.held(pack) if pack is not None else None

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._wire.close()

    def _read(self, pack: FetchedPack, path: str, limit_bytes: int) -> bytes:
        found = next((each for each in pack.files if each.path == path), None)
        if found is None:
            raise ReferenceNotFoundError(pack.entry.name, path)
        if found.size > limit_bytes:
            limit = "skill_md_bytes" if path == SKILL_FILE else "file_bytes"
            raise LimitExceededError(limit, limit_bytes, found.size, "bytes", path)
        return self._store.read(pack, path)

    def _pack(self, key: str) -> FetchedPack:
        if self._packs is None:
            self.scan()
        try:
            return (self._packs or {})[key]
        except KeyError:
            raise SkillNotFoundError(key) from None

    @property
    def _share_s(self) -> float:
        return SCAN_SHARE * self._timeout_s

    def _over(self, files: int) -> str:
        most = self._limits.scan_entries
        return str(LimitExceededError("scan_entries", most, files, "files"))

    def _where(self, name: str) -> str:
        return f"{self.label}/{name}"

    def _look(self, until: float) -> _FetchedIndex:
        """Return the index that is there now; the one that answered last is first."""
        last = self._seen
        order = self._candidates
        if last is not None:
            order = (last.asked, *(url for url in order if url != last.asked))
        reasons: list[str] = []
        unknown: _FetchedIndex | None = None
        for url in order:
            known = last if last is not None and last.asked == url else None
            found = self._index_at(url, known, until)
            if isinstance(found, str):
                reasons.append(f"{url}: {found}")
            elif found.index.known:
                return found
            else:
                unknown = unknown or found
        if unknown is not None:
            return unknown
        detail = f"there is no index of skills ({'; '.join(reasons)})"
        raise SourceUnavailableError(self.label, detail)

    def _index_at(
        self, url: Url, known: _FetchedIndex | None, until: float
    ) -> _FetchedIndex | str:
        """Return the index at a URL, or why there is none."""
        wanted = HttpRequest(
            url,
            "index_bytes",
            self._limits.index_bytes,
            etag=known.etag if known else "",
            until=until,
        )
        answer = self._wire.get(wanted)
        if answer.unchanged and known is not None:
            return known
        if answer.status != OK:
            return f"the server answers {answer.status}"
        if answer.packed:
            return answer.packed
        try:
            index = parse_index(answer.body, str(answer.url), self._limits)
        except NotAnIndexError as error:
            return str(error)
        return _FetchedIndex(url, answer.url, answer.etag, index)

    def _gather(
        self, seen: _FetchedIndex
    ) -> tuple[dict[str, FetchedPack], list[Finding]]:
        """Fetch what is new; what is as it was is not asked for.

        The first time goes on for as long as something comes. Later ones have a share
        of the time-out: what is missing is fetched by the next, and what failed is
        asked for last, so that it keeps nothing else from coming.
        """
        index = seen.index
        hosts = self._named.having(self._home, seen.asked, seen.answered)
        gathering = _PackFetch(
            self._store,
            IndexLocation(seen.answered, hosts),
            self._packs or {},
            self._wire.around.monotonic,
            self._share_s,
            moving=not self._whole,
        )
        order = sorted(index.entries, key=lambda entry: entry.name in self._failed)
        results = dict(zip(order, _fetch_all(gathering.fetch, order), strict=True))
        failed = {e.name: r for e, r in results.items() if isinstance(r, SkillError)}
        missing = sum(result is None for result in results.values())
        away = all(isinstance(each, SourceUnavailableError) for each in failed.values())
        if failed and away and len(failed) + missing == len(results):
            raise next(iter(failed.values()))
        if missing and missing == len(results) and not self._packs:
            raise SourceUnavailableError(self.label, "no skill came in time")
        self._failed, self._whole = frozenset(failed), not missing
        packs, findings = self._taken(index, results, failed)
        if not index.has_digests:
            findings.insert(
                len(index.findings),
                index_findings.no_digests_finding(str(seen.answered)),
            )
        if missing:
            findings.append(
                index_findings.partial_finding(self.label, missing, len(results))
            )
        return packs, findings

    def _taken(
        self,
        index: SkillIndex,
        results: Mapping[RemoteIndexEntry, FetchedPack | SkillError | None],
        failed: Mapping[str, SkillError],
    ) -> tuple[dict[str, FetchedPack], list[Finding]]:
        """Return the packs, with the last good one where a newer cannot be had."""
        held = self._packs or {}
        packs: dict[str, FetchedPack] = {}
        findings = list(index.findings)
        files = told = 0
        for entry in index.entries:
            where = self._where(entry.name)
            result = results[entry]
            pack = result if isinstance(result, FetchedPack) else held.get(entry.name)
            error = failed.get(entry.name)
            if error is not None and told < MAX_FAILURE_FINDINGS:
                told += 1
                wrong = (
                    index_findings.stale_finding
                    if pack
                    else index_findings.not_fetched_finding
                )
                findings.append(wrong(where, error))
            if pack is None:
                continue
            files += len(pack.files)
            if files > self._limits.scan_entries:
                findings.append(
                    index_findings.too_many_finding(self.label, self._over(files))
                )
                break
            packs[entry.name] = pack
            if isinstance(result, FetchedPack):
                findings += _findings.placed(result.findings, where)
        if len(failed) > told:
            findings.append(
                index_findings.more_failed_finding(self.label, len(failed) - told)
            )
        return packs, findings


@dataclass(frozen=True, slots=True)
class _PackFetch:
    """One sync's fetching: from where, what is held already, and when to stop.

    Where it is ``moving`` it stops ``share_s`` seconds after the last artifact came,
    else as long after its beginning.
    """

    store: PackStore
    place: IndexLocation
    held: Mapping[str, FetchedPack]
    monotonic: Callable[[], float]
    share_s: float
    moving: bool
    moved_at: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        """Begin now."""
        self.moved_at.append(self.monotonic())

    def fetch(self, entry: RemoteIndexEntry) -> FetchedPack | SkillError | None:
        """Return a pack, why it cannot be had, or None where there is no time left."""
        last = self.held.get(entry.name)
        same = last and (last.entry.digest, last.entry.kind)
        if last and entry.digest and same == (entry.digest, entry.kind):
            return replace(last, entry=entry, place=self.place)
        now = self.monotonic()
        end = self.moved_at[0] + self.share_s
        if now >= end and not self.store.is_kept(entry):
            return None
        until = min(end, now + ARTIFACT_SHARE * self.share_s)
        try:
            pack = self.store.fetch(entry, self.place, last, until)
        except SkillError as error:
            return error
        if self.moving:
            self.moved_at[0] = self.monotonic()
        return pack


def parse_site(url: str, hosts: Sequence[str] = ()) -> tuple[Url, AllowedHosts]:
    """Return what the user named.

    Raises:
        ConfigError: It cannot be used; a password in it is not repeated.
    """
    try:
        home = parse_url(url)
        if "#" in url:
            raise ConfigError("sources.http", "url: a pin is handed over as pin=")
        if home.query and not home.path.endswith(".json"):
            raise ConfigError("sources.http", "url: only that of an index has a query")
        return home, AllowedHosts.of(tuple(hosts))
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError("sources.http", str(error)) from None


def site_label(home: Url) -> str:
    """Return what to call a site; nothing that may be a key is in it."""
    return str(home).rstrip("/")


def open_client(  # noqa: PLR0913 - one keyword for each thing that can be said of it
    home: Url,
    *,
    label: str,
    allow_private: bool,
    headers: Mapping[str, str] | None,
    timeout_s: float,
    environment: HttpEnvironment | None,
) -> HttpClient:
    """Return what fetches from a site.

    Raises:
        ConfigError: A header cannot be sent.
    """
    try:
        return HttpClient(
            label=label,
            home=home,
            allow_private=allow_private,
            headers=headers or {},
            timeout_s=timeout_s,
            environment=environment,
        )
    except ValueError as error:
        raise ConfigError("sources.http", str(error)) from None


def _index_urls(home: Url) -> tuple[Url, ...]:
    """Return where an index may be: under the path, then at the root; newest first."""
    if home.path.endswith(".json"):
        return (home,)
    path = home.path.rstrip("/")
    found = [
        home.beside(f"{start}/{folder}/index.json")
        for folder in _FOLDERS
        for start in (path, "")
    ]
    return tuple(dict.fromkeys(found))


def _fetch_all(
    fetch: Callable[[RemoteIndexEntry], FetchedPack | SkillError | None],
    entries: Iterable[RemoteIndexEntry],
) -> Iterator[FetchedPack | SkillError | None]:
    """Fetch artifacts, some at a time; results in the order of the entries."""
    with ThreadPoolExecutor(MAX_PARALLEL, thread_name_prefix="satchel http") as threads:
        yield from threads.map(fetch, entries)
