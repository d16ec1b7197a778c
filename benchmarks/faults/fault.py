"""What a fault is: a pack that has it, and its twin that is the same without it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

DESCRIPTION: Final = (
    "Fill in the fields of a PDF form and check them. Use when the user asks to"
    " complete a form, or mentions PDF fields."
)
BODY: Final = (
    "# Fill in a form\n\nList the fields, fill them in, and check each of them.\n"
)


@dataclass(frozen=True, slots=True)
class Pack:
    """What is written: a folder's name, and its files by their path.

    ``more`` writes what is no plain file, and is given the library: a pack without
    files is all its work.
    """

    folder: str
    files: Mapping[str, bytes]
    more: Callable[[Path], None] | None = field(default=None, compare=False)

    def write(self, library: Path) -> None:
        """Write it into a library, whose parent is for what lies outside.

        Raises:
            OSError: The system will not have it.
        """
        place = library / self.folder
        for path, data in self.files.items():
            file = place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        if self.more is not None:
            self.more(library)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; ``row`` is the code, rule or threat that it is an example of.

    ``alone`` keeps it out of a library with others, for it may harm who reads it.
    One with ``harmless`` has nothing wrong: to be silent is right there.
    """

    group: str
    row: str
    id: str
    about: str
    bad: Pack
    good: Pack
    alone: bool = False
    harmless: str = ""


def manifest(
    folder: str,
    more: str = "",
    *,
    name: str | None = None,
    description: str = DESCRIPTION,
    body: str = BODY,
) -> bytes:
    """Return a SKILL.md; ``more`` are lines of its frontmatter, without a line feed."""
    lines = [f"name: {folder if name is None else name}"]
    lines += [f"description: {description}"] if description else []
    lines += [more] if more else []
    return ("---\n" + "\n".join(lines) + f"\n---\n{body}").encode()


def pack(
    folder: str, files: Mapping[str, str | bytes] | None = None, **said: str
) -> Pack:
    """Return a pack with a SKILL.md of `manifest`, and more files."""
    others = {
        path: data if isinstance(data, bytes) else data.encode()
        for path, data in (files or {}).items()
    }
    return Pack(folder, {"SKILL.md": manifest(folder, **said), **others})


def slug(text: str) -> str:
    """Return a name for a folder that every client takes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
