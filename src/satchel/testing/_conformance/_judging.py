"""Write packs for loaders, and judge what they make of them."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.clients import Candidate, LoaderVerdict, PackReader, ShownEntry
from satchel.model import portable_name
from satchel.skill_md import fold

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
