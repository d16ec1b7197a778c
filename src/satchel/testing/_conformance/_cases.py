"""The packs that a loader is tried on, and the good ones next to them."""

import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

from satchel.clients import PROPERTIES, Candidate, PackReader
from satchel.skill_md import parse
from satchel.testing._conformance._judging import (
    NEIGHBOURS,
    Expected,
    expected_of,
    write_library,
)
from satchel.testing._conformance._packs import FIRST, NAME, PACKS, pack
from satchel.testing.hostile import (
    GOOD_DESCRIPTION,
    GOOD_NAME,
    CannotMake,
    HostilePack,
    hostile_packs,
)

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
        if with_neighbours:
            return self.pack.make(folder)
        library = folder / "library"
        library.mkdir()
        try:
            self.pack.writes(library)
        except (OSError, UnicodeError) as error:
            raise CannotMake(str(error)) from error
        return library


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
    best = ShownPack()
    with suppress(OSError):
        for folder in sorted(library.iterdir())[:5]:
            if folder.name in case.neighbours:
                continue
            for name in _MANIFESTS:
                for place in sorted(folder.glob(name))[:5]:
                    best = min(best, _read(place), key=lambda one: one.size_bytes)
    return best


def _read(place: Path) -> ShownPack:
    status = place.lstat()
    if not stat.S_ISREG(status.st_mode):
        return ShownPack()
    with place.open("rb") as file:
        data = file.read(_SHOWN_BYTES)
    return ShownPack(data.decode("utf-8", "replace"), status.st_size)
