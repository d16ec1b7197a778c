"""Write docs/reference/truth-table.md from the data files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from satchel_lab.clients import (
    VERDICTS,
    Loader,
    loaders,
    read_documented,
    read_measured,
)
from satchel_lab.clients._properties import GROUPS, PLAIN
from tools.loaders.figures import read_kept
from tools.loaders.known import PAGE, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from satchel_lab.clients import LoaderVerdict

_MARKS: Final[dict[LoaderVerdict, str]] = {
    "loaded": "",
    "cut": "c",
    "wrong": "w",
    "unknown": "?",
    "hidden": "h",
    "dropped": "d",
    "breaks-neighbours": "**B**",
}

_HEAD: Final = """# How other loaders see a pack

What each client and framework does with an unusual pack. `satchel predict`
predicts from this table; [skills and their clients](../explanation/clients.md) is the
short form.

Each row is a small pack with one property. Each loader reads a library with that pack
and two good ones, one before it and one after it. `python -m tools.loaders table`
makes this page from what `python -m tools.loaders measure` found and from what clients
document.

"""

_MEANING: Final = """
A name is right if it is the one in the file or that of the folder, also in a portable
form. A description is right if it is the one that Satchel reads, not counting spaces;
Satchel repairs broken YAML that has only one meaning. A pack without a description is
*wrong* if it is listed. For a validator, *loaded* means that it finds no error.

"""

_TAIL: Final = """
## What this does not show

- Another version or other options of a loader, or a program that catches its errors,
  may do better. Each was called as the first table says.
- Whether a loader says why it drops a pack, and what it does with the body, other
  files and other fields.
- For a pack with two properties the prediction is the worse of the two. That can be
  wrong: one property may hide another, as a byte order mark hides the frontmatter.
- What is right in broken YAML is Satchel's opinion.
- Limits were tried with one value above them, not with each length.

An empty cell means *loaded*, a `?` that it was neither measured nor documented.

## Repeat the measurement

```text
python -m tools.loaders install
python -m tools.loaders measure
python -m tools.loaders agree CORPUS.jsonl.gz AGREE --keep
python -m tools.loaders table
```

`python -m tools.loaders show KEY PROPERTY` shows what one loader finds of one pack.
CORPUS.jsonl.gz has one JSON object a line, with `id`, `dir` and `text`. It is other
people's work, and not part of this repository.
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
        f"The predictions were compared with what {len(kept.loaders)} of the loaders do"
        f" on {kept.packs} public packs\n(drawn with the seed {kept.seed} on"
        f" {kept.checked}, not used to make the tables):\n{kept.agreed:,} of"
        f" {kept.pairs:,} were right, {share:.2f} %. The worst loader has {worst} of"
        f" {kept.packs} ({least}).\n\n"
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
    return _MARKS[table.loaders[loader.key].verdict(key)]


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _code(text: str) -> str:
    return text if "`" in text else f"`{text}`"


def _cell(text: str) -> str:
    return text.replace("|", "&#124;")
