"""Packs as other loaders find them, and the lines that cause a verdict."""

import os.path
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from logging import getLogger
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from satchel.errors import SkillError
from satchel.files import read_confined
from satchel.model import SKILL_FILE, Descriptor, Limits
from satchel.skill_md import SPEC_FIELDS
from satchel_lab.checking._library import PackFolder, PackLibrary
from satchel_lab.clients import Candidate, PackReader

_FIELDS: Final = (
    # A part of a property's key, and the field that it is about.
    ("description", "description"),
    ("name-", "name"),
    ("-name", "name"),
    ("metadata", "metadata"),
    ("tools-underscore", "allowed_tools"),
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
_Lines: TypeAlias = tuple[int, ...]
# Beginnings of keys of what is missing: the line is the top of the file.
_ANYWHERE: Final = ("missing-", "no-")


def reason_lines(candidate: Candidate, keys: Iterable[str]) -> dict[str, _Lines]:
    """Return the lines of a pack, from 1, that cause its properties: of most one."""
    pack = PackReader(candidate)
    above = 0 if pack.span is None else pack.text.count("\n", 0, pack.span.head)
    # Of a field that is there twice the last.
    at = {entry.key: above + entry.line for entry in pack.entries if entry.key}
    lines: dict[str, _Lines] = {}
    for key in keys:
        field = next((field for part, field in _FIELDS if part in key), "")
        if key.startswith("unknown-field"):
            unknown = (line for field, line in at.items() if field not in SPEC_FIELDS)
            lines[key] = tuple(unknown) or (1,)
        elif field in at or key.startswith(_ANYWHERE):
            lines[key] = (at.get(field, 1),)
        else:
            findings = pack.parsed.findings
            lines[key] = (min((one.line for one in findings if one.line), default=1),)
    return lines


_SKILLS: Final = "skills"
_NOT_READ: Final = frozenset({"error unreadable-folder", "error limit-exceeded"})


@dataclass(frozen=True, slots=True)
class LocatedPack:
    """A pack, and the library that a loader would find it in.

    ``library`` and ``path``, the path of SKILL.md, begin with what the user named.
    """

    candidate: Candidate
    library: str
    path: str

    @property
    def pack(self) -> str:
        """The pack's folder, as it is shown."""
        return self.path.rpartition("/")[0] or self.path


class _SkillFile(NamedTuple):
    """The skill file of a pack, its name, and the other files of the pack."""

    data: bytes
    name: str
    files: tuple[str, ...] = ()


def located_packs(library: PackLibrary, limits: Limits) -> tuple[LocatedPack, ...]:
    """Return every pack below the folders of a library, in the order of their paths.

    A loader gets a folder with packs directly in it, so depth counts from there: from
    the last folder called ``skills`` in the path of a pack, else from the folder that
    all packs of a checked folder have in common.
    """
    packs = (*_listed(library, limits), *_in_wrong_case(library, limits))
    return tuple(sorted(packs, key=lambda pack: pack.path))


def _listed(library: PackLibrary, limits: Limits) -> Iterator[LocatedPack]:
    folders = {folder.shown: folder for folder in library.folders}
    by_folder: dict[str, dict[str, Descriptor]] = {}
    for pack in library.packs:
        # A loader finds every copy of a pack, so each place counts.
        for origin in pack.origins:
            by_folder.setdefault(origin.source, {})[origin.key] = pack
    for shown, packs in by_folder.items():
        common = _common(packs)
        for key, pack in packs.items():
            reader = library.catalog.readers[shown]
            try:
                data = reader.read(key, SKILL_FILE, limits.skill_md_bytes)
            except SkillError as error:
                place = pack.origin.location
                getLogger("satchel").warning("left out %s: %s", place, error)
                continue
            files = tuple(file.path for file in pack.files if file.path != SKILL_FILE)
            skill = _SkillFile(data, SKILL_FILE, files)
            yield _located(folders[shown], key, common, skill)


def _in_wrong_case(library: PackLibrary, limits: Limits) -> Iterator[LocatedPack]:
    """Yield the packs that Satchel ignores, since some loaders list them.

    Folders and packs that nobody can read are logged as left out.
    """
    for finding in library.catalog.findings:
        if f"{finding.severity} {finding.code}" in _NOT_READ:
            getLogger("satchel").warning("left out %s", finding)
        if finding.code != "wrong-case-skill-file":
            continue
        folder = next(f for f in library.folders if finding.path.startswith(_start(f)))
        inside = finding.path.removeprefix(_start(folder))
        key, _, file = inside.rpartition("/")
        try:
            data = read_confined(folder.path, inside, limits.skill_md_bytes)
        except SkillError:
            continue
        yield _located(folder, key, _common([key]), _SkillFile(data, file))


def _located(root: PackFolder, key: str, common: str, read: _SkillFile) -> LocatedPack:
    """Return the pack at ``key``; a checked folder may itself be a pack."""
    # A checked folder that is a pack has the key of its own name.
    folder = Path(root.path, key)
    if not folder.is_dir():
        folder, library, depth, inside = Path(root.path), root.shown, 1, ""
    else:
        above = _library_of(key, common)
        depth = key.removeprefix(above).strip("/").count("/") + 1
        library = f"{_start(root)}{above}".rstrip("/")
        inside = f"{key}/"
    candidate = Candidate(
        data=read.data,
        folder=Path(os.path.abspath(folder)).name,  # noqa: PTH100 - links stay
        file=read.name,
        depth=depth,
        is_link=folder.is_symlink(),
        files=read.files,
    )
    return LocatedPack(candidate, library, f"{_start(root)}{inside}{read.name}")


def _start(folder: PackFolder) -> str:
    """Return the beginning of every path in a folder, as it is shown."""
    return f"{folder.shown.rstrip('/')}/"


def _common(keys: Iterable[str]) -> str:
    """Return the folder that these packs have in common, empty for the checked one.

    Packs below a folder called ``skills`` do not count: that is their library.
    """
    folders = (key.rpartition("/")[0] for key in keys)
    above = [folder for folder in folders if _SKILLS not in folder.split("/")]
    parts = [folder.split("/") if folder else [] for folder in above]
    same = takewhile(lambda names: len({*names}) == 1, zip(*parts, strict=False))
    return "/".join(names[0] for names in same)


def _library_of(key: str, common: str) -> str:
    """Return the folder that a loader would get to find this pack."""
    above = key.split("/")[:-1]
    if _SKILLS in above:
        last = len(above) - above[::-1].index(_SKILLS)
        return "/".join(above[:last])
    return common
