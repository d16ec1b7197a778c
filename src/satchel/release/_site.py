"""A static site with releases: anybody's web server can serve it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, SkillError
from satchel.files import canonical_json, parse_release_file, render_pointer, write_file
from satchel.model import RELEASE_FILE, Finding, Release, release_path
from satchel.release._build import index_entries
from satchel.release._discovery import (
    INDEX_V1,
    INDEX_V2,
    index_v1,
    index_v2,
    plan_publication,
)
from satchel.release._folder import FILE_MODE, check_not_in_release, make_folder
from satchel.sources import ReleaseSource

_V1_FOLDER: Final = INDEX_V1.removesuffix("index.json")


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """What was put on a site: how many files were written, and how many were there.

    ``findings`` say which skills are in no discovery index.
    """

    release: Release
    written: int
    kept: int
    findings: tuple[Finding, ...] = ()


def publish(source: ReleaseSource, site: Path, *, v1: bool = False) -> PublishedRelease:
    """Put a release on a site, and make it the current one; delete nothing.

    The release goes to ``releases/<hex>/``, where it stays when others follow. Then
    release.json says that it is current, and the discovery index, which comes last,
    names its artifacts there. Each file appears whole or not at all; one that is there
    with the same bytes is not touched, so that a second time nothing changes. To go
    back, publish the earlier release.

    Args:
        source: Where the release is read from; every byte is checked.
        site: The folder of the site, made where it is missing.
        v1: Write the discovery index v0.1.0, and the files it lists, as well. On a site
            that has it already it is always written.

    Raises:
        ConfigError: ``site`` is a release itself, or lies in one, or holds such files
            of somebody else's.
        SkillError: The release cannot be read; what is current stays so.
        OSError: It cannot be written.
    """
    release = source.open()
    _check_site(site, v1=v1)
    v1 = v1 or (site / INDEX_V1).exists()
    writing = _SiteWriter(site)
    home = f"releases/{release.hex}/"
    for file in release.files:
        if file != release.document:
            writing.put(home + file.path, source.read_file(file))
    writing.put(home + RELEASE_FILE, source.read_file(release.document))
    entries = index_entries(release.skills, release.others, f"../../{home}")
    if v1:
        names = {each.name for each in entries}
        for path, data in _v1_files(source, release, names):
            writing.put(path, data)
        writing.put(INDEX_V1, canonical_json(index_v1(entries)))
    writing.put(RELEASE_FILE, render_pointer(release.id))
    writing.put(INDEX_V2, canonical_json(index_v2(entries)))
    findings = plan_publication(skill.descriptor for skill in release.skills).findings
    return PublishedRelease(release, writing.written, writing.kept, findings)


def _v1_files(
    source: ReleaseSource, release: Release, names: set[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files that v0.1.0 wants beside its index."""
    files = {file.path: file for file in release.files}
    for skill in release.skills:
        if skill.id in names:
            for each in skill.resources:
                data = source.read_file(files[release_path(skill.id, each.path)])
                yield f"{_V1_FOLDER}{skill.id}/{each.path}", data


def _check_site(site: Path, *, v1: bool) -> None:
    if site.exists() and not site.is_dir():
        raise ConfigError(str(site), "it is there, and is no folder")
    check_not_in_release(site)
    document = site / RELEASE_FILE
    try:
        found = parse_release_file(document.read_bytes(), str(document))
    except FileNotFoundError:
        for index in (INDEX_V2, INDEX_V1) if v1 else (INDEX_V2,):
            if (site / index).exists():
                detail = "it is there, and satchel has not written it; move it away"
                raise ConfigError(str(site / index), detail) from None
        return
    except SkillError as error:
        detail = f"{RELEASE_FILE} there is none of a site: {error}"
        raise ConfigError(str(site), detail) from error
    if isinstance(found, Release):
        raise ConfigError(
            str(site), "it is a release; a site wants a folder of its own"
        )


@dataclass(slots=True)
class _SiteWriter:
    """Files on their way to a site, each in one step."""

    site: Path
    written: int = 0
    kept: int = 0

    def put(self, path: str, data: bytes) -> None:
        file = self.site / path
        if _has_content(file, data):
            self.kept += 1
            return
        make_folder(file.parent)
        write_file(file, data, FILE_MODE)
        self.written += 1


def _has_content(file: Path, data: bytes) -> bool:
    try:
        return file.stat().st_size == len(data) and file.read_bytes() == data
    except OSError:
        return False
