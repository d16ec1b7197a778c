"""From the entries of an index to packs: fetched once, verified, unpacked."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import quote

from satchel.errors import (
    ChangedSinceSyncError,
    DigestMismatchError,
    SkillError,
    SourceUnavailableError,
)
from satchel.files import (
    Listing,
    LruCache,
    ReadLimiter,
    digest_bytes,
    escape_name,
    tree_digest,
)
from satchel.model import SKILL_FILE, FileStat, Finding, Limits, Resource
from satchel_store.archives import ArchiveTree, archive_size_limit, unpack
from satchel_store.http._cache import DiskCache
from satchel_store.http._client import OK, HttpClient, HttpRequest
from satchel_store.http._urls import AllowedHosts, Url, parse_url
from satchel_store.release import DIGEST_HEADER, IndexEntry

CACHED_PACKS_BYTES: Final = 64 * 1024 * 1024
# Bytes of packs, and of SKILL.md files, that stay in memory. The two are separate
# because each sync reads every SKILL.md again, and large archives would evict them.
CACHED_SKILL_MD_BYTES: Final = 32 * 1024 * 1024
# How much of the time-out one scan may take: the registry, whose own deadline is the
# same 30 seconds, then still gets what came in time.
SCAN_SHARE: Final = 0.8
# How much of that one artifact may take, so that a few that hang leave some for the
# rest.
ARTIFACT_SHARE: Final = 0.5
# Artifacts that are fetched at a time, as many as browsers ask one host for.
MAX_PARALLEL: Final = 6


@dataclass(frozen=True, slots=True)
class IndexedSkill:
    """A skill as an index lists it, where that is, and which hosts it may lead to."""

    entry: IndexEntry
    index: Url
    hosts: AllowedHosts


@dataclass(frozen=True, slots=True)
class FetchedPack:
    """One skill as it was fetched; ``digest`` is the artifact's, or that of all files.

    ``etags`` are those of files that are fetched one by one.
    """

    listed: IndexedSkill
    digest: str
    files: tuple[FileStat, ...]
    findings: tuple[Finding, ...] = ()
    etags: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, repr=False
    )

    @property
    def entry(self) -> IndexEntry:
        return self.listed.entry

    @property
    def cache_key(self) -> str:
        """The type too: the same bytes have other files as an archive."""
        return f"{self.entry.type} {self.digest}"


# A pack, or why there is none; None if the time was over before it was asked for.
FetchResult: TypeAlias = FetchedPack | SkillError | None


class PackStore:
    """Fetches packs, and caches the bytes of some. Safe across threads."""

    def __init__(
        self, client: HttpClient, disk: DiskCache | None, limits: Limits
    ) -> None:
        self._client = client
        self._disk = disk
        self._limits = limits
        self.fetched = 0
        """How many packs came so far, from the site or from the disk."""
        self._monotonic = client.environment.monotonic
        self._limiter = ReadLimiter(client.label, self._monotonic)
        self._packs: LruCache[str, Mapping[str, bytes]] = LruCache(CACHED_PACKS_BYTES)
        self._skill_mds: LruCache[str, bytes] = LruCache(CACHED_SKILL_MD_BYTES)

    @property
    def scan_s(self) -> float:
        """How long one scan may take, in seconds."""
        return SCAN_SHARE * self._client.timeout_s

    def fetch_all(
        self,
        skills: Sequence[IndexedSkill],
        before: Mapping[str, FetchedPack],
        *,
        extend: bool,
    ) -> dict[IndexEntry, FetchResult]:
        """Fetch what is new, some at a time, in the order of ``skills``.

        A pack of ``before``, by name, with the same digest is used again without a
        request. With ``extend`` the time starts again with each pack that comes.
        """
        end_s = self._monotonic() + self.scan_s

        def fetch(listed: IndexedSkill) -> FetchResult:
            nonlocal end_s
            entry = listed.entry
            last = before.get(entry.name)
            # The digest alone is not enough: read as an archive, the same bytes have
            # other files.
            same = last and (last.entry.digest, last.entry.type)
            if last and entry.digest and same == (entry.digest, entry.type):
                return replace(last, listed=listed)
            now = self._monotonic()
            on_disk = self._disk and entry.digest and self._disk.has(entry.digest)
            # What is on the disk costs no time of the site.
            if now >= end_s and not on_disk:
                return None
            until = min(end_s, now + ARTIFACT_SHARE * self.scan_s)
            try:
                pack = self.fetch(listed, last, until)
            except SkillError as error:
                return error
            if extend:
                # No lock: threads that write at once write nearly the same time.
                end_s = self._monotonic() + self.scan_s
            return pack

        with ThreadPoolExecutor(MAX_PARALLEL, "satchel http") as threads:
            results = threads.map(fetch, skills)
            entries = (skill.entry for skill in skills)
            return dict(zip(entries, results, strict=True))

    def fetch(
        self, listed: IndexedSkill, last: FetchedPack | None, until: float
    ) -> FetchedPack:
        """Return the pack of a skill, or raise `SkillError`.

        ``last`` is the pack of this name as it was before, ``until`` when to give up,
        by the monotonic clock.
        """
        if listed.entry.type == "files":
            pack = self._fetch_files(listed, last, until)
        else:
            contents = self._unpack(listed.entry, self._artifact(listed, until))
            pack = self._make_pack(listed, listed.entry.digest, contents)
        self.fetched += 1
        return pack

    def cached_skill_md(self, pack: FetchedPack) -> bytes | None:
        """Return a SKILL.md if it is in memory."""
        return self._skill_mds.find(pack.cache_key)

    def read(self, pack: FetchedPack, path: str) -> bytes:
        """Return one listed file, from memory, from disk, or fetched again."""
        data = self._find(pack, path)
        # A file of v0.1.0 may have changed on the site since it was listed.
        if data is None or digest_bytes(data) != _stat(pack, path).digest:
            raise ChangedSinceSyncError(pack.entry.name, path)
        return data

    def _find(self, pack: FetchedPack, path: str) -> bytes | None:
        if path == SKILL_FILE:
            skill_md = self._skill_mds.find(pack.cache_key)
            if skill_md is not None:
                return skill_md
        contents = self._packs.find(pack.cache_key)
        if contents is not None:
            return contents[path]
        entry = pack.entry
        if entry.type == "files":
            stat = _stat(pack, path)
            cached = self._disk.get(stat.digest, stat.size) if self._disk else None
            if cached is not None:
                return cached
            return self._get(self._file_request(pack.listed, path), entry.name)
        contents = self._unpack(entry, self._artifact(pack.listed, None))
        self._cache(pack, contents)
        return contents.get(path)

    def _artifact(self, listed: IndexedSkill, until: float | None) -> bytes:
        """Return the raw bytes of an artifact, verified."""
        entry = listed.entry
        limit, most = "skill_md_bytes", self._limits.skill_md_bytes
        if entry.type == "archive":
            limit, most = "archive_bytes", archive_size_limit(self._limits)
        cached = self._disk.get(entry.digest, most) if self._disk else None
        if cached is not None:
            return cached
        url = self._resolve(listed, entry.url)
        # Of several servers, one that has another release says that it is busy.
        headers = {DIGEST_HEADER: entry.digest}
        request = HttpRequest(
            url, limit, most, listed.hosts, until=until, headers=headers
        )
        data = self._get(request, entry.name)
        digest = digest_bytes(data)
        if digest != entry.digest:
            detail = f"its digest is {digest}, and not {entry.digest}"
            file = escape_name(url.path.rpartition("/")[2][:80])
            raise DigestMismatchError(entry.name, file, detail=detail)
        if self._disk:
            self._disk.put(entry.digest, data)
        return data

    def _unpack(self, entry: IndexEntry, data: bytes) -> Mapping[str, bytes]:
        if entry.type == "archive":
            where = f"{self._client.label}/{entry.name}"
            return unpack(data, limits=self._limits, where=where)
        return {SKILL_FILE: data}

    def _get(self, request: HttpRequest, name: str) -> bytes:
        # Without a deadline a caller waits for this one read, so that it counts among
        # the concurrent ones; a scan has threads and a deadline of its own.
        with self._limiter.hold() if request.until is None else nullcontext():
            answer = self._client.get(request)
        if answer.status != OK:
            detail = f"{request.url}: the server answers {answer.status} for {name}"
            raise SourceUnavailableError(self._client.label, detail)
        return answer.body

    def _resolve(self, listed: IndexedSkill, url: str) -> Url:
        try:
            return parse_url(url, listed.index)
        except ValueError as error:
            detail = f"the URL of {listed.entry.name} is not fetched: {error}"
            raise SourceUnavailableError(self._client.label, detail) from None

    def _fetch_files(
        self, listed: IndexedSkill, last: FetchedPack | None, until: float
    ) -> FetchedPack:
        """Fetch every file that an entry of v0.1.0 lists."""
        label, entry = self._client.label, listed.entry
        where = f"{label}/{entry.name}"
        # The files together are held to the limits of an archive, and their paths to
        # its rules.
        tree = ArchiveTree(self._limits, self._limits.archive_bytes, where)
        cached = self._packs.find(last.cache_key) if last else None
        etags: dict[str, str] = {}
        for path in entry.files:
            member = tree.place(path, folder=False)
            # Only a request shows whether a file has changed; an ETag saves its bytes.
            etag = last.etags.get(path, "") if last and cached else ""
            request = self._file_request(listed, path)
            request = replace(request, etag=etag, until=until)
            answer = self._client.get(request)
            if answer.unchanged and cached is not None:
                data = cached[path]
            elif answer.status != OK:
                detail = f"{request.url}: the server answers {answer.status}"
                raise SourceUnavailableError(label, detail)
            elif answer.encoding_problem:  # there is no digest that would show it
                detail = f"{request.url}: {answer.encoding_problem}"
                raise SourceUnavailableError(label, detail)
            else:
                data = answer.body
            if answer.etag:
                etags[path] = answer.etag
            tree.put(member, data)
            if self._disk:
                self._disk.put(digest_bytes(data), data)
        contents = tree.pack()
        digest = tree_digest(
            Resource(path, digest_bytes(data), len(data))
            for path, data in contents.items()
        )
        pack = self._make_pack(listed, digest, contents)
        # A file that is not cached must not be answered with "not changed".
        paths = [file.path for file in pack.files if file.path in etags]
        return replace(pack, etags=MappingProxyType({p: etags[p] for p in paths}))

    def _file_request(self, listed: IndexedSkill, path: str) -> HttpRequest:
        url = self._resolve(listed, listed.entry.url + quote(path))
        limit = "skill_md_bytes" if path == SKILL_FILE else "archive_bytes"
        return HttpRequest(url, limit, getattr(self._limits, limit), listed.hosts)

    def _make_pack(
        self, listed: IndexedSkill, digest: str, contents: Mapping[str, bytes]
    ) -> FetchedPack:
        listing = Listing(self._limits)
        for path, data in contents.items():
            if listing.admits(path):
                own = digest_bytes(data)
                listing.add(FileStat(path, len(data), own, own))
        files, findings = listing.files(), listing.findings()
        pack = FetchedPack(listed, digest, files, findings)
        self._cache(pack, contents)
        return pack

    def _cache(self, pack: FetchedPack, contents: Mapping[str, bytes]) -> None:
        """Cache the listed files; the others, for example keys, are never read."""
        listed = {file.path: contents[file.path] for file in pack.files}
        skill_md = listed[SKILL_FILE]
        self._skill_mds.put(pack.cache_key, skill_md, len(skill_md))
        self._packs.put(pack.cache_key, listed, sum(map(len, listed.values())))


def _stat(pack: FetchedPack, path: str) -> FileStat:
    return next(file for file in pack.files if file.path == path)
