"""Mend the packs of a library, on disk."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator

from satchel.errors import NotWrittenError, SkillError
from satchel.files.replacing import replace_file
from satchel.lint.fixes import FIXABLE
from satchel.lint.fixing import Fix, fix_skill
from satchel.model import SKILL_FILE, Finding, Limits
from satchel.runtime.library import Library
from satchel.spec import Profile

__all__ = ["plan_fixes", "write_fixes"]


def plan_fixes(
    library: Library, findings: Iterable[Finding], profile: Profile, limits: Limits
) -> tuple[Fix, ...]:
    """Return how each SKILL.md with a finding that can be mended is mended.

    Nothing is written. A pack that a link leads to, out of its place, is left alone:
    it is another's.
    """
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code in FIXABLE:
            by_path[finding.path].append(finding)
    return tuple(_plans(library, by_path, profile, limits)) if by_path else ()


def _plans(
    library: Library,
    by_path: dict[str, list[Finding]],
    profile: Profile,
    limits: Limits,
) -> Iterator[Fix]:
    roots = [
        os.path.realpath(place.folder)
        for place in library.places
        if os.path.isdir(place.folder)  # noqa: PTH112 - an archive is made, not mended
    ]
    for pack in sorted(library.packs, key=lambda pack: pack.origin.location):
        origin = pack.origin
        path = f"{origin.location}/{SKILL_FILE}"
        if path not in by_path or not _lies_in(origin.location, roots):
            continue
        reader = library.reader(pack)
        try:
            data = reader.read(origin.key, SKILL_FILE, limits.skill_md_bytes)
            files = pack.files or tuple(reader.files(origin.key))
        except SkillError:
            continue
        fix = fix_skill(
            data,
            tuple(by_path[path]),
            path=path,
            folder=origin.key.rpartition("/")[2],
            files=tuple(file.path for file in files),
            profile=profile,
            limits=limits,
        )
        if fix is not None:
            yield fix


def write_fixes(fixes: Iterable[Fix]) -> Iterator[NotWrittenError]:
    """Write each file as a whole; yield why one was not written."""
    for fix in fixes:
        try:
            replace_file(fix.path, fix.before, fix.after)
        except NotWrittenError as error:
            yield error
        except OSError as error:
            yield NotWrittenError(fix.path, error.strerror or str(error))


def _lies_in(location: str, roots: list[str]) -> bool:
    place = os.path.realpath(location)
    return any(place == root or place.startswith(f"{root}{os.sep}") for root in roots)
