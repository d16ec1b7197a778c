"""A static site with releases, for any web server."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, SkillError
from satchel.files import (
    INDEX_V1,
    INDEX_V2,
    canonical_json,
    index_v1,
    index_v2,
    parse_release_file,
    render_pointer,
    write_file,
)
from satchel.model import RELEASE_FILE, Finding, Release, release_path
from satchel.release._build import index_entries
from satchel.release._folder import FILE_MODE, check_not_in_release, make_folder
from satchel.release._publication import plan_publication
from satchel.sources import ReleaseSource

_V1_FOLDER: Final = INDEX_V1.removesuffix("index.json")


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """What was published: how many files were written, and how many were there.

    ``findings`` say which skills are in no discovery index.
    """

    release: Release
    written: int
    unchanged: int
    findings: tuple[Finding, ...] = ()


def publish(source: ReleaseSource, site: Path, *, v1: bool = False) -> PublishedRelease:
    """Put a release on a site, and make it the current one; delete nothing.

    The release goes to ``releases/<hex>/`` and stays there. Then release.json names it
    as the current one, and the discovery index, written last, names its artifacts. Each
    file appears whole or not at all. A file with the same bytes is not touched, so a
    second call changes nothing. To go back, publish the earlier release.

    Args:
        source: Where the release is read from; every byte is checked.
        site: The folder of the site; made if it is missing.
        v1: Also write the discovery index v0.1.0, and the files that it lists. On a
            site that has this index it is always written.

    Raises:
        ConfigError: ``site`` is a release or is in one, or has a release.json or an
            index that Satchel has not written.
        SkillError: The release cannot be read; the current one stays.
        OSError: It cannot be written.
    """
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
