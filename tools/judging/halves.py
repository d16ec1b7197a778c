"""Two halves of public packs: rules are written on one, and judged on the other.

The packs are data of others, and no part of the project. They come as a folder with

- ``libraries.tar.xz``: whole libraries, ``libraries/NAME/PATH``, each with all paths of
  its repository in ``ALL-PATHS.txt.gz``, and
- ``skills.jsonl.gz``: single texts, a line of JSON each with ``id``, ``dir``, ``text``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import tarfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Half = Literal["written", "unseen"]

# Texts that share so many long lines count as one repository, since none is named. A
# line that more texts have is a phrase of the trade.
_COMMON_LINES: Final = 3
_LONG: Final = 40
_MOST_TEXTS: Final = 40
_TEXTS: Final = "texts"


@dataclass(frozen=True, slots=True)
class PublicText:
    """A SKILL.md without its files, and the folder that it was in."""

    id: str
    folder: str
    text: str


def half_of(group: str) -> Half:
    """Return the half of a group of texts, by the digest of its name."""
    return "unseen" if hashlib.sha256(group.encode()).digest()[0] % 2 else "written"


def halves_of(libraries: Iterable[str]) -> dict[str, Half]:
    """Return the half of each library: ordered by digest, every other one.

    Ten are too few to leave their number to chance.
    """
    ordered = sorted(libraries, key=lambda name: hashlib.sha256(name.encode()).digest())
    return {
        name: "unseen" if place % 2 else "written" for place, name in enumerate(ordered)
    }


def group_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the group of each text by its id: the least id that it leads to."""
    ids_of: defaultdict[str, set[str]] = defaultdict(set)
    for id, text in texts.items():
        for line in map(str.strip, text.split("\n")):
            if len(line) >= _LONG and sum(map(str.isalpha, line)) * 2 > _LONG:
                ids_of[line].add(id)
    shared = Counter(
        pair
        for ids in ids_of.values()
        if 1 < len(ids) <= _MOST_TEXTS
        for pair in combinations(sorted(ids), 2)
    )
    parent = {id: id for id in texts}

    def root(id: str) -> str:
        while parent[id] != id:
            parent[id] = parent[parent[id]]
            id = parent[id]
        return id

    for (one, other), lines in shared.items():
        if lines >= _COMMON_LINES:
            first, second = sorted((root(one), root(other)))
            parent[second] = first
    return {id: root(id) for id in texts}


def read_texts(corpus: Path) -> list[PublicText]:
    """Return the single texts, by id."""
    with gzip.open(corpus / "skills.jsonl.gz", "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    rows = (PublicText(str(r["id"]), str(r["dir"]), str(r["text"])) for r in read)
    return sorted(rows, key=lambda row: row.id)


def write_half(corpus: Path, folder: Path, half: Half) -> None:
    """Write the packs of a half into a new folder: a folder for each repository.

    A text that shares lines with a library is in the half of that library.
    """
    unpacked = folder / "all"
    with tarfile.open(corpus / "libraries.tar.xz") as archive:
        archive.extractall(unpacked, filter="data")
    names = sorted(path.name for path in (unpacked / "libraries").iterdir())
    halves = halves_of(names)
    for name in names:
        if halves[name] == half:
            (unpacked / "libraries" / name).rename(folder / name)
            _write_other_paths(folder / name)
    # Sorted, since two libraries may share a text: then the later one has it.
    own = dict(sorted(_skill_texts(unpacked / "libraries", folder)))
    rows = read_texts(corpus)
    groups = group_texts({row.id: row.text for row in rows} | own)
    library_of = {groups[id]: id.partition("/")[0] for id in own}
    for row in rows:
        group = groups[row.id]
        near = library_of.get(group)
        place = halves[near] if near else half_of(group)
        last = Path(row.folder.strip()).name
        if place == half and last:
            target = folder / _TEXTS / row.id / last
            target.mkdir(parents=True, exist_ok=True)
            data = row.text.encode("utf-8", "surrogatepass")
            (target / "SKILL.md").write_bytes(data)
    shutil.rmtree(unpacked)


def _skill_texts(*folders: Path) -> Iterator[tuple[str, str]]:
    """Yield the path of each SKILL.md of a library, and its text."""
    for folder in folders:
        for file in sorted(folder.rglob("SKILL.md")):
            path = file.relative_to(folder).as_posix()
            if path.partition("/")[0] != "all":
                yield path, file.read_text("utf-8", "replace")


def _write_other_paths(library: Path) -> None:
    """Write an empty file for each path of the repository that is not in a pack.

    So a link to it leads somewhere, as it does for the author.
    """
    (library / ".git").mkdir(exist_ok=True)
    with gzip.open(library / "ALL-PATHS.txt.gz", "rt", encoding="utf-8") as lines:
        paths = lines.read().splitlines()
    for path in paths:
        file = library / path
        if file.name != "SKILL.md" and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
