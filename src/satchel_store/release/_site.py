"""A release as a folder, written whole, and a static site with releases."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.errors import ConfigError, SkillError
from satchel.files import naming, write_file
from satchel.model import RELEASE_FILE, Finding
from satchel.protocols import SkillSource, with_abilities
from satchel_store.release._build import (
    BuiltRelease,
    WriteFile,
    build_release,
    index_entries,
)
from satchel_store.release._discovery_index import (
    INDEX_V1,
    INDEX_V2,
    index_v1,
    index_v2,
)
from satchel_store.release._document import canonical_json
from satchel_store.release._format import (
    parse_release,
    parse_release_file,
    render_pointer,
)
from satchel_store.release._publication import plan_publication
from satchel_store.release._release import Release, release_path
from satchel_store.release._source import ReleaseSource

if TYPE_CHECKING:
    from satchel.runtime import Satchel


FILE_MODE: Final = 0o644


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; folders that exist keep their mode."""
    folders = [folder, *folder.parents]
    missing = folders[: next(n for n, one in enumerate(folders) if one.is_dir())]
    for path in reversed(missing):
        try:
            path.mkdir()
        except FileExistsError:
            continue  # another process was faster
        # `mkdir` obeys the umask, so the mode would depend on the machine.
        path.chmod(0o755)


def build_folder(
    skills: "Satchel", out: Path, *, allow_findings: bool = False
) -> BuiltRelease:
    """Build a release and put it at ``out``; if it is refused, nothing changes.

    It replaces a release that is there. That takes two renames: a crash between them
    leaves the old one next to ``out``, in a folder ``.satchel-…``.

    Raises:
        ConfigError: ``out`` exists and is not a release; or it is in a folder that the
            skills come from, where they would be found twice; or in another release.
        RefusedReleaseError: As for `build_release`.
        OSError: It cannot be written.
    """
    _check_target(out, skills)
    with naming(out):
        with suppress(FileExistsError):  # if it is a file, the next line says so
            out.parent.mkdir(parents=True)
        # Next to `out`, since a rename cannot lead to another file system.
        making = Path(tempfile.mkdtemp(prefix=".satchel-", dir=out.parent))
    try:
        new = making / "new"
        make_folder(new)
        built = build_release(skills, folder_writer(new), allow_findings=allow_findings)
        _check_target(out, skills)  # another process may have written there
        _swap_folders(new, out, making / "old")
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return built


def folder_writer(folder: Path) -> WriteFile:
    """Return a function that writes files into a folder of its own."""

    def put(path: str, data: bytes) -> None:
        file = folder / path
        make_folder(file.parent)
        with naming(file), file.open("xb") as out:
            out.write(data)
        file.chmod(FILE_MODE)

    return put


def _swap_folders(new: Path, out: Path, old: Path) -> None:
    if not out.exists():
        new.rename(out)
        return
    # A folder with files in it cannot be replaced by one rename.
    out.rename(old)
    try:
        new.rename(out)
    except OSError:
        # What was there may be in use: without this nothing would be in its place.
        old.rename(out)
        raise


def check_not_in_sources(out: Path, skills: "Satchel") -> None:
    """Raise `ConfigError` if ``out`` is in a folder that the skills come from."""
    # The next sync would find the skills there as well.
    whole = out.resolve()
    for source in skills.registry.sources.values():
        root = with_abilities(source).root
        if root and whole.is_relative_to(Path(root).resolve()):
            detail = f"it is in {source.label}, where the skills come from"
            raise ConfigError(str(out), f"{detail}; choose a folder outside of it")


def check_not_in_release(out: Path) -> None:
    """Raise `ConfigError` if ``out`` is in a release, whose digest would be wrong."""
    for folder in out.resolve().parents:
        try:
            data = (folder / RELEASE_FILE).read_bytes()
            release = parse_release_file(data, str(folder))
        except (OSError, SkillError):  # not there, or of another program
            continue
        if isinstance(release, Release):
            detail = f"it is in the release {folder.name!r}"
            raise ConfigError(str(out), f"{detail}; choose a folder outside of it")


def _check_target(out: Path, skills: "Satchel") -> None:
    check_not_in_sources(out, skills)
    check_not_in_release(out)
    # A rename would replace the link, not the folder that it leads to.
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ConfigError(str(out), "it exists, and is not a folder")
    if out.is_dir() and any(out.iterdir()):
        _check_only_release_files(out)


def _check_only_release_files(out: Path) -> None:
    """Raise `ConfigError` if ``out`` has files that are not of its release."""
    document = out / RELEASE_FILE
    try:
        release = parse_release(document.read_bytes(), str(document))
    except FileNotFoundError:
        raise ConfigError(str(out), "it exists, and is not a release") from None
    except SkillError as error:
        detail = f"it exists, and is not a release: {error}"
        raise ConfigError(str(out), detail) from error
    released = {file.path for file in release.files}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if (path.is_symlink() or not path.is_dir()) and name not in released:
            detail = f"{name} is not a file of the release that is there; move it away"
            raise ConfigError(str(out), detail)


_V1_FOLDER: Final = INDEX_V1.removesuffix("index.json")


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """What was published: how many files were written, and how many were there.

    ``findings`` say which skills are in no discovery index, ``left_out`` what the
    release lacks if it was built for this.
    """

    release: Release
    written: int
    unchanged: int
    findings: tuple[Finding, ...] = ()
    left_out: tuple[Mapping[str, str], ...] = ()


def publish(source: SkillSource, site: Path, *, v1: bool = False) -> PublishedRelease:
    """Put a release on a site, and make it the current one; delete nothing.

    The release goes to ``releases/<hex>/`` and stays there. Then release.json names it
    as the current one, and the discovery index, written last, names its artifacts. Each
    file appears whole or not at all. A file with the same bytes is not touched, so a
    second call changes nothing. To go back, publish the earlier release.

    Args:
        source: A release, of `satchel.sources.released`; every byte is checked.
        site: The folder of the site; made if it is missing.
        v1: Also write the discovery index v0.1.0, and the files that it lists. On a
            site that has this index it is always written.

    Raises:
        ConfigError: ``source`` is no release; ``site`` is one, or in one, or has a
            release.json or an index that Satchel has not written.
        SkillError: The release cannot be read; the current one stays.
        OSError: It cannot be written.
    """
    if not isinstance(source, ReleaseSource):
        place = str(getattr(source, "label", source))
        raise ConfigError(place, "no release; open it with satchel.sources.released")
    release = source.open()
    _check_site(site, v1=v1)
    # An index that is left behind would list skills that are gone.
    v1 = v1 or (site / INDEX_V1).exists()
    writer = _SiteWriter(site)
    home = f"releases/{release.hex}/"
    # release.json comes last, so that a folder that has one is complete.
    for file in release.files:
        if file != release.document:
            writer.put(home + file.path, source.read_file(file))
    writer.put(home + RELEASE_FILE, source.read_file(release.document))
    entries = index_entries(release.skills, release.others, f"../../{home}")
    if v1:
        names = {entry.name for entry in entries}
        for path, data in _v1_files(source, release, names):
            writer.put(path, data)
        writer.put(INDEX_V1, canonical_json(index_v1(entries)))
    # After the files that they name, so that a reader finds all of them.
    writer.put(RELEASE_FILE, render_pointer(release.id))
    writer.put(INDEX_V2, canonical_json(index_v2(entries)))
    findings = plan_publication(skill.descriptor for skill in release.skills).findings
    return PublishedRelease(release, writer.written, writer.unchanged, findings)


def _v1_files(
    source: ReleaseSource, release: Release, names: set[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files that v0.1.0 expects next to its index."""
    files = {file.path: file for file in release.files}
    for skill in release.skills:
        if skill.id in names:
            for resource in skill.resources:
                data = source.read_file(files[release_path(skill.id, resource.path)])
                yield f"{_V1_FOLDER}{skill.id}/{resource.path}", data


def _check_site(site: Path, *, v1: bool) -> None:
    if site.exists() and not site.is_dir():
        raise ConfigError(str(site), "it exists, and is not a folder")
    check_not_in_release(site)
    document = site / RELEASE_FILE
    try:
        release = parse_release_file(document.read_bytes(), str(document))
    except FileNotFoundError:
        for index in (INDEX_V2, INDEX_V1) if v1 else (INDEX_V2,):
            if (site / index).exists():
                detail = "it exists, and satchel has not written it; move it away"
                raise ConfigError(str(site / index), detail) from None
        return
    except SkillError as error:
        detail = f"its {RELEASE_FILE} is not that of a site: {error}"
        raise ConfigError(str(site), detail) from error
    if isinstance(release, Release):
        detail = "it is a release; a site needs a folder of its own"
        raise ConfigError(str(site), detail)


@dataclass(slots=True)
class _SiteWriter:
    """Writes the files of a site, each in one step, and counts them."""

    site: Path
    written: int = 0
    unchanged: int = 0

    def put(self, path: str, data: bytes) -> None:
        file = self.site / path
        if _has_content(file, data):
            self.unchanged += 1
            return
        make_folder(file.parent)
        write_file(file, data, FILE_MODE)
        self.written += 1


def _has_content(file: Path, data: bytes) -> bool:
    try:
        # The size first: it saves reading most files that differ.
        return file.stat().st_size == len(data) and file.read_bytes() == data
    except OSError:
        return False
