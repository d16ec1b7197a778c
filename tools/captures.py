"""Draw what commands print on a terminal, into docs/images: one SVG for each capture.

    python -m tools.captures

Each command runs on a terminal of its own, in a folder with the packs below.
tests/docs/test_captures.py draws them again and compares.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.text import cells
from tests.functional.library import run_terminal, write_pack

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "docs" / "images"

_PACKS: Final = {
    "deploy-checklist": (
        "---\nname: deploy-checklist\n"
        "description: Walk through a deployment: checks before it, the way back.\n"
        "---\n# Deploy\n1. Is the change reviewed?\n"
        "2. Follow [the way back](references/rollback.md) when a check fails.\n"
    ),
    "release-notes-ja": (
        "---\nname: release-notes-ja\n"
        "description: Write release notes in Japanese. Use for each release.\n"
        "---\n# 変更履歴\n変更点は[一覧](references/一覧.md)から、"
        "[手順](references/手順.md)に従って書く。\n"
    ),
    "meeting-notes": "---\nname: Meeting Notes\nauthor: ana\n---\n# Meeting notes\n",
}


@dataclass(frozen=True)
class Capture:
    """A picture: the name of its file, the command, and the columns of the terminal."""

    name: str
    command: str
    columns: int = 80
    environment: tuple[tuple[str, str], ...] = ()

    def draw(self) -> str:
        """Run the command, and return what the terminal shows, with the command."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copytree(ROOT / "examples" / "skills", folder / "skills")
            for pack, text in _PACKS.items():
                write_pack(folder / "drafts" / pack, text)
            env = {"TERM": "xterm-256color", **dict(self.environment)}
            arguments = self.command.split()[1:]
            seen = run_terminal(
                *arguments, cwd=folder, columns=self.columns, env=env
            ).decode()
        shown = f"$ {self.command}\n{seen.replace(chr(13), '')}"
        return "".join(f"{line}\n" for line in _svg(shown, self.columns))


_PLAIN: Final = (("NO_COLOR", "1"),)
CAPTURES: Final = (
    Capture("check-80", "satchel check drafts"),
    Capture("check-120", "satchel check drafts", 120),
    Capture("check-no-color", "satchel check drafts", 80, _PLAIN),
    Capture("check-no-color-120", "satchel check drafts", 120, _PLAIN),
    Capture("check-statistics", "satchel check drafts --statistics", 100),
    Capture("check-for-80", "satchel predict drafts --for all", 80),
    Capture("check-for-120", "satchel predict drafts --for all", 120),
    Capture("check-for-no-color", "satchel predict drafts --for all", 80, _PLAIN),
    Capture("check-for-no-color-120", "satchel predict drafts --for all", 120, _PLAIN),
)

_SIZE, _WIDTH, _HEIGHT, _PAD = 14, 8.4, 19, 14
_FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_STYLE: Final = (
    f"text{{font:{_SIZE}px {_FONT};white-space:pre;fill:#d8dee9}}"
    ".b{font-weight:bold}.d{opacity:.65}.c31{fill:#ff7a85}.c32{fill:#8fd694}"
    ".c33{fill:#f2c55c}.c34{fill:#7fb0ff}.c35{fill:#d9a0ff}.c36{fill:#6fd3e0}"
)
_ONE_WIDTH: Final = re.compile("[\x00-\u2e7f]+|[^\x00-\u2e7f]+")
_ESCAPE: Final = re.compile("\x1b\\[([0-9;]*)m|\x1b\\]8;;[^\x1b]*\x1b\\\\")


def _svg(shown: str, columns: int) -> Iterator[str]:
    lines = shown.rstrip("\n").split("\n")
    width, height = columns * _WIDTH + 2 * _PAD, len(lines) * _HEIGHT + 2 * _PAD
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" '
        f'width="{width:g}" height="{height}" '
        f'viewBox="0 0 {width:g} {height}">'
    )
    yield f"<style>{_STYLE}</style>"
    yield '<rect width="100%" height="100%" rx="8" fill="#1e222a"/>'
    styles: set[str] = set()
    for row, line in enumerate(lines):
        column = 0
        for text, classes in _runs(line, styles):
            # Narrow and wide letters apart: a font stretches both by the same factor.
            for part in _ONE_WIDTH.findall(text):
                if part.strip():
                    yield _text(part, classes, column, row)
                column += cells(part)
    yield "</svg>"


def _text(text: str, classes: str, column: int, row: int) -> str:
    # Where it begins and ends is said, so that no font moves a caret from its place.
    start = len(text) - len(text.lstrip(" "))
    text, column = text.strip(" "), column + start
    x, y = _PAD + column * _WIDTH, _PAD + row * _HEIGHT + _SIZE
    name = f' class="{classes}"' if classes else ""
    width = cells(text) * _WIDTH
    behind = (
        f'<rect x="{x:g}" y="{y - _SIZE}" width="{width:g}" height="{_HEIGHT}" '
        'fill="#b3261e"/>'
        if "c41" in classes
        else ""
    )
    return behind + (
        f'<text x="{x:g}" y="{y}" textLength="{width:g}" '
        f'lengthAdjust="spacingAndGlyphs"{name}>{escape(text, quote=False)}</text>'
    )


def _runs(line: str, styles: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a line with their classes; ``styles`` goes on below it."""
    at = 0
    for match in _ESCAPE.finditer(line):
        yield line[at : match.start()], " ".join(sorted(styles))
        at = match.end()
        for code in (match[1] or "").split(";") if match[1] is not None else ():
            if code in {"", "0"}:
                styles.clear()
            else:
                styles.add({"1": "b", "2": "d"}.get(code, f"c{code}"))
    yield line[at:], " ".join(sorted(styles))


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    for capture in CAPTURES:
        path = FOLDER / f"{capture.name}.svg"
        path.write_text(capture.draw(), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
