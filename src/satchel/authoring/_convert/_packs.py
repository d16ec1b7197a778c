"""Packs of a folder, read for a conversion: whole trees, each file confined."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

from satchel.authoring._convert._dialect import rewrite
from satchel.authoring._convert._values import Conversion, Dialect, PackDraft, PackFile
from satchel.authoring._packs import found_in
from satchel.authoring._writer import some_of
from satchel.errors import SkillError
from satchel.files import escape_name, is_excluded_file, path_problem
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
    parse,
    read_frontmatter,
    spec_name_violations,
    strict_name_violations,
)
from satchel.sources import LocalSource, folder
from satchel.text import plural

_NAME_RULES: Final = {"spec": spec_name_violations, "strict": strict_name_violations}


def read_packs(root: str, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[Conversion]:
    """Yield each pack below a folder as it is, in the order of their paths.

    What no pack lists, dot-files and keys for instance, is left out with a finding, and
    so is a link. What is there and is not a pack comes last, without a draft.
    """
    source = folder(root, limits=limits)
    packs, findings = found_in(source)
    for pack in packs:
        place = str(pack.location)
        own = [finding for finding in findings if finding.path == place]
        own += [f for f in findings if f.path.startswith(f"{place}/")]
        findings = [finding for finding in findings if finding not in own]
        yield _read(source, pack, place, limits).with_findings(own)
    for finding in findings:
        yield Conversion(finding.path, None, (finding,))


def files_outside(root: str, out: str, limits: Limits) -> list[Finding]:
    """Return a note on the files below a folder that are in none of its packs.

    A folder without packs is named instead of its files. ``out`` is where packs go.
    """
    loose: list[PurePath] = []
    with_packs = {PurePath()}
    left = limits.scan_entries
    for where, folders, files in os.walk(root):
        left -= len(folders) + len(files)
        if left < 0:  # as many as are ever looked at for packs
            break
        place = PurePath(where).relative_to(root)
        if SKILL_FILE in files:
            with_packs.update(place.parents)
            folders.clear()
        elif Path(where).resolve() == Path(out).resolve():
            folders.clear()
        else:
            folders[:] = [name for name in folders if not is_excluded_file(name)]
            loose += [place / name for name in files if not is_excluded_file(name)]
    named = dict[str, None]()
    for file in sorted(loose):
        above = [f for f in reversed(file.parents) if f not in with_packs]
        named[f"{above[0].as_posix()}/" if above else file.as_posix()] = None
    if not named:
        return []
    count = f"{plural(len(loose), 'file')} {'is' if len(loose) == 1 else 'are'}"
    shown = some_of([escape_name(name) for name in named])
    return [
        Finding.of("files-left-out", root, sentence="outside", files=count, shown=shown)
    ]


def into_dialect(
    conversion: Conversion,
    dialect: Dialect | None,
    *,
    rename: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the conversion with its SKILL.md in a dialect.

    With ``rename`` the draft is named as its manifest is, and where the dialect refuses
    that name both get the nearest one that every client accepts. ``dialect`` None
    repairs what is broken, and changes no name. What else the dialect refuses is not
    looked at.
    """
    draft = conversion.draft
    if draft is None:
        return conversion
    path = f"{conversion.source}/{SKILL_FILE}"
    manifest = parse(
        draft.skill_md, profile="lenient", directory=draft.name, limits=limits
    ).manifest
    name = manifest.name if manifest else draft.name
    near = ""
    if rename and dialect is not None and any(_NAME_RULES[dialect](name)):
        near = portable_name(name)
    rewritten = rewrite(
        draft.skill_md,
        dialect,
        name=near,
        directory=draft.name,
        path=path,
        files=(file.path for file in draft.files if file.path != SKILL_FILE),
        limits=limits,
    )
    findings = [f for f in rewritten.findings if f.code not in _SETTLED]
    if near:
        file = read_frontmatter(draft.skill_md, limits)
        line = None if isinstance(file, Finding) else file.line_of("name")
        findings.append(Finding.of("pack-renamed", path, line, old=name, new=near))
    conversion = conversion.with_findings(findings)
    if rewritten.data is None:
        return replace(conversion, draft=None)
    folder_name = (near or name) if rename else draft.name
    if path_problem(folder_name) or "/" in folder_name:
        return conversion.refused(
            Finding.of(
                "unsafe-file-name",
                path,
                severity="error",
                sentence="pack",
                name=folder_name,
            )
        )
    renamed = replace(draft.with_skill_md(rewritten.data), name=folder_name)
    return replace(conversion, draft=renamed)


# A folder gets the name of its pack, and a missing name is written out.
_SETTLED: Final = frozenset(["name-not-folder", "missing-name"])


def _read(source: LocalSource, pack: Found, place: str, limits: Limits) -> Conversion:
    files: list[PackFile] = []
    try:
        for stat in pack.files or source.files(pack.key):
            is_skill_md = stat.path == SKILL_FILE
            limit = limits.skill_md_bytes if is_skill_md else limits.file_bytes
            data = source.read(pack.key, stat.path, limit)
            files.append(PackFile(stat.path, data, is_executable(place, stat)))
    except SkillError as error:
        fix = "see that every file of the pack can be read, and convert again"
        return Conversion(place, None, (Finding.of_error(error, place, fix=fix),))
    name = pack.key.rpartition("/")[2]
    files.sort(key=lambda file: file.path)
    return Conversion(place, PackDraft(name, tuple(files)))


def is_executable(place: str, stat: FileStat) -> bool:
    """Return whether the owner of a file in the folder ``place`` may execute it."""
    try:
        status = os.lstat(Path(place, stat.path))
    except OSError:
        return False
    return bool(status.st_mode & 0o100)
