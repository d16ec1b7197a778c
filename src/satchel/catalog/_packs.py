"""Packs as they were read: the state of each, and the digests of its files."""

import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from satchel.errors import ChangedSinceSyncError
from satchel.files import digest_bytes, tree_digest
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    FileReader,
    FileStat,
    Finding,
    Limits,
    Origin,
    Resource,
)

if TYPE_CHECKING:
    from satchel.skill_md import Profile

# Values of ``metadata.status`` that take a pack out of the catalog.
RETIRED_STATUSES: Final = frozenset({"deprecated", "retired"})
# Keys of ``metadata`` that name tools, in the order in which these open.
#
# Source: ours, Google ADK's ``SkillToolset``, and the skills of deepagents.
TOOL_KEYS: Final = ("tools", "adk_additional_tools", "include_tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """What is accepted: profile, limits, empty descriptions, a release's own list."""

    profile: "Profile" = "auto"
    limits: Limits = DEFAULT_LIMITS
    allow_empty_description: bool = False
    lists: bool = True


class ScannedPack(NamedTuple):
    """A pack as it was when it had this ``stamp``.

    ``refused`` and ``filtered`` packs have no place in the catalog. What SKILL.md was
    parsed to is not kept: it is half of the memory, and a load has the bytes.
    """

    descriptor: Descriptor
    stamp: Hashable
    findings: tuple[Finding, ...] = ()
    refused: bool = False
    filtered: bool = False


_DigestKey: TypeAlias = tuple[Origin, str, tuple[FileStat, ...]]


@dataclass(eq=False)
class PackDigests:
    """Digests of whole packs, made when they are first asked for; thread-safe."""

    limits: Limits
    cached: dict[_DigestKey, tuple[Resource, ...]] = field(
        default_factory=dict[_DigestKey, tuple[Resource, ...]]
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def resources(
        self, descriptor: Descriptor, readers: Mapping[str, FileReader]
    ) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md too, by path.

        A file that was not there when the pack was scanned is left out. A file whose
        digest the source knows is not read; every other one is read once, and again
        when the mark of a file of the pack has changed.
        """
        key = _digest_key(descriptor)
        # Read without the lock: it may take long, and two equal results do no harm.
        cached = self.cached.get(key)
        if cached is None:
            cached = self._read(descriptor, readers)
            with self._lock:
                self.cached[key] = cached
        return cached

    def tree(self, descriptor: Descriptor, readers: Mapping[str, FileReader]) -> str:
        return tree_digest(self.resources(descriptor, readers))

    def keep(self, descriptors: tuple[Descriptor, ...]) -> None:
        """Forget every pack that is not among these as they are now."""
        with self._lock:
            cached = self.cached
            digests = {digest for _, digest, _ in cached}  # most packs are never asked
            current = [
                _digest_key(entry) for entry in descriptors if entry.digest in digests
            ]
            self.cached = {key: cached[key] for key in current if key in cached}

    def _read(
        self, descriptor: Descriptor, readers: Mapping[str, FileReader]
    ) -> tuple[Resource, ...]:
        origin = descriptor.origin
        reader = readers[origin.source]
        resources: list[Resource] = []
        if descriptor.digest:
            _check_unchanged(descriptor, reader, SKILL_FILE)
            resources.append(Resource(SKILL_FILE, descriptor.digest, descriptor.size))
        else:  # its source announced none
            limit = self.limits.skill_md_bytes
            data = reader.read(origin.key, SKILL_FILE, limit)
            resources.append(Resource(SKILL_FILE, digest_bytes(data), len(data)))
        stats = {stat.path: stat for stat in descriptor.files if stat.digest}
        for path in descriptor.present:
            if path in stats:
                resources.append(Resource(path, stats[path].digest, stats[path].size))
                continue
            data = reader.read(origin.key, path, self.limits.file_bytes)
            # Checked after the read: an edit in between has moved the mark.
            _check_unchanged(descriptor, reader, path)
            resources.append(Resource(path, digest_bytes(data), len(data)))
        return tuple(sorted(resources, key=lambda resource: resource.path))


def _check_unchanged(descriptor: Descriptor, reader: FileReader, path: str) -> None:
    """Raise `ChangedSinceSyncError` where a file is not the one in the catalog."""
    # A manifest of bytes must not mix two states of a pack.
    stat = next((stat for stat in descriptor.files if stat.path == path), None)
    if stat is not None and reader.is_unchanged(descriptor.origin.key, stat) is False:
        raise ChangedSinceSyncError(descriptor.id, path)


def _digest_key(descriptor: Descriptor) -> _DigestKey:
    return descriptor.origin, descriptor.digest, descriptor.files


def is_tool_allowed(tool: str, allowed_tools: tuple[str, ...]) -> bool:
    """Tell whether ``allowed_tools`` lets ``tool`` open; an empty one lets any.

    Of an entry with a rule, ``Bash(git:*)``, what comes before the parenthesis is the
    name; it may be a shell pattern.
    """
    if not allowed_tools:
        return True
    return any(
        fnmatchcase(tool, entry.partition("(")[0].strip()) for entry in allowed_tools
    )
