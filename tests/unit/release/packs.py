"""Packs to release, and ways to open them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from satchel import Satchel
from satchel.sources import memory
from satchel_store.release import build_folder, build_release
from satchel_store.release._release import Release

__all__ = [
    "PACKS",
    "Packs",
    "build",
    "built",
    "files_in",
    "files_of",
    "nowhere",
    "release_of",
    "write",
]

Packs = Mapping[str, Mapping[str, bytes]]


def skill(name: str, more: str = "", body: str = "# Do\n") -> bytes:
    """Return the SKILL.md of a small skill; ``more`` are lines of its frontmatter."""
    head = f"---\nname: {name}\ndescription: Use {name} when testing.\n{more}---\n"
    return (head + body).encode()


PACKS: Final[Packs] = {
    "alone": {"SKILL.md": skill("alone")},
    "files": {
        "SKILL.md": skill("files", "metadata:\n  owner: docs-team\n").replace(
            b"\n", b"\r\n"
        ),
        "references/guide.md": "\ufeffÜber alles\r\n".encode(),
        "scripts/run.py": b"print(1)\n",
        "assets/logo.png": bytes(range(256)),
        "notes.txt": b"",
    },
    "declared": {
        "SKILL.md": skill("declared", "references: [manual.md]\nscripts: [go.sh]\n"),
        "manual.md": b"read me\n",
        "scripts/go.sh": b"exit 0\n",
        "unlisted.md": b"never handed out\n",
    },
    "hidden": {"SKILL.md": skill("hidden", "disable-model-invocation: true\n")},
    "retired": {
        "SKILL.md": skill(
            "retired", "metadata:\n  status: deprecated\n  replaced-by: alone\n"
        ),
        "references/old.md": b"old\n",
    },
    "Odd_Name": {
        "SKILL.md": skill(
            "Odd_Name", "allowed-tools: Read Bash\nmetadata:\n  tools: look up\n"
        )
    },
}
"""Skills of every sort that a release tells apart."""


def write(packs: Packs, folder: Path) -> Path:
    """Write packs below ``folder``; return it."""
    for name, files in packs.items():
        for path, data in files.items():
            file = folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    return folder


def nowhere(path: str, data: bytes) -> None:
    """Take a file of a release, and forget it."""


def files_of(opened: Satchel) -> dict[str, bytes]:
    """Return the files of a release of these skills, by path, and close them."""
    files: dict[str, bytes] = {}
    with opened as skills:
        build_release(skills, files.__setitem__)
    return files


def built(packs: Packs) -> dict[str, bytes]:
    """Return the files of a release of these packs, by path."""
    return files_of(Satchel(memory(packs)))


def release_of(packs: Packs) -> Release:
    """Return the release of these packs."""
    with Satchel(memory(packs)) as skills:
        return build_release(skills, nowhere).release


def build(packs: Packs, out: Path) -> Release:
    """Build a release of these packs at ``out``."""
    with Satchel(memory(packs)) as skills:
        return build_folder(skills, out).release


def files_in(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
