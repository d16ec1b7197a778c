"""Packs as other loaders meet them: where each lies, its file's name, its bytes."""

import os.path
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from satchel.compat import Candidate
from satchel.errors import SkillError
from satchel.files import read_confined
from satchel.model import SKILL_FILE, Descriptor, Limits
from satchel.runtime.library import Library, Place

__all__ = ["Met", "candidates_in"]

_SKILLS: Final = "skills"
_WRONG_CASE: Final = "wrong-case-skill-file"


@dataclass(frozen=True, slots=True)
class Met:
    """A pack, and the library that a loader would find it in.

    ``library`` and ``path`` begin with what the user named; ``path`` is that of the
    pack's SKILL.md.
    """

    candidate: Candidate
    library: str
    path: str

    @property
    def pack(self) -> str:
        """The pack's folder, as it is shown."""
        return self.path.rpartition("/")[0] or self.path


class _Read(NamedTuple):
    """What is in a pack: its skill file, that file's name, its other files."""

    data: bytes
    file: str
    files: tuple[str, ...] = ()


def candidates_in(library: Library, limits: Limits) -> tuple[Met, ...]:
    """Return every pack below the places of a library, in the order of their paths.

    A library is a folder that packs lie right in. Loaders are pointed at such a folder,
    so depth counts from it: from the last folder called ``skills`` on a pack's way,
    else from the folder that all the packs of a place have in common.
    """
    found = [
        *_listed(library, limits),
        *_in_wrong_case(library, limits),
    ]
    return tuple(sorted(found, key=lambda met: met.path))


def _listed(library: Library, limits: Limits) -> Iterator[Met]:
    places = {place.shown: place for place in library.places}
    by_place: dict[str, dict[str, Descriptor]] = {}
    for pack in library.packs:
        for origin in pack.origins:
            by_place.setdefault(origin.source, {})[origin.key] = pack
    for shown, packs in by_place.items():
        place = places[shown]
        common = _common(packs)
        for key, pack in packs.items():
            reader = library.catalog.readers[shown]
            try:
                data = reader.read(key, SKILL_FILE, limits.skill_md_bytes)
            except SkillError:  # the check without --for says so
                continue
            files = tuple(each.path for each in pack.files if each.path != SKILL_FILE)
            yield _met(place, key, common, _Read(data, SKILL_FILE, files))


def _in_wrong_case(library: Library, limits: Limits) -> Iterator[Met]:
    """Yield the packs that Satchel passes by, for some loaders do not."""
    for finding in library.catalog.findings:
        if finding.code != _WRONG_CASE:
            continue
        place = next(p for p in library.places if finding.path.startswith(_start(p)))
        inside = finding.path.removeprefix(_start(place))
        key, _, file = inside.rpartition("/")
        try:
            data = read_confined(place.folder, inside, limits.skill_md_bytes)
        except SkillError:
            continue
        yield _met(place, key, _common([key]), _Read(data, file))


def _met(place: Place, key: str, common: str, read: _Read) -> Met:
    """Put together what is known of the pack at ``key``; a place may be a pack."""
    folder = Path(place.folder, key)
    if not folder.is_dir():
        folder, library, depth, inside = Path(place.folder), place.shown, 1, ""
    else:
        above = _library_of(key, common)
        depth = key.removeprefix(above).strip("/").count("/") + 1
        library = f"{_start(place)}{above}".rstrip("/")
        inside = f"{key}/"
    candidate = Candidate(
        data=read.data,
        folder=Path(os.path.abspath(folder)).name,  # noqa: PTH100 - links stay
        file=read.file,
        depth=depth,
        is_link=folder.is_symlink(),
        files=read.files,
    )
    return Met(candidate, library, f"{_start(place)}{inside}{read.file}")


def _start(place: Place) -> str:
    """Return what every path in a place begins with, as it is shown."""
    return f"{place.shown.rstrip('/')}/"


def _common(keys: Iterable[str]) -> str:
    """Return the folder that these packs have in common, empty for the place itself.

    Those below a folder called ``skills`` do not count: they have their library.
    """
    folders = (key.rpartition("/")[0] for key in keys)
    above = [each for each in folders if _SKILLS not in each.split("/")]
    parts = [folder.split("/") if folder else [] for folder in above]
    shared: list[str] = []
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared)


def _library_of(key: str, common: str) -> str:
    """Return the folder that a loader would be pointed at to find this pack."""
    above = key.split("/")[:-1]
    if _SKILLS in above:
        last = len(above) - above[::-1].index(_SKILLS)
        return "/".join(above[:last])
    return common
