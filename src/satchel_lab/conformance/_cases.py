"""The packs that a loader is tried on, and the good ones next to them."""

import re
import stat
import unicodedata
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

from satchel.model import portable_name
from satchel.skill_md import fold, parse
from satchel_lab.clients import (
    PROPERTIES,
    Candidate,
    LoaderVerdict,
    PackReader,
    ShownEntry,
)
from satchel_lab.conformance._packs import FIRST, NAME, PACKS, pack
from satchel_lab.hostile import GOOD_DESCRIPTION, GOOD_NAME, HostilePack, hostile_packs

NEIGHBOURS: Final = ("aa-good-neighbour", "zz-good-neighbour")
"""They stand before and behind a pack in every order that loaders go by."""

_ALIKE_CHARS: Final = 100
"""Texts that agree so far, the one shorter than the other, are the same one, cut."""

_GROUP: Final = "group"
_ELSEWHERE: Final = "_elsewhere"


@dataclass(frozen=True, slots=True)
class Expected:
    """What is right: the names it may have, and its description, None for none."""

    names: frozenset[str]
    description: str | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and what is listed where that is not what the pack says."""

    verdict: LoaderVerdict
    shown: ShownEntry | None = None


def names_of(declared: str, folder: str) -> frozenset[str]:
    """Return the names that count as the pack's own."""
    plain = {name.strip() for name in (declared, folder) if name.strip()}
    normal = {unicodedata.normalize("NFKC", name) for name in plain}
    return frozenset(plain | normal | set(map(portable_name, plain)))


def expected_of(candidate: Candidate) -> Expected:
    """Return what Satchel reads; where it refuses a reference in YAML, its lines."""
    reading = PackReader(candidate)
    manifest = reading.parsed.manifest
    if manifest is not None:
        declared = reading.source("name") or manifest.name
        names = names_of(declared, candidate.folder) | names_of(manifest.name, "")
        return Expected(names, manifest.description)
    written = {entry.key: fold(entry.value, entry.more) for entry in reading.entries}
    names = names_of(written.get("name", ""), candidate.folder)
    if reading.problem in {"yaml-anchor", "yaml-alias", "yaml-tag"}:
        return Expected(names, written.get("description"))
    return Expected(names, None)


def write_library(
    library: Path, candidate: Candidate, *, with_neighbours: bool
) -> None:
    """Write one pack, and good ones next to it, into an empty folder."""
    if with_neighbours:
        for name in NEIGHBOURS:
            text = f"---\nname: {name}\ndescription: A good neighbour.\n---\n\n# Good\n"
            _write(library / name, "SKILL.md", text.encode())
    inside = library.joinpath(*[_GROUP] * (candidate.depth - 1))
    place = inside / candidate.folder
    if candidate.is_link:
        real = library.with_name(library.name + _ELSEWHERE) / candidate.folder
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(real, target_is_directory=True)
        place = real
    _write(place, candidate.file, candidate.data)
    for name in candidate.files:
        _write(place, name, b"text\n")


def _write(folder: Path, name: str, data: bytes) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def judge(
    listed: Collection[tuple[str, str | None]],  # names and descriptions
    expected: Expected,
) -> Judged:
    """Return the verdict on what was listed next to good neighbours."""
    names = {name for name, _ in listed}
    if not names.issuperset(NEIGHBOURS):
        return Judged("breaks-neighbours")
    own = [pair for pair in listed if pair[0] not in NEIGHBOURS]
    if not own:
        return Judged("dropped")
    return min(
        (_judge_pair(pair, expected) for pair in own),
        key=lambda judged: ("loaded", "cut", "wrong").index(judged.verdict),
    )


def _judge_pair(pair: tuple[str, str | None], expected: Expected) -> Judged:
    name, description = pair
    shown = ShownEntry(name, description)
    if name.strip() not in expected.names or expected.description is None:
        return Judged("wrong", shown)
    if description is None:
        return Judged("loaded")
    right, listed = _folded(expected.description), _folded(description)
    if listed == right:
        return Judged("loaded", shown)
    return Judged("cut" if _is_part(listed, right) else "wrong", shown)


def _is_part(shown: str, right: str) -> bool:
    """Whether it is the beginning; some put a notice where they cut, or in between."""
    start = shown.rstrip(".… ")
    if start and right.startswith(start):
        return True
    return len(shown) < len(right) and shown[:_ALIKE_CHARS] == right[:_ALIKE_CHARS]


def _folded(text: str) -> str:
    return " ".join(text.split())


# The specification leaves open what these are: a loader may take them or not, and say
# so or not. Of `name` it says that it has letters, of `12` YAML says that it has none.
_OPEN: Final = re.compile(
    r"lower-case-file|(deeply-)?nested|linked-folder|huge-body|byte-order-mark|dots-.*"
    r"|name-(odd-)?number|(name|description|metadata)-(number|boolean|date)"
    r"|license-number|control-character-in-body|no-model-invocation|not-user-invocable"
)
# What these put in a library is one SKILL.md that somebody meant to be a skill.
_SHOWN_BYTES: Final = 1500
_SKILLS: Final = frozenset(["crash", "bomb", "encoding"])


@dataclass(frozen=True, slots=True)
class PackCase:
    """A pack of the truth table."""

    name: str
    candidate: Candidate

    @property
    def about(self) -> str:
        """What is special about it."""
        one = PROPERTIES.get(self.name.partition("/")[0])
        return one.about if one else "a plain pack"

    @property
    def neighbours(self) -> Mapping[str, str]:
        """The good packs next to it, with their descriptions."""
        return dict.fromkeys(NEIGHBOURS, "A good neighbour.")

    @property
    def is_open(self) -> bool:
        """Whether the specification leaves open what it is."""
        return bool(_OPEN.fullmatch(self.name.partition("/")[0]))

    @property
    def is_valid(self) -> bool:
        """Whether the specification allows all that is in it."""
        one = parse(
            self.candidate.data, profile="spec", directory=self.candidate.folder
        )
        return not any(finding.severity == "error" for finding in one.findings)

    @property
    def expected(self) -> Expected:
        """What is right about it."""
        return expected_of(self.candidate)

    @property
    def is_skill(self) -> bool:
        """Whether somebody meant it to be a skill."""
        return bool(PackReader(self.candidate).text.strip())

    def write(self, folder: Path, *, with_neighbours: bool) -> Path:
        """Return a library that has it."""
        library = folder / "library"
        library.mkdir()
        write_library(library, self.candidate, with_neighbours=with_neighbours)
        return library


@dataclass(frozen=True, slots=True)
class HostileCase:
    """A hostile pack, of which nothing is expected but that it does no harm."""

    pack: HostilePack

    @property
    def name(self) -> str:
        """Its name, and its kind."""
        return f"{self.pack.kind}/{self.pack.name}"

    @property
    def about(self) -> str:
        """What it does."""
        return self.pack.what

    @property
    def neighbours(self) -> Mapping[str, str]:
        """The good pack next to it, with its description."""
        return {GOOD_NAME: GOOD_DESCRIPTION}

    @property
    def is_twin(self) -> bool:
        """Whether it takes the name of the good one."""
        return self.pack.name.startswith("double-")

    @property
    def is_skill(self) -> bool:
        """Whether somebody meant it to be a skill."""
        return self.pack.kind in _SKILLS

    def write(self, folder: Path, *, with_neighbours: bool) -> Path:
        """Return a library that has it.

        Raises:
            CannotMake: This system, or this user, cannot have such a pack.
        """
        return self.pack.make(folder, alone=not with_neighbours)


LoaderCase: TypeAlias = PackCase | HostileCase

PLAIN: Final = PackCase("plain", pack(FIRST, folder=NAME))


def all_cases() -> tuple[LoaderCase, ...]:
    """Return all packs, those of the truth table first; each name is unique."""
    truth = (
        PackCase(f"{key}/{at}" if at else key, candidate)
        for key, packs in PACKS.items()
        for at, candidate in enumerate(packs)
    )
    return tuple(chain(truth, map(HostileCase, hostile_packs())))


_MANIFESTS: Final = tuple(f"{way}[Ss][Kk]*.md" for way in ("", "*/", "*/*/"))


@dataclass(frozen=True, slots=True)
class ShownPack:
    """What a pack is, for a report: the text of its SKILL.md, and how large it is."""

    text: str = ""
    size_bytes: int = field(default=1 << 40)


def shown_of(library: Path, case: LoaderCase) -> ShownPack:
    """Return the smallest regular SKILL.md that is not a neighbour's."""
    # Some packs are links out; a report shows no file of the machine.
    best, home = ShownPack(), library.parent.resolve()
    with suppress(OSError):
        for folder in sorted(library.iterdir())[:5]:
            if folder.name in case.neighbours:
                continue
            for name in _MANIFESTS:
                for place in sorted(folder.glob(name))[:5]:
                    if place.resolve().is_relative_to(home):
                        best = min(best, _read(place), key=lambda one: one.size_bytes)
    return best


def _read(place: Path) -> ShownPack:
    status = place.lstat()
    if not stat.S_ISREG(status.st_mode):
        return ShownPack()
    with place.open("rb") as file:
        data = file.read(_SHOWN_BYTES)
    return ShownPack(data.decode("utf-8", "replace"), status.st_size)
