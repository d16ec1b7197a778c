"""The skills of one MCP server, as a source that verifies what it hands out."""

import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
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
    digest_bytes,
    locate_findings,
)
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Json,
    Limits,
    Manifest,
)
from satchel.protocols import SourceAbilities
from satchel.skill_md import corrected_keys, parse, render_frontmatter
from satchel_server.mcp_source._connection import McpConnection, NotServedError
from satchel_server.mcp_source._entry import (
    ListedFile,
    McpSkillEntry,
    shared_names,
    short_line,
    skill_path,
)
from satchel_server.mcp_source._listing import ServerListing, list_skills
from satchel_server.mcp_source._target import McpTarget
from satchel_store.archives import unpack

# Seconds for which a server's answer may hold at most.
MAX_TTL_S: Final = 300.0
# How many times the time-out of one call all pages of a list may take together.
LISTING_DEADLINES: Final = 2
# Keys of ``metadata`` whose tools would open with the skill: those of the catalog,
# which a source may not import.
OPENING_KEYS: Final = ("tools", "adk_additional_tools", "include_tools")


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

    def __init__(
        self,
        target: McpTarget,
        *,
        allowed_tools: Mapping[str, str] | None = None,
        also: Iterable[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Connect nothing yet; the arguments are those of `satchel.sources.mcp`."""
        self.label: Final = target.label
        self._limits = limits
        self._listing_s = LISTING_DEADLINES * target.timeout_s
        self._approved = dict(allowed_tools or {})
        self._also = tuple(also)
        self._now = time.monotonic
        self._connection = McpConnection(target)
        self._limiter = ReadLimiter(target.label, self._now)
        self._lock = threading.Lock()
        self._listing: ServerListing | None = None
        self._shared: frozenset[str] = frozenset()
        self._mismatched: dict[str, str] = {}
        self._valid_until = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}(label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        with self._lock:
            if self._listing is None or self._now() >= self._valid_until:
                self._list()
            return tuple(self._found(self._listing)) if self._listing else ()

    @property
    def progress(self) -> int:
        """How many answers came; the registry waits while this number grows."""
        return self._connection.answers

    def manifest(self, key: str) -> Manifest:
        """Return what the server says about a skill; its SKILL.md is not read.

        Skills that share a name are named by their paths. Tools that it asks for are
        left out unless it is approved.
        """
        entry = self._entry(key)
        data = render_frontmatter(entry.frontmatter).encode("utf-8", "surrogatepass")
        parsed = parse(data, limits=self._limits)
        if parsed.manifest is None:
            raise SkillManifestError(self._location(key), parsed.findings[0].message)
        # The parser got rendered text; the values are those of the server.
        manifest = replace(parsed.manifest, frontmatter=entry.frontmatter)
        if entry.name in self._shared:
            manifest = replace(manifest, name=skill_path(key))
        return self._without_ungranted_tools(manifest, entry)

    def files(self, key: str) -> tuple[FileStat, ...]:
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
                answer = self._connection.read(listed.uri)
        except NotServedError as error:
            # The listing is out of date, so the next scan asks the server again.
            self._valid_until = 0.0
            if path == SKILL_FILE:
                raise SkillNotFoundError(entry.name) from error
            raise ReferenceNotFoundError(entry.name, path) from error
        try:
            data = _check_bytes(entry.name, path, answer, listed)
            if entry.archive:
                data = unpack(data, limits=self._limits, where=entry.name)[SKILL_FILE]
            # An unpacked file, or one without an announced size, is measured only here.
            check_read_size(path, len(data), limit_bytes)
            if path == SKILL_FILE:
                _check_frontmatter(entry, data, self._limits)
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
            self._connection,
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
            findings = (*entry.findings, *self._ungranted_tools(entry))
            yield from locate_findings(findings, where)
            if entry.name in self._shared:
                yield Finding.of(
                    "shared-name", where, name=entry.name, listed_as=skill_path(key)
                )

    def _without_ungranted_tools(
        self, manifest: Manifest, entry: McpSkillEntry
    ) -> Manifest:
        """Return the manifest without the tools that it asks for, unless approved.

        A digest of another state of the skill approves nothing. Hooks and the like,
        which Satchel ignores, stay in ``frontmatter``.

        Source: "No implicit permission grants" and "Content-bound approval" of the
        Skills extension.
        """
        if self._is_approved(entry):
            return manifest
        metadata = manifest.metadata
        metadata = {k: v for k, v in metadata.items() if k not in OPENING_KEYS}
        return replace(manifest, allowed_tools=(), metadata=metadata)

    def _ungranted_tools(self, entry: McpSkillEntry) -> Iterator[Finding]:
        """Yield a finding on a skill that asks for tools and gets none."""
        frontmatter = corrected_keys(entry.frontmatter)
        keys = ("allowed-tools", "allowed_tools")
        fields = [key for key in keys if frontmatter.get(key) not in (None, "", [])]
        metadata = frontmatter.get("metadata")
        if isinstance(metadata, Mapping):
            fields += [f"metadata.{key}" for key in OPENING_KEYS if key in metadata]
        if not fields or self._is_approved(entry):
            return
        fix = "nothing; without a digest it cannot be approved"
        if entry.digest:
            approval = f'{{"{entry.uri}": "{entry.digest}"}}'
            fix = f"to give it these tools as it is now: allowed_tools={approval}"
        is_approved = entry.uri in self._approved
        changed = " (it changed since it was approved)" if is_approved else ""
        names = ", ".join(fields)
        yield Finding.of(
            "tools-not-granted", SKILL_FILE, fields=names, changed=changed, fix=fix
        )

    def _is_approved(self, entry: McpSkillEntry) -> bool:
        return bool(entry.digest) and self._approved.get(entry.uri) == entry.digest


# Nothing is taken on trust from a server: bytes are compared.
def _check_bytes(name: str, path: str, data: bytes | None, listed: ListedFile) -> bytes:
    """Return bytes that have the announced size and digest, or raise an error.

    Source: "Verification on Read" of the Skills extension.
    """
    if data is None:
        detail = "the answer does not have exactly this file"
    # The size first: it says more about what went wrong than two digests.
    elif listed.size is not None and len(data) != listed.size:
        detail = f"{listed.size:,} bytes were announced, {len(data):,} came"
    elif listed.digest and digest_bytes(data) != listed.digest:
        detail = f"{listed.digest} was announced, {digest_bytes(data)} came"
    else:
        return data
    raise DigestMismatchError(name, path, detail=detail)


def _check_frontmatter(entry: McpSkillEntry, data: bytes, limits: Limits) -> None:
    """Check that a SKILL.md has the same value as its entry in every field.

    Source: "Frontmatter Verification" of the Skills extension.
    """
    manifest = parse(data, limits=limits).manifest
    if manifest is None:
        detail = "its frontmatter cannot be read"
        raise DigestMismatchError(entry.name, SKILL_FILE, detail=detail)
    fields = manifest.frontmatter
    if not entry.complete:
        fields = {key: fields[key] for key in entry.frontmatter if key in fields}
    field = _first_difference(entry.frontmatter, fields)
    if field is not None:
        name = short_line(field)
        detail = f"the field {name!r} of its frontmatter differs from what was listed"
        raise DigestMismatchError(entry.name, SKILL_FILE, detail=detail)


def _first_difference(
    one: Mapping[str, Json], other: Mapping[str, Json], within: str = ""
) -> str | None:
    """Return the name of the first field in which two mappings differ, or None.

    Values are compared as JSON: true is not 1, and 1 is 1.0. A nested field is
    ``metadata.owner``.
    """
    for key in sorted({*one, *other}):
        field = f"{within}{key}"
        if key not in one or key not in other:
            return field
        ours, theirs = one[key], other[key]
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            inner = _first_difference(ours, theirs, f"{field}.")
            if inner is not None:
                return inner
        elif _json_value(ours) != _json_value(theirs):
            return field
    return None


def _json_value(value: Json) -> str:
    """Return a text that equals another one exactly if the values are equal in JSON."""
    # In Python True equals 1; in JSON they are two values, and 1 and 1.0 are one.
    numbers = json.loads(json.dumps(value), parse_int=float)
    return json.dumps(numbers, sort_keys=True)
