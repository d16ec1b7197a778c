"""The 22 tricky packs, as `benchmarks.tricky_packs` writes them, each with a twin."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from benchmarks.faults.fault import Fault, Pack
from benchmarks.tricky import CASES
from benchmarks.tricky_packs import BODY, write_cases

GROUP: Final = "tricky packs"

# What the twin's frontmatter says; of no other case does it differ in its text.
_TWINS: Final = {
    "02-colon": 'name: colon-skill\ndescription: "Use when: the user asks"',
    "06-noname": "name: noname-skill\ndescription: no name",
    "07-mismatch": "name: dir-name\ndescription: mismatch",
    "08-underscore": "name: snake-skill\ndescription: snake",
    "09-upper": "name: upper-skill\ndescription: upper",
    "10-longdesc": f"name: long-skill\ndescription: {'x' * 1000}",
    "11-extra": "name: extra-skill\ndescription: extra",
    "12-metaint": (
        'name: meta-skill\ndescription: meta\nmetadata:\n  version: "1.0"\n  tags: a b'
    ),
    "13-toolslist": "name: tl-skill\ndescription: tl\nallowed-tools: Read Bash",
    "16-latin1": "name: latin-skill\ndescription: caf\xe9",
    "19-unicode": "name: resume\ndescription: unicode name",
    "20-nodesc": "name: nodesc-skill\ndescription: nodesc",
    "22-tab": "name: tab-skill\ndescription: tab\nmetadata:\n  author: x",
}
# Cases that the specification has nothing against.
_HARMLESS: Final = {
    "01-plain": "nothing is wrong",
    "03-block": "YAML as it should be",
    "05-crlf": "line ends are not specified",
    "17-nested": "where packs lie is not specified",
    "18-symlink": "where packs lie is not specified",
    "21-quotedcolon": "YAML as it should be",
}
_FOLDERS: Final = {
    "08-underscore": "snake-skill",
    "09-upper": "upper-skill",
    "17-nested": "nested-skill",
    "19-unicode": "resume",
}


def tricky_faults(folder: Path | None = None) -> tuple[Fault, ...]:
    """Return a fault a case; ``folder`` holds the cases, else they are written.

    A link in ``folder`` is followed now: what it leads to is the pack.
    """
    if folder is not None:
        return tuple(_read(folder, case) for case in CASES)
    with tempfile.TemporaryDirectory(prefix="satchel-tricky-") as root:
        write_cases(Path(root, "cases"))
        return tuple(_read(Path(root, "cases"), case) for case in CASES)


def _read(folder: Path, case: str) -> Fault:
    (place,) = (folder / case).iterdir()
    files = {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }
    return Fault(
        GROUP,
        case[:2],
        case,
        CASES[case].about,
        Pack(place.name, files),
        _twin(case, place.name, files),
        harmless=_HARMLESS.get(case, ""),
    )


def _twin(case: str, folder: str, files: dict[str, bytes]) -> Pack:
    if case in _TWINS:
        text = f"---\n{_TWINS[case]}\n---\n{BODY}".encode()
    else:
        text = next(iter(files.values())).removeprefix(b"\xef\xbb\xbf")
        text = text.replace(b"\r\n", b"\n")
    if case == "15-nonl":
        text += f"\n{BODY}".encode()
    return Pack(_FOLDERS.get(case, folder), {"SKILL.md": text})
