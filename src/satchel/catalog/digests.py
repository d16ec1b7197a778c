"""Digests of whole packs: made when first asked for, remembered while nothing moved."""

import threading
from collections.abc import Mapping
from typing import TypeAlias

from satchel.errors import ChangedSinceSyncError, SkillError
from satchel.files import digest_bytes, tree_digest
from satchel.model import (
    SKILL_FILE,
    Descriptor,
    FileStat,
    Limits,
    Origin,
    Reader,
    Resource,
)

__all__ = ["Digests"]

_Key: TypeAlias = tuple[Origin, str, tuple[FileStat, ...]]


class Digests:
    """The manifests of bytes that were asked for so far; safe across threads."""

    def __init__(self, limits: Limits) -> None:
        """Remember nothing yet."""
        self._limits = limits
        self._known: dict[_Key, tuple[Resource, ...]] = {}
        self._lock = threading.Lock()

    def resources(
        self, descriptor: Descriptor, readers: Mapping[str, Reader]
    ) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        One that was not there when the pack was scanned is left out. Sorted by path by
        code point. A file whose digest the source knows is not read; every other one
        is read once, then remembered for as long as the marks of the pack's files stay
        the same.

        Raises:
            SkillError: A file cannot be read now.
        """
        key = _key(descriptor)
        known = self._known.get(key)
        if known is None:
            known = self._read(descriptor, readers)
            with self._lock:
                self._known[key] = known
        return known

    def tree(self, descriptor: Descriptor, readers: Mapping[str, Reader]) -> str:
        """Return the pack's digest, ``sha256-tree-v1:`` and 64 hex digits.

        Raises:
            SkillError: A file cannot be read now.
        """
        return tree_digest(self.resources(descriptor, readers))

    def tree_or_none(
        self, descriptor: Descriptor, readers: Mapping[str, Reader]
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
            alive = [_key(each) for each in descriptors if each.digest in digests]
            self._known = {key: known[key] for key in alive if key in known}

    def _read(
        self, descriptor: Descriptor, readers: Mapping[str, Reader]
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


def _check_unchanged(descriptor: Descriptor, reader: Reader, path: str) -> None:
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


def _key(descriptor: Descriptor) -> _Key:
    return descriptor.origin, descriptor.digest, descriptor.files
