"""Whole packs: into memory from a folder, a SKILL.md or an archive, and to disk."""

import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from satchel.catalog import allow
from satchel.errors import (
    AlreadyThereError,
    ConfigError,
    MissingPathError,
    NotWrittenError,
)
from satchel.files import digest_bytes, is_archive_name, staged_file, tree_digest
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
from satchel.sources import LocalSource, folder
from satchel.text import first_names
from satchel_store.archives import ArchiveSource

_EXECUTE: Final = 0o111


@dataclass(frozen=True, slots=True)
class PackDraft:
    """A pack that is ready to be written into a folder called ``name``.

    ``files`` are in the order of their paths, and SKILL.md is one of them; those of
    ``programs`` are made executable.
    """

    name: str
    files: Mapping[str, bytes]
    programs: frozenset[str] = frozenset()

    @property
    def skill_md(self) -> bytes:
        """The bytes of SKILL.md."""
        return self.files[SKILL_FILE]

    def with_skill_md(self, data: bytes) -> "PackDraft":
        """Return the draft with another SKILL.md."""
        return replace(self, files={**self.files, SKILL_FILE: data})


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
        most = {SKILL_FILE: self.limits.skill_md_bytes}
        paths = [stat.path for stat in source.files(key)]
        files = {
            path: source.read(key, path, most.get(path, self.limits.file_bytes))
            for path in paths
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


def found_in(source: LocalSource | ArchiveSource) -> tuple[list[Found], list[Finding]]:
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
            tuple(f for f in findings if is_of(f.path, pack.location)),
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
        return ArchiveSource(place, limits=limits)
    expected = f"expected a pack, its {SKILL_FILE}, a folder of packs, or an archive"
    raise ConfigError(place, expected)


def is_of(path: str, location: str) -> bool:
    return path == location or path.startswith(f"{location}/")


def _is_executable(file: Path) -> bool:
    try:
        return bool(file.lstat().st_mode & _EXECUTE)
    except OSError:
        return False


_READ: Final = 0o444


@contextmanager
def staged_folder(
    parent: Path, files: Mapping[str, bytes], programs: Collection[str] = ()
) -> Generator[Path, None, None]:
    """Make a folder with these files in a temporary one in ``parent``.

    The block renames it to where it belongs; what is left goes away with the temporary
    folder. ``programs`` are the paths that anyone who may read them can execute.
    """
    parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, so that the rename stays on one file system.
    staging = Path(tempfile.mkdtemp(prefix=".satchel-", dir=parent))
    try:
        folder = staging / "new"
        folder.mkdir()
        for path, data in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            # Two names may be one file here, and neither may overwrite the other.
            with file.open("xb") as out:
                out.write(data)
            if path in programs:
                mode = file.stat().st_mode
                # Each read bit, shifted by two, is the execute bit of the same class.
                file.chmod(mode | (mode & _READ) >> 2)
        yield folder
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def new_folder(
    folder: Path, files: Mapping[str, bytes], programs: Collection[str] = ()
) -> None:
    """Make a folder with these files by path, those of ``programs`` executable."""
    try:
        if os.path.lexists(folder):
            if folder.is_symlink() or not folder.is_dir():
                raise AlreadyThereError(str(folder), "it is not a folder")
            names = sorted(entry.name for entry in folder.iterdir())
            if names:
                raise AlreadyThereError(str(folder), first_names(names))
        with staged_folder(folder.parent, files, programs) as new:
            if folder.is_dir():
                folder.rmdir()  # fails if another program has put something in it
            new.rename(folder)
    except OSError as error:
        raise _not_written(folder, error) from error


def put_file(file: Path, data: bytes, *, over: bytes | None = None) -> None:
    """Put a whole file in its place; the mode of an earlier one stays.

    A free place is taken first, so that a file that appears meanwhile is not lost.
    """
    taken, place = False, file
    try:
        place = file.resolve() if over is not None else file
        mode = None
        if over is None:
            if os.path.lexists(file):
                raise AlreadyThereError(str(file))
            place.parent.mkdir(parents=True, exist_ok=True)
        elif file.read_bytes() != over:
            raise AlreadyThereError(str(file), "it changed a moment ago")
        else:
            mode = stat.S_IMODE(place.stat().st_mode)
        with staged_file(place, data, mode):
            if over is None:
                # A rename overwrites silently, so the name is taken first.
                _take(place)
                taken = True
        taken = False
    except OSError as error:
        raise _not_written(file, error) from error
    finally:
        if taken:  # the place was taken, and the file itself could not follow
            with suppress(OSError):
                place.unlink()


def _take(place: Path) -> None:
    try:
        place.touch(exist_ok=False)
    except FileExistsError as error:
        raise AlreadyThereError(str(place)) from error


def _not_written(place: Path, error: OSError) -> NotWrittenError:
    return NotWrittenError(str(place), error.strerror or str(error))
