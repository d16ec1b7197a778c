"""Packs as other loaders find them, and the lines that cause what a loader does."""

import os.path
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from satchel.checking._library import PackFolder, PackLibrary
from satchel.clients import Candidate, PackReader
from satchel.errors import SkillError
from satchel.files import read_confined
from satchel.model import SKILL_FILE, Descriptor, Limits

_FIELDS: Final = (
    # The part of a property's key that tells the field, and the field.
    ("description", "description"),
    ("name-", "name"),
    ("-name", "name"),
    ("metadata", "metadata"),
    ("tools-", "allowed-tools"),
    ("compatibility", "compatibility"),
    ("license", "license"),
    ("triggers", "triggers"),
    ("version", "version"),
    ("tags", "tags"),
    ("hooks", "hooks"),
    ("no-model-invocation", "disable-model-invocation"),
    ("not-user-invocable", "user-invocable"),
)
_ANYWHERE: Final = ("missing-", "no-")
"""Beginnings of keys whose cause is what is not there: the top of the file."""


class ReasonLines:
    """The lines of one pack; it is read when the first is asked for."""

    def __init__(self, candidate: Candidate) -> None:
        """Take the pack."""
        self._reading = PackReader(candidate)
        self._lines: dict[str, int] | None = None

    def line(self, key: str) -> int:
        """Return the line, from 1, that brings a property about."""
        field = next((field for part, field in _FIELDS if part in key), "")
        at = self._fields().get(field)
        if at is not None:
            return at
        if not key.startswith(_ANYWHERE) and (told := self._told()):
            return told
        return 1

    def _fields(self) -> dict[str, int]:
        """Return the line of each field; of one that is there twice the last."""
        if self._lines is None:
            span = self._reading.span
            above = 0 if span is None else self._reading.text.count("\n", 0, span.head)
            self._lines = {
                entry.key: above + entry.line
                for entry in self._reading.entries
                if entry.key
            }
        return self._lines

    def _told(self) -> int | None:
        """Return the first line that reading it found fault with."""
        lines = [each.line for each in self._reading.parsed.findings if each.line]
        return min(lines, default=None)


_SKILLS: Final = "skills"
_WRONG_CASE: Final = "wrong-case-skill-file"


@dataclass(frozen=True, slots=True)
class LocatedPack:
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


class _SkillFile(NamedTuple):
    """What is in a pack: its skill file, that file's name, its other files."""

    data: bytes
    file: str
    files: tuple[str, ...] = ()


def located_packs(library: PackLibrary, limits: Limits) -> tuple[LocatedPack, ...]:
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


def _listed(library: PackLibrary, limits: Limits) -> Iterator[LocatedPack]:
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
            yield _located(place, key, common, _SkillFile(data, SKILL_FILE, files))


def _in_wrong_case(library: PackLibrary, limits: Limits) -> Iterator[LocatedPack]:
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
        yield _located(place, key, _common([key]), _SkillFile(data, file))


def _located(place: PackFolder, key: str, common: str, read: _SkillFile) -> LocatedPack:
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
    return LocatedPack(candidate, library, f"{_start(place)}{inside}{read.file}")


def _start(place: PackFolder) -> str:
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
