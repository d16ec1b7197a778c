"""Small texts that cost much time: backtracking, squares and cubes."""

from collections.abc import Callable
from functools import partial
from typing import Final

from satchel.testing.hostile._pack import BODY, HostilePack, front, skill

# Below the 64 KiB that a frontmatter may have here, so that no size check saves us.
_CHARS: Final = 60_000

_hang: Final = partial(skill, "hang", threat="T12")


def _text(name: str, what: str, text: Callable[[], str]) -> HostilePack:
    return _hang(name, what=what, text=text)


PACKS: Final[tuple[HostilePack, ...]] = (
    _text(
        "fences",
        "thirty thousand lines that look like a fence, and none is",
        lambda: "---\nname: bad\ndescription: x\n" + "--- \t-\n" * 30_000,
    ),
    _text(
        "blank-run",
        "a line of blanks before a text: trimming by expression is quadratic",
        lambda: front("x" + " " * _CHARS + "x"),
    ),
    _text(
        "blank-lines",
        "sixty thousand empty lines in the frontmatter",
        lambda: front(more="\n" * _CHARS),
    ),
    _text(
        "colons",
        "a description of colons, each of which a repair might quote",
        lambda: front(": " * (_CHARS // 2)),
    ),
    _text(
        "bad-lines",
        "two thousand lines that each need a repair",
        lambda: front(more="\n".join(f"k{i}: a: b: c" for i in range(2_000))),
    ),
    _text(
        "open-quotes",
        "a quote opened on each of four thousand lines",
        lambda: front(more="\n".join(f'k{i}: "a' for i in range(4_000))),
    ),
    _text(
        "sexagesimal",
        "a number in base sixty of twenty thousand places",
        lambda: front(more="metadata:\n  value: 1" + ":59" * 20_000),
    ),
    _text(
        "float-run",
        "digits and underscores that are almost a number",
        lambda: front(more="metadata:\n  value: 1" + "_1" * 25_000 + ".e"),
    ),
    _text(
        "many-keys",
        "six thousand keys, the last one twice",
        lambda: front(more="\n".join(f"k{i}: v" for i in [*range(6_000), 5_999])),
    ),
    _text(
        "many-anchors",
        "five thousand anchors and as many aliases",
        lambda: front(
            more="a0: &a0 x\n"
            + "\n".join(f"a{i}: [&a{i} x, *a{i - 1}]" for i in range(1, 2_500))
        ),
    ),
    _text(
        "complex-keys",
        "keys in keys in keys",
        lambda: front(more="? " * 8_000 + "x"),
    ),
    _text(
        "flow-run",
        "one flow sequence of fifteen thousand words",
        lambda: front(more="metadata: [" + "a, " * 15_000 + "a]"),
    ),
    _text(
        "block-indents",
        "a block text whose lines each stand one blank further in",
        lambda: front("|\n" + "\n".join(" " * (i + 1) + "x" for i in range(330))),
    ),
    _text(
        "open-links",
        "a body of half links",
        lambda: f"{front()}{'[a](' * 100_000}\n",
    ),
    _text(
        "open-tags",
        "a body of half tags, each of which might leave the envelope",
        lambda: f"{front()}{'< / ' * 100_000}{'</ ' * 50_000}\n",
    ),
    _text(
        "one-line-body",
        "a body of 900,000 characters without a line feed",
        lambda: f"---\nname: bad\ndescription: x\n---\n{BODY}{'word ' * 180_000}",
    ),
    _text(
        "joiners",
        "a description of fifty thousand joiners behind one emoji",
        lambda: front('"\U0001f600' + "\u200d" * 15_000 + '"'),
    ),
)
