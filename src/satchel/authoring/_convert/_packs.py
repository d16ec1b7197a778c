"""Packs of a folder, read for a conversion: whole trees, each file confined."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from satchel.authoring._convert._dialect import rewrite
from satchel.authoring._convert._values import Conversion, Dialect, PackDraft, PackFile
from satchel.errors import SkillError
from satchel.files import path_problem
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Limits,
    portable_name,
)
from satchel.skill_md import (
    Violation,
    parse,
    read_frontmatter,
    spec_name_violations,
    strict_name_violations,
)
from satchel.sources import LocalSource, folder

_NAME_RULES: Final = {"spec": spec_name_violations, "strict": strict_name_violations}


def read_packs(root: str, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[Conversion]:
    """Yield each pack below a folder as it is, in the order of their paths.

    What no pack lists, dot-files and keys for instance, is left out with a finding, and
    so is a link. What was met and is no pack comes last, without a draft.

    Raises:
        SourceUnavailableError: The folder cannot be listed.
    """
    source = folder(root, limits=limits)
    scanned = source.scan()
    found = [each for each in scanned if isinstance(each, Found)]
    told = [each for each in scanned if isinstance(each, Finding)]
    for pack in found:
        place = str(pack.location)
        own = [each for each in told if each.path == place]
        own += [each for each in told if each.path.startswith(f"{place}/")]
        told = [each for each in told if each not in own]
        yield _read(source, pack, place, limits).with_findings(own)
    for finding in told:
        yield Conversion(finding.path, None, (finding,))


def into_dialect(
    conversion: Conversion,
    dialect: Dialect | None,
    *,
    rename: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the conversion with its SKILL.md in a dialect.

    With ``rename`` the draft is named as its manifest is, and where the dialect refuses
    that name both get the nearest one that every client takes. ``dialect`` None mends
    what is broken, and changes no name. What else the dialect refuses is not looked at.
    """
    draft = conversion.draft
    if draft is None:
        return conversion
    path = f"{conversion.source}/{SKILL_FILE}"
    manifest = parse(
        draft.skill_md, profile="lenient", directory=draft.name, limits=limits
    ).manifest
    name = manifest.name if manifest else draft.name
    near = _nearest(name, dialect) if rename else ""
    made = rewrite(
        draft.skill_md,
        dialect,
        name=near,
        directory=draft.name,
        path=path,
        limits=limits,
    )
    found = [each for each in made.findings if each.code not in _MENDED]
    if near:
        line = _line_of_name(draft.skill_md, limits)
        found.append(_renamed(name, near, path, line))
    if made.data is None:
        return replace(conversion, draft=None).with_findings(found)
    folder_name = (near or name) if rename else draft.name
    if path_problem(folder_name) or "/" in folder_name:
        return conversion.with_findings(found).refused(_no_folder(folder_name, path))
    return replace(
        conversion.with_findings(found),
        draft=replace(draft.with_skill_md(made.data), name=folder_name),
    )


_MENDED: Final = frozenset(["name-not-folder", "missing-name"])
"""A folder gets the name of its pack, and a missing name is written out."""


def _read(source: LocalSource, pack: Found, place: str, limits: Limits) -> Conversion:
    """Read every listed file of a pack."""
    files: list[PackFile] = []
    try:
        for stat in pack.files or source.files(pack.key):
            limit = limits.skill_md_bytes
            if stat.path != SKILL_FILE:
                limit = limits.file_bytes
            data = source.read(pack.key, stat.path, limit)
            files.append(PackFile(stat.path, data, is_executable(place, stat)))
    except SkillError as error:
        finding = Finding.of_error(error, place, fix=_FIX)
        return Conversion(place, None, (finding,))
    name = pack.key.rpartition("/")[2]
    return Conversion(place, PackDraft(name, tuple(sorted(files, key=_path))))


_FIX: Final = "see that every file of the pack can be read, and convert again"


def _path(file: PackFile) -> str:
    return file.path


def is_executable(place: str, stat: FileStat) -> bool:
    """Tell whether the owner of a file in the folder ``place`` may execute it."""
    try:
        status = os.lstat(Path(place, stat.path))
    except OSError:
        return False
    return bool(status.st_mode & 0o100)


def _nearest(name: str, dialect: Dialect | None) -> str:
    """Return the portable name for one that the dialect refuses; empty to keep it."""
    if dialect is None:
        return ""
    rules = _NAME_RULES[dialect]
    broken: Violation | None = next(rules(name), None)
    return portable_name(name) if broken else ""


def _line_of_name(data: bytes, limits: Limits) -> int | None:
    opened = read_frontmatter(data, limits)
    return None if isinstance(opened, Finding) else opened.line_of("name")


def _renamed(old: str, new: str, path: str, line: int | None) -> Finding:
    return Finding.of("pack-renamed", path, line, old=old, new=new)


def _no_folder(name: str, path: str) -> Finding:
    return Finding.of(
        "unsafe-file-name", path, severity="error", sentence="pack", name=name
    )
