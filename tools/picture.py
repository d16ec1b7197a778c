"""Draw the strip of README.md from what a session really gives: docs/images/levels.svg.

    python -m tools.picture

Three levels of the 17 packs that ship: the catalog in the prompt, one skill, one file,
each with its first lines and its tokens, by Satchel's estimate (bytes of UTF-8 / 4).
Colours follow the reader's light or dark scheme. A test compares the file with what
this draws.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from satchel import Satchel, sources
from satchel.text import EstimateCounter
from satchel.tools import result_text

PICTURE: Final = Path(__file__).parents[1] / "docs" / "images" / "levels.svg"
SKILL: Final = "backend"
FILE: Final = "references/error-handling.md"

WIDTH: Final = 960
HEIGHT: Final = 310
PANEL: Final = 292
GAP: Final = 42
LINE_CHARS: Final = 40
LINES: Final = 9
ESTIMATE: Final = "(estimate: bytes / 4)"

STYLE: Final = """
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 }
.when { fill: #59636e }
.code { font: 11px ui-monospace, "SF Mono", Menlo, Consolas, monospace }
.tokens { font-size: 20px; font-weight: 700; fill: #0550ae }
.panel { fill: #f6f8fa; stroke: #d1d9e0 }
.arrow { stroke: #59636e; stroke-width: 2; fill: none }
.all { fill: #d1d9e0 }
.part { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .when { fill: #9198a1 }
  .tokens { fill: #79c0ff }
  .panel { fill: #151b23; stroke: #3d444d }
  .arrow { stroke: #9198a1 }
  .all { fill: #3d444d }
  .part { fill: #4493f8 }
}"""


@dataclass(frozen=True, slots=True)
class Level:
    """One panel: what it is, when it comes, what a model reads."""

    title: str
    when: str
    text: str

    @property
    def tokens(self) -> int:
        """Tokens of the whole text, by Satchel's estimate."""
        return EstimateCounter().count(self.text)


def read_levels() -> tuple[tuple[Level, Level, Level], int, int]:
    """Return the three levels, how many skills there are, and what all of them cost."""
    with Satchel(sources.roles(), sinks=()) as skills:
        chat = skills.session()
        ids = [entry.id for entry in skills.catalog.entries]

        def call(tool: str, **arguments: str) -> str:
            return result_text(chat.call(tool, arguments))

        levels = (
            Level("1  prompt", "always", str(skills.prompt())),
            Level(
                "2  load_skill",
                "when the task fits",
                call("load_skill", skill_id=SKILL),
            ),
            Level(
                "3  read_skill_file",
                "when it is needed",
                call("read_skill_file", skill_id=SKILL, path=FILE),
            ),
        )
        counter = EstimateCounter()
        everything = sum(counter.count(skills.load(id).body) for id in ids)
    return levels, len(ids), everything


def draw() -> str:
    """Return the picture as SVG."""
    levels, count, everything = read_levels()
    spent = sum(level.tokens for level in levels)
    what = (
        f"Of {count} skills the prompt has {levels[0].tokens:,} tokens; one skill adds "
        f"{levels[1].tokens:,} and one of its files {levels[2].tokens:,}, where all "
        f"instructions in the prompt would be {everything:,}."
    )
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'role="img" aria-label="{escape(what)}">'
        ),
        f"<style>{STYLE}\n</style>",
    ]
    for index, level in enumerate(levels):
        parts += draw_panel(level, index * (PANEL + GAP))
    top = HEIGHT - 46
    part = round(WIDTH * spent / max(everything, spent))
    parts += [
        f'<rect class="all" x="0" y="{top}" width="{WIDTH}" height="12" rx="6"/>',
        f'<rect class="part" x="0" y="{top}" width="{part}" height="12" rx="6"/>',
        f'<text x="0" y="{top + 34}">{spent:,} tokens for all three {ESTIMATE}</text>',
        (
            f'<text class="when" x="{WIDTH}" y="{top + 34}" text-anchor="end">'
            f"{everything:,} tokens for the instructions of all {count} skills in the "
            "prompt</text>"
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def draw_panel(level: Level, x: int) -> list[str]:
    """Return one panel, and the arrow that leads to it."""
    parts = [
        (
            f'<rect class="panel" x="{x + 0.5}" y="34.5" width="{PANEL}" height="198" '
            'rx="8"/>'
        ),
        f'<text class="title" x="{x}" y="18">{escape(level.title)}</text>',
        (
            f'<text class="when" x="{x + PANEL}" y="18" text-anchor="end">'
            f"{escape(level.when)}</text>"
        ),
        (
            f'<text class="tokens" x="{x + PANEL - 14}" y="220" text-anchor="end">'
            f"{level.tokens:,} tokens</text>"
        ),
    ]
    for number, line in enumerate(first_lines(level.text)):
        parts.append(
            f'<text class="code" x="{x + 14}" y="{58 + 16 * number}" '
            f'xml:space="preserve">{escape(line)}</text>'
        )
    if x:
        start = x - GAP + 8
        parts.append(f'<path class="arrow" d="M{start} 134h{GAP - 18}m-6-6 6 6-6 6"/>')
    return parts


def first_lines(text: str) -> list[str]:
    """Return the lines that a panel has room for; ``…`` is where one is cut."""
    lines = [
        line if len(line) <= LINE_CHARS else f"{line[: LINE_CHARS - 1].rstrip()}…"
        for line in text.splitlines()
    ]
    return [*lines[: LINES - 1], "…"] if len(lines) > LINES else lines


def main() -> int:
    """Write the picture."""
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(), "utf-8")
    print(f"wrote docs/images/{PICTURE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
