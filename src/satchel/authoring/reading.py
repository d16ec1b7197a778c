"""Whole packs in memory: from a folder, a SKILL.md or an archive."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.catalog.allowlist import allow
from satchel.errors import ConfigError, MissingPathError
from satchel.files import digest_bytes, is_archive_name, tree_digest
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Limits,
    Manifest,
    Resource,
)
from satchel.sources import archive, folder
from satchel.spec import parse

__all__ = ["WholePack", "read_packs"]

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
        return frozenset(path for each in buckets for path in each) | {SKILL_FILE}

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
        return tree_digest(each for each in self.resources if each.path in listed)


def read_packs(place: str, *, limits: Limits = DEFAULT_LIMITS) -> tuple[WholePack, ...]:
    """Return the packs at a place, by location: a pack, its SKILL.md, more, an archive.

    Raises:
        MissingPathError: There is nothing of this name.
        ConfigError: It is a file, and none of these; or no pack is there.
        SkillError: A file cannot be read, or is larger than is accepted.
    """
    path = Path(place)
    if not os.path.lexists(path):
        raise MissingPathError(place)
    if path.is_dir():
        source = folder(place, limits=limits)
    elif path.name == SKILL_FILE:
        source = folder(os.path.dirname(place) or os.curdir, limits=limits)  # noqa: PTH120
    elif is_archive_name(path.name):
        return _from_archive(place, limits)
    else:
        want = f"want a pack, its {SKILL_FILE}, a folder of packs, or an archive"
        raise ConfigError(place, want)
    scanned = source.scan()
    findings = [each for each in scanned if isinstance(each, Finding)]
    packs: list[WholePack] = []
    for found in scanned:
        if isinstance(found, Finding):
            continue
        stats = source.files(found.key)
        root = Path(source.folder_of(found.key))
        told = [f for f in findings if _is_of(f.path, found.location)]
        packs.append(
            WholePack(
                root.name or found.key,
                found.location,
                {
                    stat.path: source.read(found.key, stat.path, _most(stat, limits))
                    for stat in stats
                },
                frozenset(stat.path for stat in stats if _runs(root / stat.path)),
                tuple(told),
            )
        )
    return _some(packs, findings, place)


def _from_archive(place: str, limits: Limits) -> tuple[WholePack, ...]:
    source = archive(place, limits=limits)
    scanned = source.scan()
    findings = [each for each in scanned if isinstance(each, Finding)]
    packs = [
        WholePack(
            found.key,
            found.location,
            {
                stat.path: source.read(found.key, stat.path, _most(stat, limits))
                for stat in source.files(found.key)
            },
            findings=tuple(findings),
        )
        for found in scanned
        if not isinstance(found, Finding)
    ]
    return _some(packs, findings, place)


def _some(
    packs: list[WholePack], findings: list[Finding], place: str
) -> tuple[WholePack, ...]:
    if packs:
        return tuple(packs)
    grave = [each for each in findings if each.severity == "error"]
    detail = grave[0].message if grave else f"there is no folder with a {SKILL_FILE}"
    raise ConfigError(place, detail)


def _is_of(path: str, location: str) -> bool:
    return path == location or path.startswith(f"{location}/")


def _most(stat: FileStat, limits: Limits) -> int:
    return limits.skill_md_bytes if stat.path == SKILL_FILE else limits.file_bytes


def _runs(file: Path) -> bool:
    try:
        return bool(file.lstat().st_mode & _EXECUTE)
    except OSError:
        return False
