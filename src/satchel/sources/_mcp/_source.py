"""The skills of one MCP server, as a source that verifies what it hands out."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from satchel.errors import (
    DigestMismatchError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.files import (
    ReadLimiter,
    check_path,
    check_read_size,
    locate_findings,
    unpack,
)
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
)
from satchel.protocols import SourceAbilities
from satchel.skill_md import parse, render_frontmatter
from satchel.sources._mcp._connection import McpConnection
from satchel.sources._mcp._entry import McpSkillEntry, shared_names
from satchel.sources._mcp._listing import ServerListing, list_skills
from satchel.sources._mcp._requests import McpRequests, NotServedError
from satchel.sources._mcp._target import McpServerAddress, McpTarget
from satchel.sources._mcp._uris import skill_path
from satchel.sources._mcp._verification import (
    check_bytes,
    check_frontmatter,
    ungranted_tools_finding,
    without_ungranted_tools,
)

# Seconds for which a server's answer may hold at most.
MAX_TTL_S: Final = 300.0
# How many times the time-out of one call all pages of a list may take together.
LISTING_DEADLINES: Final = 2


class McpSource(SourceAbilities):
    """Skills that an MCP server serves; keys are the URIs of their folders.

    Nothing of a skill is fetched before it is loaded: the catalog shows what the server
    announced. Every read is verified against that; no file is cached. Thread-safe.
    """

    yields = True
    """Skills of this machine go before those of this source."""
    limits_reads = True
    remote = "MCP server"
    """What users and models read about where its skills come from."""

    def __init__(  # noqa: PLR0913 - keywords, each with a default
        self,
        server: McpServerAddress,
        *,
        label: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        allowed_tools: Mapping[str, str] | None = None,
        also: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Connect nothing yet; the arguments are those of `satchel.sources.mcp`."""
        target = McpTarget(
            server,
            label=label,
            headers=headers,
            timeout_s=timeout_s,
            # A file as text or in base64, with escapes; or a page of skills.
            max_bytes=2 * max(limits.file_bytes, limits.skill_md_bytes) + (1 << 20),
        )
        self.label: Final = target.label
        self._limits = limits
        self._listing_s = LISTING_DEADLINES * timeout_s
        self._approved = dict(allowed_tools or {})
        self._also = tuple(also)
        self._now = now
        self._connection = McpConnection(target)
        self._limiter = ReadLimiter(target.label, now)
        self._requests = McpRequests(self._connection, target.label)
        self._lock = threading.Lock()
        self._listing: ServerListing | None = None
        self._shared: frozenset[str] = frozenset()
        self._mismatched: dict[str, str] = {}
        self._valid_until = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}(label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        """Return the skills, sorted by key, then the findings."""
        with self._lock:
            if self._listing is None or self._now() >= self._valid_until:
                self._list()
            return tuple(self._found(self._listing)) if self._listing else ()

    @property
    def progress(self) -> int:
        """How many answers came; the registry waits while this number grows."""
        return self._requests.answers

    def manifest(self, key: str) -> Manifest:
        """Return what the server says about a skill; its SKILL.md is not read.

        Skills that share a name are named by their paths. Tools that it asks for are
        left out unless it is approved.
        """
        entry = self._entry(key)
        text = render_frontmatter(entry.frontmatter)
        data = text.encode("utf-8", "surrogatepass")
        parsed = parse(data, limits=self._limits)
        if parsed.manifest is None:
            raise SkillManifestError(self._location(key), parsed.findings[0].message)
        # The parser got rendered text; the values are those of the server.
        manifest = replace(parsed.manifest, frontmatter=entry.frontmatter)
        if entry.name in self._shared:
            manifest = replace(manifest, name=skill_path(key))
        return without_ungranted_tools(manifest, entry, self._approved)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return the files that the server lists, sorted by path."""
        return self._entry(key).files

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one listed file, fetched now and verified."""
        check_path(path, key)
        entry = self._entry(key)
        listed = entry.listed.get(path)
        if listed is None:
            raise ReferenceNotFoundError(entry.name, path)
        # One wrong file makes the whole set doubtful: it was announced as one.
        if key in self._mismatched:
            raise DigestMismatchError(entry.name, path, detail=self._mismatched[key])
        check_read_size(path, listed.size or 0, limit_bytes)
        try:
            with self._limiter.hold():
                answer = self._requests.read(listed.uri)
        except NotServedError as error:
            # The listing is out of date, so the next scan asks the server again.
            self._valid_until = 0.0
            if path == SKILL_FILE:
                raise SkillNotFoundError(entry.name) from error
            raise ReferenceNotFoundError(entry.name, path) from error
        try:
            data = check_bytes(entry.name, path, answer, listed)
            if entry.archive:
                data = unpack(data, limits=self._limits, where=entry.name)[SKILL_FILE]
            # An unpacked file, or one without an announced size, is measured only here.
            check_read_size(path, len(data), limit_bytes)
            if path == SKILL_FILE:
                check_frontmatter(entry, data, self._limits)
        except DigestMismatchError:
            # No file of the skill is read until the next sync has asked the server.
            self._valid_until = 0.0
            self._mismatched[key] = f"the server sent another {path} than it had listed"
            raise
        return data

    def close(self) -> None:
        """End the connection, and the server if it was started here."""
        self._connection.close()

    def _list(self) -> None:
        listing = self._listing = list_skills(
            self._requests,
            self._also,
            self._limits,
            max_s=self._listing_s,
            now=self._now,
            before=self._listing,
        )
        self._shared = shared_names(listing.entries)
        # The new list announces new digests.
        self._mismatched = {}
        # A server could otherwise keep one list in use for ever.
        self._valid_until = self._now() + min(listing.ttl_s, MAX_TTL_S)

    def _entry(self, key: str) -> McpSkillEntry:
        if self._listing is None:
            self.scan()
        entry = self._listing.entries.get(key) if self._listing else None
        if entry is None:
            raise SkillNotFoundError(key)
        return entry

    def _location(self, key: str) -> str:
        return f"{self.label}: {key}"

    def _found(self, listing: ServerListing) -> Iterator[Found | Finding]:
        for key, entry in listing.entries.items():
            stamp = entry.stamp, entry.name in self._shared
            yield Found(key, self._location(key), stamp, entry.files)
        yield from listing.findings
        for key, entry in listing.entries.items():
            where = self._location(key)
            yield from locate_findings(entry.findings, where)
            ungranted = ungranted_tools_finding(entry, self._approved)
            if ungranted is not None:
                yield from locate_findings((ungranted,), where)
            if entry.name in self._shared:
                yield Finding.of(
                    "shared-name", where, name=entry.name, listed_as=skill_path(key)
                )
