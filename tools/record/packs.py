"""Three libraries to ask: the examples, the tricky packs, and 300 that are made up.

The made-up packs have the shapes of public ones, in about the same shares: one in eight
is no valid YAML, some have no frontmatter, no name, a name that is taken, hidden
characters, other scripts, files that are listed, unlisted or missing. No text of
anybody else is in them, and the same seed makes the same bytes.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchmarks.tricky_packs import write_cases
from tools.adapters.frameworks import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

SEED: Final = 300
COUNT: Final = 300

_VERBS: Final = (  # noqa: SIM905 - a line of each word would read worse
    "check convert deploy draft explain extract fill find format merge migrate plan "
    "publish reconcile review sort summarise test translate trim validate write"
).split()
_THINGS: Final = (  # noqa: SIM905 - a line of each word would read worse
    "api budget calendar chart commit contract csv dashboard database docker email "
    "form go image invoice kubernetes letter log pdf picture pull-request react "
    "report schema slide spreadsheet sql survey table test ticket video"
).split()
_REASONS: Final = (
    "the user asks for it",
    "a customer writes in",
    "numbers do not add up",
    "a release is due",
    "somebody mentions a file of this kind",
    "an error says so",
)
_FOREIGN: Final = (
    "当用户要求时使用\uff0c处理表格和报表",
    "ユーザーが依頼したときに使う",
    "Verwende es für Rechnungen und Belege",
    "Используйте для отчётов",
    "استخدم هذا عند الحاجة",
)


@dataclass(slots=True)
class Pack:
    """One made-up pack: its folder, the lines of its frontmatter, body and files."""

    folder: str
    head: list[str]
    body: str
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def data(self) -> bytes:
        """Return the bytes of its SKILL.md."""
        head = "".join(f"{line}\n" for line in self.head)
        return f"---\n{head}---\n{self.body}".encode("utf-8", "surrogatepass")


def write_libraries(home: Path) -> dict[str, Path]:
    """Write the libraries into ``home``; return their folders by name."""
    shutil.copytree(ROOT / "examples" / "skills", home / "examples")
    shutil.copytree(ROOT / "examples" / "templates", home / "templates")
    write_cases(home / "tricky")
    write_made_up(home / "made-up")
    return {name: home / name for name in ("examples", "tricky", "made-up")}


def write_made_up(folder: Path) -> None:
    """Write the 300 packs; each is ``folder/<number>/<pack>``."""
    chance = random.Random(SEED)  # noqa: S311 - made-up packs, no secret
    for number in range(COUNT):
        pack = _pack(chance, number)
        home = folder / f"{number:03}" / pack.folder
        home.mkdir(parents=True)
        (home / "SKILL.md").write_bytes(_damaged(number, pack))
        for path, data in pack.files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(data)


def _pack(chance: random.Random, number: int) -> Pack:
    verb, thing = chance.choice(_VERBS), chance.choice(_THINGS)
    name = f"{verb}-{thing}" if number % 9 else thing  # some names are taken twice
    description = (
        f"{verb.capitalize()} a {thing.replace('-', ' ')} step by step. "
        f"Use when {chance.choice(_REASONS)}."
    )
    if number % 11 == 0:
        description = chance.choice(_FOREIGN)
    if number % 29 == 0:
        description = " ".join([description] * 12)
    pack = Pack(
        folder=f"{name}-{number}" if number % 3 else name,
        head=[f"name: {name}", f"description: {description}"],
        body=_body(chance, verb, thing),
    )
    _add_fields(chance, number, pack)
    _add_files(chance, number, pack)
    return pack


def _body(chance: random.Random, verb: str, thing: str) -> str:
    steps = (
        f"{step + 1}. {chance.choice(_VERBS)} the {thing}, then go on.\n"
        for step in range(chance.randint(1, 6))
    )
    return f"# {verb.capitalize()} a {thing}\n\n" + "".join(steps)


_FIELDS: Final = (
    "license: MIT",
    "version: 1.10",
    "allowed-tools: Read, Bash(git:*)",
    "allowed-tools:\n  - Read\n  - Write",
    "metadata:\n  author: someone\n  tags: [a, b]",
    "metadata:\n  version: 2.0\n  category: office",
    "tags: [one, two]",
    "trigger_keywords: [ledger, voucher]",
    "when_to_use: Whenever a ledger is mentioned.",
    "disable-model-invocation: true",
    "user-invocable: false",
    "argument-hint: <file>",
    "compatibility: Needs git",
    "refrences: [guide.md]",
    "Author: someone",
    "model: sonnet",
)


def _add_fields(chance: random.Random, number: int, pack: Pack) -> None:
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        line = chance.choice(_FIELDS)
        key = line.partition(":")[0]
        if not any(known.startswith(f"{key}:") for known in pack.head):
            pack.head.append(line)
    if number % 13 == 0:
        pack.body += "See [the guide](references/guide.md) and `scripts/run.py`.\n"
    if number % 17 == 0:
        pack.body += "Look at [another skill](../other/SKILL.md).\n"
    if number % 31 == 0:
        pack.body += "</instructions>\nTODO: say more.\n"
    if number % 37 == 0:
        pack.body += "Hidden: \U000e0041\U000e0042 and \u200b here.\n"


def _add_files(chance: random.Random, number: int, pack: Pack) -> None:
    if number % 4 == 0:
        pack.files["references/guide.md"] = b"# Guide\n\nOne thing after another.\n"
    if number % 6 == 0:
        pack.files["scripts/run.py"] = b"print('hello')\n"
    if number % 10 == 0:
        pack.files["assets/dot.png"] = b"\x89PNG\r\n\x1a\n\x00" + bytes([number % 256])
    if number % 12 == 0:
        pack.head.append("references: [guide.md]")
        pack.files["references/unlisted.md"] = b"# Not listed\n"
    if number % 25 == 0:
        pack.files["notes.txt"] = chance.choice(_FOREIGN).encode()
    if number % 45 == 0:
        pack.files[".env"] = b"TOKEN=nothing\n"


# Of 64 packs, those whose description is one that YAML refuses or reads as no text.
_DESCRIPTIONS: Final = {
    1: "description: Use when: the user asks: now",
    5: "description: | Use when this is needed.",
    14: "description: **bold** words",
    23: "license: MIT",
    28: 'description: "a \\d escape"',
    56: "description: [a, list]",
}
_MORE: Final = {42: "\tindented: by a tab", 47: "name: again"}
# Those whose bytes are odd: no frontmatter, a mark, other line ends, a file cut off.
_BYTES: Final[Mapping[int, Callable[[bytes], bytes]]] = {
    9: lambda data: data.partition(b"---\n# ")[2],
    33: lambda data: b"\xef\xbb\xbf" + data,
    38: lambda data: data.replace(b"\n", b"\r\n"),
    52: lambda data: data.replace(b"---\n", b"--- \n", 1),
    61: lambda data: data[:25],
}


def _damaged(number: int, pack: Pack) -> bytes:
    """Return the bytes of SKILL.md, broken for about one pack in eight."""
    kind = number % 64
    pack.head[1] = _DESCRIPTIONS.get(kind, pack.head[1])
    if kind in _MORE:
        pack.head.append(_MORE[kind])
    return _BYTES.get(kind, bytes)(pack.data())
