"""The skills of one MCP server, as a source that verifies what it hands on."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from satchel.errors import (
    DigestMismatchError,
    LimitExceededError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.files import ReadLimiter, check_path, unpack
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
)
from satchel.skill_md import parse, render_frontmatter
from satchel.sources import _findings as tell
from satchel.sources._mcp._connection import McpConnection
from satchel.sources._mcp._entry import McpSkillEntry, shared_names
from satchel.sources._mcp._listing import ServerListing, list_skills
from satchel.sources._mcp._requests import McpRequests, NotServedError
from satchel.sources._mcp._target import McpServerAddress, resolve_target
from satchel.sources._mcp._uris import skill_path
from satchel.sources._mcp._verification import (
    check_bytes,
    check_frontmatter,
    ungranted_tools_finding,
    without_ungranted_tools,
)

MAX_TTL_S: Final = 300.0
"""Seconds for which a server may ask not to be asked again."""
LISTING_DEADLINES: Final = 2
"""How many deadlines of one call the pages of a list may take at each sync."""


class McpSource:
    """Skills that an MCP server serves; keys are the URIs of their folders.

    Nothing of a skill is fetched before somebody loads it: what the catalog shows is
    what the server said of it. Every read is verified against that. There is no cache
    of files, in memory or on disk. Thread-safe.
    """

    yields: Final = True
    """No skill of this source takes the place of one that lies here."""
    limits_reads: Final = True
    remote: Final = "MCP server"
    """Where its skills come from, as a user and a model are told."""

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
        """Take the server; it is connected when it is first asked.

        The arguments are those of `satchel.sources.mcp`; ``now`` tells the time in
        seconds.

        Raises:
            ValueError: ``server`` cannot be one.
        """
        target = resolve_target(
            server,
            label=label,
            headers=headers,
            timeout_s=timeout_s,
            # A file as text or in base64, escapes included; or a page of skills.
            max_bytes=2 * max(limits.file_bytes, limits.skill_md_bytes) + (1 << 20),
        )
        self.label: Final = target.label
        self._limits = limits
        self._patience_s = LISTING_DEADLINES * timeout_s
        self._approved = dict(allowed_tools or {})
        self._also = tuple(also)
        self._now = now
        self._connection = McpConnection(target, timeout_s)
        self._places = ReadLimiter(target.label, now)
        self._asking = McpRequests(self._connection, target.label)
        self._lock = threading.Lock()
        self._seen: ServerListing | None = None
        self._shared: frozenset[str] = frozenset()
        self._spoiled: dict[str, str] = {}
        self._until = 0.0

    def __repr__(self) -> str:
        """Return what a debugger shows."""
        return f"{type(self).__name__}(label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        """Return the skills, sorted by key, then what is wrong with some.

        While the server's last answer holds (its ``ttlMs``, five minutes at most),
        the server is not asked again.
        """
        with self._lock:
            if self._seen is None or self._now() >= self._until:
                self._look()
            return self._told(self._seen) if self._seen else ()

    @property
    def progress(self) -> int:
        """How many answers the server gave: another number while it gets on."""
        return self._asking.answers

    def manifest(self, key: str) -> Manifest:
        """Return what the server says of a skill; its SKILL.md is not read.

        Two skills of one name are told apart by their paths. Tools that it asks for
        are left out, unless they were given to it.

        Raises:
            SkillNotFoundError: The server has no such skill.
            SkillManifestError: What it says is no manifest.
            SourceUnavailableError: It does not answer.
        """
        entry = self._entry(key)
        text = render_frontmatter(entry.frontmatter)
        data = text.encode("utf-8", "surrogatepass")
        parsed = parse(data, limits=self._limits)
        if parsed.manifest is None:
            raise SkillManifestError(self._place(key), parsed.findings[0].message)
        # Verbatim: what was rendered for the parser is not what the server said.
        said = replace(parsed.manifest, frontmatter=entry.frontmatter)
        if entry.name in self._shared:
            said = replace(said, name=skill_path(key))
        return without_ungranted_tools(said, entry, self._approved)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return the files that the server lists, sorted by path."""
        return self._entry(key).files

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one listed file, fetched now and verified.

        Raises:
            DigestMismatchError: It is not what was listed, or SKILL.md's frontmatter
                is not. Nothing more is read of the skill then before the next sync,
                which asks the server anew.
            ReferenceEscapesError, ReferenceNotFoundError: Not listed; not asked for.
            LimitExceededError: It is larger than ``limit_bytes``.
            ArchiveError: What the older index calls an archive is none.
            SkillNotFoundError, SourceUnavailableError: As for `manifest`.
        """
        check_path(path, key)
        entry = self._entry(key)
        listed = entry.listed.get(path)
        if listed is None:
            raise ReferenceNotFoundError(entry.name, path)
        if key in self._spoiled:
            raise DigestMismatchError(entry.name, path, detail=self._spoiled[key])
        _check_size(path, listed.size, limit_bytes)
        try:
            with self._places.hold():
                answer = self._asking.read(listed.uri)
        except NotServedError as error:
            self._until = 0.0
            if path == SKILL_FILE:
                raise SkillNotFoundError(entry.name) from error
            raise ReferenceNotFoundError(entry.name, path) from error
        try:
            data = check_bytes(entry.name, path, answer, listed)
            if entry.archive:
                data = unpack(data, limits=self._limits, where=entry.name)[SKILL_FILE]
            _check_size(path, len(data), limit_bytes)
            if path == SKILL_FILE:
                check_frontmatter(entry, data, self._limits)
        except DigestMismatchError:
            self._until = 0.0
            self._spoiled[key] = f"the server sent another {path} than it had listed"
            raise
        return data

    def close(self) -> None:
        """End the connection, and the server where it was started here."""
        self._connection.close()

    def _look(self) -> None:
        seen = list_skills(
            self._asking,
            self.label,
            self._also,
            self._limits,
            patience_s=self._patience_s,
            now=self._now,
            before=self._seen,
        )
        self._shared = shared_names(seen.entries)
        self._seen = seen
        self._spoiled = {}
        self._until = self._now() + min(seen.ttl_s, MAX_TTL_S)

    def _entry(self, key: str) -> McpSkillEntry:
        if self._seen is None:
            self.scan()
        entry = self._seen.entries.get(key) if self._seen else None
        if entry is None:
            raise SkillNotFoundError(key)
        return entry

    def _place(self, key: str) -> str:
        return f"{self.label}: {key}"

    def _told(self, seen: ServerListing) -> tuple[Found | Finding, ...]:
        found = [
            Found(key, self._place(key), self._stamp(entry), entry.files)
            for key, entry in seen.entries.items()
        ]
        return (*found, *seen.findings, *self._findings(seen))

    def _stamp(self, entry: McpSkillEntry) -> tuple[str, bool]:
        return entry.stamp, entry.name in self._shared

    def _findings(self, seen: ServerListing) -> Iterator[Finding]:
        for key, entry in seen.entries.items():
            where = self._place(key)
            yield from tell.placed(entry.findings, where)
            asked = ungranted_tools_finding(entry, self._approved)
            if asked is not None:
                yield from tell.placed((asked,), where)
            if entry.name in self._shared:
                yield tell.shared_name(where, entry.name, skill_path(key))


def _check_size(path: str, size: int | None, limit_bytes: int) -> None:
    if size is not None and size > limit_bytes:
        limit = "skill_md_bytes" if path == SKILL_FILE else "file_bytes"
        raise LimitExceededError(limit, limit_bytes, size, "bytes", path)
