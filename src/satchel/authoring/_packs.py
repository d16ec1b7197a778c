"""Whole packs in memory: from a folder, a SKILL.md or an archive."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.catalog import allow
from satchel.errors import ConfigError, MissingPathError
from satchel.files import digest_bytes, is_archive_name, tree_digest
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
    Resource,
)
from satchel.skill_md import parse
from satchel.sources import ArchiveSource, LocalSource, archive, folder

_EXECUTE: Final = 0o111


@dataclass(frozen=True, slots=True)
class WholePack:
    """One pack with the bytes of all its files, but for those that no pack hands out.

    ``folder`` is the folder's name, ``location`` the place as the user wrote it.
    ``programs`` are the files that are executable there. ``findings`` are of the pack
    as a tree of files, with paths that begin with ``location``.
    """

    folder: str
    location: str
    files: Mapping[str, bytes]
    programs: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()

    @property
    def skill_md(self) -> bytes:
        """The raw SKILL.md."""
        return self.files[SKILL_FILE]

    @property
    def manifest(self) -> Manifest | None:
        """What SKILL.md says, in profile ``lenient``; None where nothing."""
        return parse(self.skill_md, profile="lenient", directory=self.folder).manifest

    @property
    def name(self) -> str:
        """The manifest's name, else the folder's."""
        manifest = self.manifest
        return manifest.name if manifest else self.folder

    @property
    def listed(self) -> frozenset[str]:
        """The paths that a load may hand out: SKILL.md, and what its manifest lists."""
        manifest = self.manifest or Manifest(name=self.folder, description="")
        stats = tuple(FileStat(path, len(data)) for path, data in self.files.items())
        paths = allow(manifest, stats)
        buckets = (paths.references, paths.scripts, paths.assets, paths.others)
        return frozenset(path for bucket in buckets for path in bucket) | {SKILL_FILE}

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Path, digest and size of every file, sorted by path."""
        return tuple(
            Resource(path, digest_bytes(data), len(data))
            for path, data in sorted(self.files.items())
        )

    @property
    def digest(self) -> str:
        """The digest of the skill, as a catalog has it: of the listed files."""
        listed = self.listed
        return tree_digest(file for file in self.resources if file.path in listed)


@dataclass(frozen=True, slots=True)
class PackLocation:
    """A pack in its source, of which nothing was read yet.

    ``findings`` are of the pack as a tree of files.
    """

    source: LocalSource | ArchiveSource
    pack: Found
    findings: tuple[Finding, ...]
    limits: Limits

    @property
    def location(self) -> str:
        """The place as the user wrote it."""
        return self.pack.location

    @property
    def name(self) -> str:
        """The manifest's name, else the folder's; only SKILL.md is read for it."""
        data = self.source.manifest(self.pack.key)
        return WholePack(self._folder, self.location, {SKILL_FILE: data}).name

    def read(self) -> WholePack:
        """Return the pack with the bytes of all its files."""
        source, key = self.source, self.pack.key
        stats = source.files(key)
        files = {
            stat.path: source.read(key, stat.path, self._most(stat)) for stat in stats
        }
        programs: frozenset[str] = frozenset()
        if isinstance(source, LocalSource):
            root = Path(source.folder_of(key))
            programs = frozenset(path for path in files if _is_executable(root / path))
        return WholePack(self._folder, self.location, files, programs, self.findings)

    @property
    def _folder(self) -> str:
        source, key = self.source, self.pack.key
        if isinstance(source, LocalSource):
            return Path(source.folder_of(key)).name or key
        return key

    def _most(self, stat: FileStat) -> int:
        if stat.path == SKILL_FILE:
            return self.limits.skill_md_bytes
        return self.limits.file_bytes


def found_in(
    source: LocalSource | ArchiveSource,
) -> tuple[list[Found], list[Finding]]:
    """Return the packs of a source, and the findings of its scan."""
    entries = tuple(source.scan())
    findings = [entry for entry in entries if isinstance(entry, Finding)]
    return [entry for entry in entries if not isinstance(entry, Finding)], findings


def find_packs(
    place: str, *, limits: Limits = DEFAULT_LIMITS
) -> tuple[PackLocation, ...]:
    """Return the packs at a place: a pack, SKILL.md, a folder of them, an archive."""
    source = _open(place, limits)
    packs, findings = found_in(source)
    if not packs:
        errors = [finding for finding in findings if finding.severity == "error"]
        nothing = f"there is no folder with a {SKILL_FILE}"
        raise ConfigError(place, errors[0].message if errors else nothing)
    return tuple(
        PackLocation(
            source,
            pack,
            tuple(f for f in findings if _is_of(f.path, pack.location)),
            limits,
        )
        for pack in packs
    )


def _open(place: str, limits: Limits) -> LocalSource | ArchiveSource:
    path = Path(place)
    if not os.path.lexists(path):
        raise MissingPathError(place)
    if path.is_dir():
        return folder(place, limits=limits)
    # The file means its folder: a pack is more than its SKILL.md.
    if path.name == SKILL_FILE:
        return folder(os.path.dirname(place) or os.curdir, limits=limits)  # noqa: PTH120
    if is_archive_name(path.name):
        return archive(place, limits=limits)
    expected = f"expected a pack, its {SKILL_FILE}, a folder of packs, or an archive"
    raise ConfigError(place, expected)


def _is_of(path: str, location: str) -> bool:
    return path == location or path.startswith(f"{location}/")


def _is_executable(file: Path) -> bool:
    try:
        return bool(file.lstat().st_mode & _EXECUTE)
    except OSError:
        return False
