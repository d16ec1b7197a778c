"""Libraries to run clients on: made up from a seed, and drawn from public ones.

A made-up library is the same on every machine, so that what was recorded of it can be
compared with a prediction at any time. Public ones are data of others: nothing of them
is kept but how many of their skills were predicted right.
"""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COUNTS: Final = (5, 20, 100, 400)
_SOME_WORDS: Final = (
    "audit build chart check clean code compare data deploy design draft edit export "
    "file find fix forms graph image import index invoice issue label list log map "
    "measure merge model note order page parse plan plot print query release report "
    "review route rule schema score search sheet sign sort split style sum table tag "
    "task test text time trace track type update use vote watch write"
)
_WORDS: Final = tuple(_SOME_WORDS.split())
_OTHER_ALPHABETS: Final = (
    "größe prüfen données vérifier résumé año señal файл отчёт проверка 表 数据 检查 "
    "報告 レポート 作成 보고서 🙂 naïve façade İstanbul ελληνικά עברית"
)
_OTHER_WORDS: Final = tuple(_OTHER_ALPHABETS.split())


@dataclass(frozen=True, slots=True)
class MadePack:
    """A pack: its folder, and the text of its SKILL.md."""

    folder: str
    text: str


@dataclass(frozen=True, slots=True)
class Library:
    """A name that says how it was made, and its packs."""

    name: str
    packs: tuple[MadePack, ...]

    def write(self, folder: Path) -> None:
        """Write it into a new folder."""
        for pack in self.packs:
            place = folder / pack.folder
            place.mkdir(parents=True)
            (place / "SKILL.md").write_bytes(pack.text.encode("utf-8", "surrogatepass"))


def made(kind: str, count: int, seed: int) -> Library:
    """Return a made-up library: ``kind`` is a key of `KINDS`."""
    draw = random.Random(f"{kind}-{count}-{seed}")  # noqa: S311 - no secret
    folders = _folders(draw, count)
    packs = tuple(KINDS[kind](draw, folder) for folder in folders)
    return Library(f"{kind}-{count}-{seed}", packs)


def named(name: str) -> Library:
    """Return the made-up library of a name that `made` gave."""
    kind, count, seed = name.rsplit("-", 2)
    return made(kind, int(count), int(seed))


def public(root: Path, name: str) -> Library:
    """Return one public library below a folder, a pack for each folder's name."""
    return Library(name, tuple(_below(root / name)))


def public_mix(root: Path, count: int, seed: int) -> Library:
    """Return packs drawn from all public libraries below a folder."""
    by_folder = {pack.folder: pack for pack in _below(root)}
    draw = random.Random(f"mix-{count}-{seed}")  # noqa: S311 - no secret
    chosen = draw.sample(sorted(by_folder), min(count, len(by_folder)))
    packs = tuple(by_folder[folder] for folder in sorted(chosen))
    return Library(f"mix-{count}-{seed}", packs)


def _below(root: Path) -> Iterator[MadePack]:
    seen: set[str] = set()
    for file in sorted(root.rglob("SKILL.md")):
        folder = file.parent.name
        if file.is_file() and folder.lower() not in seen:
            seen.add(folder.lower())
            data = file.read_bytes()
            yield MadePack(folder, data.decode("utf-8", "surrogateescape"))


def lay(library: Library, folder: Path) -> None:
    """Write a library into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    library.write(folder)


def _folders(draw: random.Random, count: int) -> list[str]:
    found: set[str] = set()
    while len(found) < count:
        found.add("-".join(draw.choices(_WORDS, k=draw.randint(1, 4))))
    return draw.sample(sorted(found), count)


def _sentence(draw: random.Random, chars: int, words: tuple[str, ...] = ()) -> str:
    text = ""
    while len(text) < chars:
        text += draw.choice(words or _WORDS) + draw.choice(("", "", "", ",", ".")) + " "
    return text[:chars].strip().ljust(chars, "x").capitalize()


def _pack(folder: str, description: str, **fields: str) -> MadePack:
    head = {"name": folder, "description": description, **fields}
    lines = [
        f"{key}: {value if value == 'true' else json.dumps(value, ensure_ascii=False)}"
        for key, value in head.items()
    ]
    text = "\n".join(["---", *lines, "---", "", f"# {folder}", "", "Do it.", ""])
    return MadePack(folder, text)


def _of_chars(least: int, most: int) -> Callable[[random.Random, str], MadePack]:
    def make(draw: random.Random, folder: str) -> MadePack:
        return _pack(folder, _sentence(draw, draw.randint(least, most)))

    return make


def _mixed(draw: random.Random, folder: str) -> MadePack:
    size = draw.choice([draw.randint(20, 90), draw.randint(90, 400), 1024])
    return _pack(folder, _sentence(draw, size))


def _not_ascii(draw: random.Random, folder: str) -> MadePack:
    return _pack(folder, _sentence(draw, draw.randint(30, 500), _OTHER_WORDS))


def _with_fields(draw: random.Random, folder: str) -> MadePack:
    fields: dict[str, str] = {}
    if draw.random() < 0.5:  # noqa: PLR2004 - every other one
        fields["when_to_use"] = _sentence(draw, draw.randint(20, 300))
    for key in ("alwaysApply", "user-invocable", "license", "version"):
        if draw.random() < 0.2:  # noqa: PLR2004 - one in five
            fields[key] = {"license": "MIT", "version": "1.2.0"}.get(key, "true")
    return _pack(folder, _sentence(draw, draw.randint(30, 700)), **fields)


def _other_names(draw: random.Random, folder: str) -> MadePack:
    name = draw.choice([folder, folder[::-1].strip("-"), f"{folder}-two"])
    return _pack(folder, _sentence(draw, draw.randint(40, 400)), name=name)


def _over(draw: random.Random, folder: str) -> MadePack:
    return _pack(folder, _sentence(draw, draw.randint(800, 2400)))


KINDS: Final[dict[str, Callable[[random.Random, str], MadePack]]] = {
    "short": _of_chars(20, 80),
    "medium": _of_chars(120, 320),
    "long": _of_chars(1024, 1024),
    "mixed": _mixed,
    "not-ascii": _not_ascii,
    "fields": _with_fields,
    "names": _other_names,
    "over": _over,
}
"""How the packs of each kind of library are made."""
