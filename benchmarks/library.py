"""The packs to measure on: a corpus written to disk, or a synthetic library."""

from __future__ import annotations

import random
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.corpus import write_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKS: Final = 3_000
_SEED: Final = 20_261_121
_TEXT: Final = (
    "use when the user asks to fill review plan write test deploy fix read a an form "
    "report file table chart branch invoice page script query model data for with and "
    "from in on before after tool steps check each every value result error message"
)
_WORDS: Final = _TEXT.split()
# Characters, near to those of public skills: quartiles of descriptions and of bodies.
_DESCRIPTION_CHARS: Final = (60, 140, 210, 330, 900)
_BODY_CHARS: Final = (400, 2_500, 6_000, 11_000, 30_000)
# One in so many: a description with a colon that YAML does not take, a name that an
# earlier pack has, a metadata mapping.
_COLON, _AGAIN, _METADATA = 12, 9, 4


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of packs as ``<id>/<dir>/SKILL.md``, and what to call it."""

    folder: Path
    packs: int
    about: str


@contextmanager
def open_library(corpus: Path | None, count: int | None = None) -> Iterator[Library]:
    """Write the packs into a temporary folder that is removed at the end.

    ``count`` is how many; None is all of the corpus.

    Without a corpus they are synthetic, and the same ones each time.
    """
    with tempfile.TemporaryDirectory(prefix="satchel-library-") as home:
        folder = Path(home, "library")
        if corpus is None:
            yield Library(
                folder, write_synthetic(folder, count or PACKS), "synthetic packs"
            )
            return
        written = write_corpus(corpus, folder, count)
        about = f"packs of {corpus.name}, {len(written.skipped)} lines skipped"
        yield Library(folder, written.packs, about)


def write_synthetic(folder: Path, packs: int) -> int:
    """Write that many packs, of sizes as real ones have them; return their number."""
    chance = random.Random(_SEED)  # noqa: S311 - the same packs each time, no secret
    names: list[str] = []
    for number in range(packs):
        name = f"{chance.choice(_WORDS)}-{chance.choice(_WORDS)}-{number}"
        if names and number % _AGAIN == 0:
            name = chance.choice(names)
        names.append(name)
        pack = folder / f"{number:06}" / name
        pack.mkdir(parents=True)
        (pack / "SKILL.md").write_text(_text(chance, name, number), "utf-8")
    return packs


def write_plain(folder: Path, packs: int) -> None:
    """Write that many packs as ``<name>/SKILL.md``, such as every loader takes.

    No name comes twice, and every fourth pack has a second file.
    """
    chance = random.Random(_SEED)  # noqa: S311
    for number in range(packs):
        name = f"{chance.choice(_WORDS)}-{chance.choice(_WORDS)}-{number}"
        pack = folder / name
        pack.mkdir(parents=True)
        (pack / "SKILL.md").write_text(_text(chance, name, number, odd=False), "utf-8")
        if number % _METADATA == 0:
            (pack / "references").mkdir()
            (pack / "references" / "more.md").write_text(_prose(chance, 400), "utf-8")


def _text(chance: random.Random, name: str, number: int, *, odd: bool = True) -> str:
    description = _prose(chance, _between(chance, _DESCRIPTION_CHARS))
    if odd and number % _COLON == 0:
        description = f"Use when: {description}"
    lines = ["---", f"name: {name}", f"description: {description}"]
    if number % _METADATA == 0:
        lines += ["license: MIT", "metadata:", "  author: somebody", '  version: "1.0"']
    lines += ["---", "", f"# {name}", ""]
    size = _between(chance, _BODY_CHARS)
    while size > 0:
        line = _prose(chance, 80)
        lines.append(line)
        size -= len(line)
    return "\n".join(lines) + "\n"


def _between(chance: random.Random, quartiles: tuple[int, ...]) -> int:
    part = chance.randrange(len(quartiles) - 1)
    return chance.randint(quartiles[part], quartiles[part + 1])


def _prose(chance: random.Random, chars: int) -> str:
    text = " ".join(chance.choices(_WORDS, k=max(1, chars // 5)))
    return text[:chars].strip().capitalize()
