"""Write docs/reference/truth-table.md from the data files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from satchel.clients import VERDICTS, Loader, loaders, read_documented, read_measured
from satchel.clients._properties._all import GROUPS, PLAIN
from tools.loaders.figures import read_kept
from tools.loaders.known import PAGE, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from satchel.clients import LoaderVerdict

_MARKS: Final[dict[LoaderVerdict, str]] = {
    "loaded": "",
    "cut": "c",
    "wrong": "w",
    "unknown": "?",
    "dropped": "d",
    "breaks-neighbours": "**B**",
}

_HEAD: Final = """# How other loaders see a pack

Made by `python -m tools.loaders table` from what `python -m tools.loaders measure`
found and from what clients document; not edited by hand.

Each row is a small pack with one property, as plain as it can be otherwise. Each loader
is given a library of that pack with a good one before and one behind it.

"""

_MEANING: Final = """
A name counts as the pack's own if it is the declared one or the folder's, or either as
a portable name. Descriptions are compared with their white space folded. What is right
is what Satchel reads, which repairs broken YAML where that has one meaning; a pack that
has no description is *wrong* wherever it is listed. Of a validator, *loaded* means that
it finds no error.

"""

_TAIL: Final = """
## What this does not show

- Other options of a loader, other versions, or a program around it that catches what it
  raises, may do better. Each was called as in the first table.
- Whether a loader says why it drops a pack was not looked at; nor what it does with the
  body, further files, or fields that it reads.
- A pack with two properties gets the worse verdict of the two. That is a rule of thumb:
  a property may hide another, as a byte order mark hides the frontmatter.
- What is right in broken YAML is Satchel's opinion.
- Limits were looked at one value beyond them, not at each length.
- An empty place means *loaded*; a `?` that nobody measured or documented it.

## Again

```text
python -m tools.loaders install
python -m tools.loaders measure
python -m tools.loaders agree CORPUS.jsonl.gz AGREE --keep
python -m tools.loaders table
```

`python -m tools.loaders show KEY PROPERTY` shows what one loader finds of one pack.
CORPUS.jsonl.gz has a JSON object a line, with `id`, `dir` and `text`; it is other
people's, and no part of this repository.
"""


def write() -> Iterator[Path]:
    """Write the page, and return its path."""
    PAGE.write_text(render(), "utf-8", newline="\n")
    yield PAGE.relative_to(ROOT)


def render() -> str:
    """Return the page; the same data give the same text."""
    return "".join(
        [
            _HEAD,
            _table(["mark", "verdict", "meaning"], _legend()),
            _MEANING,
            _agreement(),
            "## The loaders\n\n",
            _table(["key", "loader", "version", "how", "day", "what"], _list()),
            *_sections(),
            _TAIL.replace("AGREE", _options()),
        ]
    )


def _legend() -> Iterator[list[str]]:
    for verdict, meaning in VERDICTS.items():
        yield [_MARKS[verdict], verdict, meaning]


def _agreement() -> str:
    kept = read_kept()
    if kept is None:
        return ""
    share = 100 * kept.agreed / kept.pairs
    worst = min(kept.loaders.values())
    least = ", ".join(sorted(k for k, n in kept.loaders.items() if n == worst))
    return (
        f"On {kept.checked} what these tables predict was compared with what"
        f" {len(kept.loaders)} of the loaders do\non {kept.packs} public packs, drawn"
        f" with the seed {kept.seed}, none of which was looked at to make\nthe tables."
        f" {kept.agreed:,} of {kept.pairs:,} verdicts are the same, {share:.2f} %. The"
        f" fewest for one loader\nare {worst} of {kept.packs} ({least}).\n\n"
    )


def _options() -> str:
    """Return how the packs of the last comparison were drawn."""
    kept = read_kept()
    if kept is None:
        return "--seed 1 --count 300"
    without = [f" --without {seed}:{count}" for seed, count in kept.without]
    return f"--seed {kept.seed} --count {kept.packs}{''.join(without)}"


def _list() -> Iterator[list[str]]:
    for each in loaders():
        yield [
            f"`{each.key}`",
            each.title,
            each.version,
            each.how,
            each.checked,
            each.source if each.how == "documented" else _code(each.source),
        ]


def _sections() -> Iterator[str]:
    known = loaders()
    parts = {
        "Frameworks and libraries": [
            each for each in known if each.kind == "framework"
        ],
        "Clients": [each for each in known if each.kind == "client"],
        "Validators": [each for each in known if each.kind == "validator"],
    }
    for title, columns in parts.items():
        if columns:
            yield f"\n## {title}\n"
            yield from _groups(columns)


def _groups(columns: list[Loader]) -> Iterator[str]:
    for title, group in GROUPS.items():
        keys = {each.key: each.about for each in group}
        if title == next(iter(GROUPS)):
            keys = {PLAIN: "none of these"} | keys
        rows = [
            [f"{about} (`{key}`)", *(_mark(each, key) for each in columns)]
            for key, about in keys.items()
        ]
        yield f"\n### {title}\n\n"
        yield _table(["the pack", *(each.key for each in columns)], rows)


def _mark(loader: Loader, key: str) -> str:
    table = read_measured() if loader.how == "measured" else read_documented()
    return _MARKS[table.loaders[loader.key].verdicts.get(key, "unknown")]


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _code(text: str) -> str:
    return text if "`" in text else f"`{text}`"


def _cell(text: str) -> str:
    return text.replace("|", "&#124;")
