"""The skills of a registry as a source: of a digest, or of a tag that is followed."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import inf
from typing import Final

from satchel.errors import ConfigError, DigestMismatchError, SkillError
from satchel.files import LruCache, ReadLimiter, digest_bytes, tree_digest
from satchel.model import (
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
    Resource,
)
from satchel.protocols import SkillSource, SourceAbilities, with_abilities
from satchel.text import clean_line
from satchel_install.oci._artifact import (
    OciArtifact,
    fetch_artifact,
    fetch_bundles,
    open_artifact,
)
from satchel_install.oci._channel import (
    WITHDRAWN_TAG,
    checked_number,
    fetch_withdrawn,
    note_number,
    noted_number,
)
from satchel_install.oci._reference import OciReference, parse_reference
from satchel_install.oci._registry import OciRepository
from satchel_store.content import ContentStore
from satchel_store.release import ReleaseSource

_CACHED_BYTES: Final = 64 * 1024 * 1024
# So many releases of a channel are looked through.
_MAX_RELEASES: Final = 50
# Seconds before all files are fetched: most commands have ended by then.
_SETTLE_S: Final = 1.0
# The most of a reason that is shown, to people and to models.
_REASON_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class _Current:
    """The artifact in use: its packs, and the digest of each by its key."""

    artifact: OciArtifact
    source: SkillSource
    items: tuple[Found | Finding, ...] = field(repr=False)
    digests: Mapping[str, str] = field(repr=False)
    release: str = ""


class OciSource(SourceAbilities):
    """The packs of one artifact, and what is withdrawn of them. Thread-safe.

    A tag is asked for at each scan, and another artifact taken into use whole. What was
    fetched is kept in the content-addressed store, so that the last good artifact is
    served while the registry is away, for as long as `limit_age` allows.
    """

    limits_reads = True

    def __init__(
        self, repository: OciRepository, reference: OciReference, limits: Limits
    ) -> None:
        """Ask the registry nothing yet; the repository is closed with the source."""
        self.label: Final = str(reference)
        self.pin: Final = reference.digest or None
        self._max_age_s = inf
        self._reference = reference
        self._repository = repository
        self._limits = limits
        self._store = ContentStore()
        self._memory: LruCache[str, bytes] = LruCache(_CACHED_BYTES)
        self._older: LruCache[str, OciArtifact] = LruCache(_MAX_RELEASES)
        self._limiter = ReadLimiter(self.label)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._current: _Current | None = None
        self._withdrawn: dict[str, str] = {}
        self._list = ""
        self._signed: tuple[str, tuple[bytes, ...] | SkillError] = "", ()
        self._number = noted_number(reference)
        self._answered = time.monotonic()
        self._fetching: threading.Thread | None = None

    @property
    def release(self) -> str:
        """The digest of the manifest in use; empty before the first answer."""
        current = self._current
        return current.artifact.digest if current else ""

    def scan(self) -> tuple[Found | Finding, ...]:
        return self._scanned().items

    def _scanned(self) -> _Current:
        with self._lock:
            self._current = now = self._refreshed()
            self._answered = time.monotonic()
            if not isinstance(self._signed[1], tuple) or not self._signed[1]:
                self._signed = "", ()
            self._fetch_rest(now)
        return now

    def history(self) -> tuple[ReleaseSource, ...]:
        """Return the releases of the channel, the latest first, without withdrawn ones.

        It ends where the registry has the one before no longer.
        """
        releases: list[ReleaseSource] = []
        with suppress(SkillError):
            for artifact in islice(self._lineage(), _MAX_RELEASES):
                packs = open_artifact(artifact, self._blob, self.label, self._limits)
                if isinstance(packs, ReleaseSource):
                    names = artifact.digest, packs.open().id
                    if self._withdrawn.keys().isdisjoint(names):
                        releases.append(packs)
        return tuple(releases)

    def _lineage(self) -> Iterator[OciArtifact]:
        """Yield the artifact in use, and then each that its channel had before."""
        artifact = self._current.artifact if self._current else None
        while artifact is not None:
            yield artifact
            before = artifact.previous
            fetch = partial(fetch_artifact, self._repository, before)
            artifact = self._older.get(before, fetch) if before else None

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        """Return the id that the packs in use have for one of them."""
        return with_abilities(self._packs()).identify_at(manifest, key)

    def manifest(self, key: str) -> bytes:
        # Also of what is withdrawn: the catalog says why it is not listed.
        return self._packs().read(key, SKILL_FILE, self._limits.skill_md_bytes)

    def files(self, key: str) -> tuple[FileStat, ...]:
        return tuple(self._packs().files(key))

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, verified by their digest."""
        if refusal := self.refusal_of(key):
            raise DigestMismatchError(key, path, detail=refusal)
        return self._packs().read(key, path, limit_bytes)

    def limit_age(self, most_s: float) -> None:
        """Refuse every pack once the registry has not answered for so many seconds."""
        self._max_age_s = most_s

    def refusal_of(self, key: str) -> str:
        """Return why a pack must not be used now; empty if nothing is against it."""
        if time.monotonic() - self._answered > self._max_age_s:
            most = f"--max-age of {self._max_age_s:g} s"
            return f"{self.label} has been away for longer than the {most}"
        for name in filter(self._withdrawn.__contains__, self.digests_of(key)):
            why = clean_line(self._withdrawn[name])[:_REASON_CHARS]
            return f"{name} is withdrawn: {why or 'no reason is given'}"
        return ""

    @property
    def withdrawn(self) -> frozenset[str]:
        """The digests that the registry's list has had."""
        return frozenset(self._withdrawn)

    def digests_of(self, key: str) -> tuple[str, ...]:
        """Return by which digests a pack may be withdrawn; none before an answer."""
        if (current := self._current) is None:
            return ()
        return current.digests.get(key, ""), current.artifact.digest, current.release

    def bundles(self) -> tuple[bytes, ...]:
        """Return the signatures of the artifact in use; asked for again while none.

        Raises:
            SkillError: The registry does not answer, or one cannot be read.
        """
        digest = self.release
        if self._signed[0] != digest:
            try:
                self._signed = digest, fetch_bundles(self._repository, digest)
            except SkillError as error:  # every skill asks; the registry only once
                self._signed = digest, error
        if isinstance(self._signed[1], SkillError):
            raise self._signed[1]
        return self._signed[1]

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._closed.set()
        self._repository.close()

    def _packs(self) -> SkillSource:
        return (self._current or self._scanned()).source

    def _refreshed(self) -> _Current:
        """Return what the reference names now; nothing changes where it is refused."""
        reference, repository = self._reference, self._repository
        try:
            # By its digest from here on: the tag may move between two requests.
            which = reference.digest or repository.digest_of(reference.tag)
        except SkillError:
            # Whatever is wrong with the release, what is withdrawn counts at once.
            with suppress(SkillError):
                self._withdrawn = self._withdrawn_now()
            raise
        self._withdrawn = self._withdrawn_now()
        current = self._current
        if current is None or current.artifact.digest != which:
            current = self._opened(fetch_artifact(repository, which))
        self._number = checked_number(reference, current.artifact, self._number)
        if self._number and not reference.digest:
            note_number(reference, self._number)
        return current

    def _opened(self, artifact: OciArtifact) -> _Current:
        packs = open_artifact(artifact, self._blob, self.label, self._limits)
        items = tuple(packs.scan())
        if isinstance(packs, ReleaseSource):
            opened = packs.open()
            digests = {skill.id: skill.digest for skill in opened.skills}
            return _Current(artifact, packs, items, digests, opened.id)
        keys = [pack.key for pack in items if isinstance(pack, Found)]
        digests = {key: self._digest(packs, key) for key in keys}
        return _Current(artifact, packs, items, digests)

    def _digest(self, packs: SkillSource, key: str) -> str:
        """Return the digest of a pack that is in memory."""
        files = ((s.path, packs.read(key, s.path, s.size)) for s in packs.files(key))
        return tree_digest([Resource(p, digest_bytes(d), len(d)) for p, d in files])

    def _withdrawn_now(self) -> dict[str, str]:
        """Return all that was ever withdrawn here; a shorter list takes nothing back.

        Raises:
            SkillError: The list is there, and cannot be read: nobody may take that for
                an empty one.
        """
        repository = self._repository
        digest = repository.digest_of(WITHDRAWN_TAG, missing_ok=True)
        if digest in {"", self._list}:
            return self._withdrawn
        reasons = fetch_withdrawn(repository, digest)
        self._list = digest
        return self._withdrawn | reasons

    def _blob(self, digest: str, size: int) -> bytes:
        """Return the bytes of a digest: from memory, the store, or the registry."""
        data = self._memory.find(digest)
        if data is None:
            with suppress(SkillError, OSError):
                data = self._store.get(digest)
        if data is None:
            # Only a request takes a place among the concurrent reads.
            with self._limiter.hold():
                data = self._repository.blob(digest, size)
            # A disk that is full or read-only is no reason not to serve.
            with suppress(OSError):
                self._store.keep(data)
        if len(data) != size:
            detail = f"it has {len(data):,} bytes, and not {size:,}"
            raise DigestMismatchError(self.label, digest, detail=detail)
        self._memory.put(digest, data, len(data))
        return data

    def _fetch_rest(self, current: _Current) -> None:
        """Begin to fetch what nobody has read yet, for when the registry is away."""
        if self._fetching is not None and self._fetching.is_alive():
            return

        def fetch() -> None:
            self._closed.wait(_SETTLE_S)
            for layer in current.artifact.layers:
                if self._closed.is_set() or self._current is not current:
                    return
                if not self._store.has(layer.digest):
                    try:
                        self._blob(layer.digest, layer.size)
                    except SkillError:
                        return  # the next refresh begins again
                    if not self._store.has(layer.digest):
                        return  # there is no disk to keep it on

        self._fetching = threading.Thread(target=fetch, name="satchel oci", daemon=True)
        self._fetching.start()


def open_address(
    url: str, *, pin: str | None, allow_private: bool, limits: Limits
) -> OciSource:
    """Return the source of an ``oci://`` address that `satchel.Satchel` was given."""
    if pin is not None:
        detail = "pin it by its digest: oci://registry/team/skills@sha256:..."
        raise ConfigError("pin", detail)
    reference = parse_reference(url)
    repository = OciRepository(reference, allow_private=allow_private)
    return OciSource(repository, reference, limits)
