"""From an entry of an index to a pack: fetched once, verified, taken apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from satchel.errors import (
    ChangedSinceSyncError,
    DigestMismatchError,
    SourceUnavailableError,
)
from satchel.files import (
    ArchiveBudget,
    ArchiveTree,
    Listing,
    ReadLimiter,
    archive_size_limit,
    digest_bytes,
    escape_name,
    tree_digest,
    unpack,
)
from satchel.model import SKILL_FILE, FileStat, Finding, Limits, Resource
from satchel.sources._http._cache import DiskCache, MemoryCache
from satchel.sources._http._client import OK, HttpClient, HttpRequest
from satchel.sources._http._index import RemoteIndexEntry
from satchel.sources._http._urls import AllowedHosts, Url, parse_url

PACKS_BYTES: Final = 64 * 1024 * 1024
SKILL_MD_BYTES: Final = 32 * 1024 * 1024
"""Bytes of packs, and of SKILL.md files, that stay in memory. They are kept apart: a
sync asks for every SKILL.md once more, and large archives would push them out."""


@dataclass(frozen=True, slots=True)
class IndexLocation:
    """Where an index was found, and whom it may send us to."""

    url: Url
    hosts: AllowedHosts


@dataclass(frozen=True, slots=True)
class FetchedPack:
    """One skill as it was fetched; ``digest`` is the artifact's, or that of all files.

    ``etags`` are those of files that are fetched one by one.
    """

    entry: RemoteIndexEntry
    place: IndexLocation
    digest: str
    files: tuple[FileStat, ...]
    findings: tuple[Finding, ...] = ()
    etags: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, repr=False
    )

    @property
    def shelf(self) -> str:
        """What its bytes are kept by: of equal bytes each kind has other files."""
        return f"{self.entry.kind} {self.digest}"


class PackStore:
    """Fetches packs, and keeps the bytes of some. Safe across threads."""

    def __init__(
        self, wire: HttpClient, vault: DiskCache | None, *, label: str, limits: Limits
    ) -> None:
        """Fetch nothing yet."""
        self._wire = wire
        self._vault = vault
        self._label = label
        self._limits = limits
        self.came = 0
        """How many artifacts came so far, from wherever they were."""
        self._places = ReadLimiter(label, wire.around.monotonic)
        self._packs: MemoryCache[Mapping[str, bytes]] = MemoryCache(PACKS_BYTES)
        self._skill_mds: MemoryCache[bytes] = MemoryCache(SKILL_MD_BYTES)

    def fetch(
        self,
        entry: RemoteIndexEntry,
        place: IndexLocation,
        last: FetchedPack | None,
        until: float,
    ) -> FetchedPack:
        """Return the pack that an entry stands for.

        Args:
            entry: What is wanted.
            place: Where it was listed.
            last: The pack of this name as it was before.
            until: When to give up, by the monotonic clock.

        Raises:
            SkillError: It cannot be fetched, is not what was announced, or is no pack.
        """
        if entry.kind == "files":
            pack = self._each_file(entry, place, last, until)
        else:
            data = self._artifact(entry, place, until)
            contents = self._opened(entry, data)
            pack = self._listed(entry, place, entry.digest, contents)
        self.came += 1
        return pack

    def held(self, pack: FetchedPack) -> bytes | None:
        """Return a SKILL.md that is in memory, None where it is not any more."""
        return self._skill_mds.get(pack.shelf)

    def is_kept(self, entry: RemoteIndexEntry) -> bool:
        """Tell whether an artifact is on disk, so that nothing has to be fetched."""
        return bool(self._vault and entry.digest and self._vault.has(entry.digest))

    def read(self, pack: FetchedPack, path: str) -> bytes:
        """Return one listed file, from memory, from disk, or fetched once more.

        Raises:
            SkillError: It has to be fetched, and cannot be, or is another one now.
        """
        data = self._find(pack, path)
        stat = next(each for each in pack.files if each.path == path)
        if data is None or digest_bytes(data) != stat.digest:
            raise ChangedSinceSyncError(pack.entry.name, path)
        return data

    def _find(self, pack: FetchedPack, path: str) -> bytes | None:
        if path == SKILL_FILE:
            skill_md = self._skill_mds.get(pack.shelf)
            if skill_md is not None:
                return skill_md
        contents = self._packs.get(pack.shelf)
        if contents is not None:
            return contents[path]
        if pack.entry.kind == "files":
            return self._one_file(pack, path)
        data = self._artifact(pack.entry, pack.place, None)
        contents = self._opened(pack.entry, data)
        self._keep(pack, contents)
        return contents.get(path)

    def _artifact(
        self, entry: RemoteIndexEntry, place: IndexLocation, until: float | None
    ) -> bytes:
        """Return the raw bytes of an artifact, which are those that were announced."""
        limit, most = self._limit(entry)
        kept = self._vault.get(entry.digest, most) if self._vault else None
        if kept is not None:
            return kept
        url = self._resolve(entry, entry.url, place)
        wanted = HttpRequest(url, limit, most, place.hosts, until=until)
        data = self._get(wanted, entry.name)
        came = digest_bytes(data)
        if came != entry.digest:
            detail = f"its digest is {came}, and not {entry.digest}"
            file = escape_name(url.path.rpartition("/")[2][:80])
            raise DigestMismatchError(entry.name, file, detail=detail)
        if self._vault:
            self._vault.put(entry.digest, data)
        return data

    def _limit(self, entry: RemoteIndexEntry) -> tuple[str, int]:
        if entry.kind == "archive":
            return "archive_bytes", archive_size_limit(self._limits)
        return "skill_md_bytes", self._limits.skill_md_bytes

    def _opened(self, entry: RemoteIndexEntry, data: bytes) -> Mapping[str, bytes]:
        if entry.kind == "archive":
            where = f"{self._label}/{entry.name}"
            return unpack(data, limits=self._limits, where=where)
        return {SKILL_FILE: data}

    def _get(self, wanted: HttpRequest, name: str) -> bytes:
        if wanted.until is None:  # somebody waits for it, and for no other
            with self._places.hold():
                answer = self._wire.get(wanted)
        else:
            answer = self._wire.get(wanted)
        if answer.status != OK:
            detail = f"{wanted.url}: the server answers {answer.status} for {name}"
            raise SourceUnavailableError(self._label, detail)
        return answer.body

    def _resolve(self, entry: RemoteIndexEntry, url: str, place: IndexLocation) -> Url:
        try:
            return parse_url(url, place.url)
        except ValueError as error:
            detail = f"the URL of {entry.name} is not fetched: {error}"
            raise SourceUnavailableError(self._label, detail) from None

    def _each_file(
        self,
        entry: RemoteIndexEntry,
        place: IndexLocation,
        last: FetchedPack | None,
        until: float,
    ) -> FetchedPack:
        """Fetch every file that an entry of v0.1.0 lists.

        Nothing says whether one has changed, so each is asked for at each sync; an ETag
        saves its bytes.
        """
        where = f"{self._label}/{entry.name}"
        budget = ArchiveBudget(self._limits, self._limits.archive_bytes, where)
        tree = ArchiveTree(budget, self._limits.pack_depth, where)
        known = self._packs.get(last.shelf) if last else None
        etags: dict[str, str] = {}
        for path in entry.files:
            spot = tree.place(path, folder=False)
            etag = last.etags.get(path, "") if last and known else ""
            wanted = replace(
                self._file_wanted(entry, path, place), etag=etag, until=until
            )
            answer = self._wire.get(wanted)
            if answer.unchanged and known is not None:
                data = known[path]
            elif answer.status == OK:
                data = answer.body
            else:
                detail = f"{wanted.url}: the server answers {answer.status}"
                raise SourceUnavailableError(self._label, detail)
            if answer.packed:  # no digest would tell
                raise SourceUnavailableError(
                    self._label, f"{wanted.url}: {answer.packed}"
                )
            if answer.etag:
                etags[path] = answer.etag
            tree.put(spot, data)
            if self._vault:
                self._vault.put(digest_bytes(data), data)
        contents = tree.pack()
        digest = tree_digest(
            Resource(path, digest_bytes(data), len(data))
            for path, data in contents.items()
        )
        pack = self._listed(entry, place, digest, contents)
        # Of what is not kept "not changed" would be no answer.
        kept = {
            each.path: etags[each.path] for each in pack.files if each.path in etags
        }
        return replace(pack, etags=MappingProxyType(kept))

    def _one_file(self, pack: FetchedPack, path: str) -> bytes | None:
        stat = next(each for each in pack.files if each.path == path)
        kept = self._vault.get(stat.digest, stat.size) if self._vault else None
        if kept is not None:
            return kept
        return self._get(
            self._file_wanted(pack.entry, path, pack.place), pack.entry.name
        )

    def _file_wanted(
        self, entry: RemoteIndexEntry, path: str, place: IndexLocation
    ) -> HttpRequest:
        url = self._resolve(entry, entry.url + quote(path), place)
        limit = "skill_md_bytes" if path == SKILL_FILE else "archive_bytes"
        return HttpRequest(url, limit, getattr(self._limits, limit), place.hosts)

    def _listed(
        self,
        entry: RemoteIndexEntry,
        place: IndexLocation,
        digest: str,
        contents: Mapping[str, bytes],
    ) -> FetchedPack:
        listing = Listing(self._limits)
        for path, data in contents.items():
            if listing.admits(path):
                own = digest_bytes(data)
                listing.add(FileStat(path, len(data), own, own))
        pack = FetchedPack(entry, place, digest, listing.files(), listing.findings())
        self._keep(pack, contents)
        return pack

    def _keep(self, pack: FetchedPack, contents: Mapping[str, bytes]) -> None:
        """Keep what is listed; the rest, keys for one, nobody asks for."""
        listed = {each.path: contents[each.path] for each in pack.files}
        skill_md = listed[SKILL_FILE]
        self._skill_mds.put(pack.shelf, skill_md, len(skill_md))
        self._packs.put(pack.shelf, listed, sum(map(len, listed.values())))
