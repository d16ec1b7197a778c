"""Packs as they were read: the state of each, and the digests of its files."""

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from satchel.errors import ChangedSinceSyncError, SkillError
from satchel.files import digest_bytes, tree_digest
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    FileReader,
    FileStat,
    Finding,
    Limits,
    Manifest,
    Origin,
    Resource,
)
from satchel.protocols import NamesByPlace, NamesSkills

if TYPE_CHECKING:
    from satchel.skill_md import Profile


RETIRED_STATUSES: Final = frozenset({"deprecated", "retired"})
"""Values of ``metadata.status`` that take a pack out of the catalog."""

Identify = Callable[[Manifest, str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """What a registry takes in: the profile, the limits, and D's empty description."""

    profile: "Profile" = "auto"
    limits: Limits = DEFAULT_LIMITS
    allow_empty_description: bool = False


class ScannedPack(NamedTuple):
    """A pack as it was when it had this ``stamp``.

    ``refused`` and ``filtered`` packs have no place in the catalog. ``manifest`` is
    what its SKILL.md was parsed to; None where the source made the manifest itself.
    """

    descriptor: Descriptor
    stamp: Hashable
    findings: tuple[Finding, ...] = ()
    refused: bool = False
    filtered: bool = False
    manifest: Manifest | None = None

    @property
    def listable(self) -> bool:
        """Whether nothing about the pack itself keeps it out."""
        return not (self.refused or self.filtered)


def identify_by(source: object) -> Identify:
    """Return what gives the id of a manifest and a key: the name, unless it says."""
    if isinstance(source, NamesByPlace):
        return source.identify_at
    if isinstance(source, NamesSkills):
        named = source
        return lambda manifest, _: named.identify(manifest)
    return lambda manifest, _: manifest.name


_DigestKey: TypeAlias = tuple[Origin, str, tuple[FileStat, ...]]


class PackDigests:
    """The manifests of bytes that were asked for so far; safe across threads."""

    def __init__(self, limits: Limits) -> None:
        """Remember nothing yet."""
        self._limits = limits
        self._known: dict[_DigestKey, tuple[Resource, ...]] = {}
        self._lock = threading.Lock()

    def resources(
        self, descriptor: Descriptor, readers: Mapping[str, FileReader]
    ) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        One that was not there when the pack was scanned is left out. Sorted by path by
        code point. A file whose digest the source knows is not read; every other one
        is read once, then remembered for as long as the marks of the pack's files stay
        the same.

        Raises:
            SkillError: A file cannot be read now.
        """
        key = _digest_key(descriptor)
        known = self._known.get(key)
        if known is None:
            known = self._read(descriptor, readers)
            with self._lock:
                self._known[key] = known
        return known

    def tree(self, descriptor: Descriptor, readers: Mapping[str, FileReader]) -> str:
        """Return the pack's digest, ``sha256-tree-v1:`` and 64 hex digits.

        Raises:
            SkillError: A file cannot be read now.
        """
        return tree_digest(self.resources(descriptor, readers))

    def tree_or_none(
        self, descriptor: Descriptor, readers: Mapping[str, FileReader]
    ) -> str | None:
        """Return the pack's digest, or None where a file cannot be read now."""
        try:
            return self.tree(descriptor, readers)
        except SkillError:
            return None

    def keep(self, descriptors: tuple[Descriptor, ...]) -> None:
        """Forget every pack that is not among these as they are now."""
        with self._lock:
            known = self._known
            digests = {digest for _, digest, _ in known}  # most packs are never asked
            alive = [
                _digest_key(each) for each in descriptors if each.digest in digests
            ]
            self._known = {key: known[key] for key in alive if key in known}

    def _read(
        self, descriptor: Descriptor, readers: Mapping[str, FileReader]
    ) -> tuple[Resource, ...]:
        origin = descriptor.origin
        reader = readers[origin.source]
        found: list[Resource] = []
        if descriptor.digest:
            _check_unchanged(descriptor, reader, SKILL_FILE)
            found.append(Resource(SKILL_FILE, descriptor.digest, descriptor.size))
        else:  # its source announced none
            limit = self._limits.skill_md_bytes
            data = reader.read(origin.key, SKILL_FILE, limit)
            found.append(Resource(SKILL_FILE, digest_bytes(data), len(data)))
        known = {stat.path: stat for stat in descriptor.files if stat.digest}
        for path in descriptor.present:
            if path in known:
                found.append(Resource(path, known[path].digest, known[path].size))
                continue
            data = reader.read(origin.key, path, self._limits.file_bytes)
            _check_unchanged(descriptor, reader, path)
            found.append(Resource(path, digest_bytes(data), len(data)))
        return tuple(sorted(found, key=lambda resource: resource.path))


def _check_unchanged(descriptor: Descriptor, reader: FileReader, path: str) -> None:
    """Let a file pass that is still the one which the catalog knows.

    Else the manifest of bytes would be of two states of the pack.

    Raises:
        ChangedSinceSyncError: It was edited.
    """
    stat_file = getattr(reader, "stat_file", None)
    if stat_file is None:
        return
    known = next((stat for stat in descriptor.files if stat.path == path), None)
    if known is not None and stat_file(descriptor.origin.key, path) != known:
        raise ChangedSinceSyncError(descriptor.id, path)


def _digest_key(descriptor: Descriptor) -> _DigestKey:
    return descriptor.origin, descriptor.digest, descriptor.files
