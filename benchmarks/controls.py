"""Whether a confidence tells right from wrong: ``python -m benchmarks.controls``.

CORPUS and QUERIES are those of `benchmarks.finding`. Each pool has the right answers
of some queries and other packs, chosen by the seed; its control is the same pool
without any right answer or copy of one. Compared are the first hits: those that are
right, in the pool, and all of them, in the control. AUC is how often a right one has
the higher confidence of the two. `EVERYDAY` are tasks that no skill of a pool is for.

The authors' queries are in two halves: those whose right answers share long lines are
of one repository, and a repository is in one half (`tools.judging.halves`).
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.corpus import write_corpus
from benchmarks.finding import Query, read_queries
from benchmarks.measure import Spread, table
from satchel import Options, Satchel
from tools.judging.halves import group_texts, half_of, read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from satchel.model import Hit
    from tools.judging.halves import Half

POOLS: Final = 20
PACKS: Final = 300
QUERIES_OF_A_POOL: Final = 60
FIGURES: Final = (
    "AUC",
    "right answers labelled weak",
    "controls labelled weak",
    "everyday tasks labelled weak",
)
EVERYDAY: Final = (
    "what is the weather in Lisbon tomorrow",
    "book a table for four on Friday evening",
    "how long do I boil an egg",
    "remind me to call my mother at six",
    "who won the football match last night",
    "translate good morning into Finnish",
    "how far is it from Oslo to Bergen by train",
    "what can I cook with leeks and potatoes",
    "when does the museum open on Sundays",
    "my bicycle tyre is flat, what do I do",
    "tell me a bedtime story about a whale",
    "which plants grow well in the shade",
    "how do I get a coffee stain out of a shirt",
    "what should I give my father for his birthday",
    "is it safe to eat rice from yesterday",
    "find me a cheap flight to Athens in May",
    "how many ounces are in a kilogram",
    "play something quiet by Chopin",
    "what time is it in Sydney now",
    "how do I teach my dog to sit",
    "where can I park near the old town",
    "name three novels by Jane Austen",
    "my back hurts after gardening",
    "what is the capital of Mongolia",
    "how do I tie a bow tie",
    "how old is the oldest tree in the world",
    "should I water a cactus in winter",
    "what is a good name for a grey cat",
    "how do I sharpen a kitchen knife",
    "which bus goes to the airport",
)
"""Tasks of people, made up; none is one of a library's authors."""


def first_hits(
    folder: Path, names: Sequence[str], queries: Sequence[Query]
) -> list[list[tuple[str, Hit]]]:
    """Return the pack and the first hit of each query; nothing where there is none."""
    hits: list[list[tuple[str, Hit]]] = []
    with tempfile.TemporaryDirectory() as home:
        for name in names:
            shutil.copytree(folder / name, Path(home, name))
        options = Options(on_conflict="precedence", index=False)
        with Satchel(home, sinks=(), options=options) as skills:
            for query in queries:
                first = skills.find(query.text, 1, whole=True)
                keys = [skills[hit.id].origin.key for hit in first]
                names_of = [key.partition("/")[0] for key in keys]
                hits.append(list(zip(names_of, first, strict=True)))
    return hits


def compare(
    folder: Path, queries: Sequence[Query], others: Sequence[str], packs: int
) -> tuple[list[Hit], list[Hit]]:
    """Return the right first hits of a pool, and the first hits of its control."""
    answers = {answer for query in queries for answer in query.positives}
    copies = {copy for query in queries for copy in query.copies}
    rest = [name for name in others if name not in answers | copies]
    pool = [*sorted(answers), *rest[: max(0, packs - len(answers))]]
    found = first_hits(folder, pool, queries)
    right = [
        hit
        for query, first in zip(queries, found, strict=True)
        for name, hit in first
        if name in query.positives or name in query.copies
    ]
    control = first_hits(folder, rest[:packs], queries)
    return right, [hit for first in control for _, hit in first]


def auc(right: Sequence[Hit], wrong: Sequence[Hit]) -> float:
    """Return how often the right one of two is surer; equals count half."""
    wins = sum(
        (one.confidence > other.confidence) + (one.confidence == other.confidence) / 2
        for one, other in product(right, wrong)
    )
    return wins / (len(right) * len(wrong))


def weak(hits: Sequence[Hit]) -> float:
    """Return the share that is labelled weak."""
    return sum(hit.weak for hit in hits) / len(hits)


def halves(corpus: Path, queries: Sequence[Query]) -> dict[Half, list[Query]]:
    """Return the queries of each half: no repository is in both."""
    groups = group_texts({text.id: text.text for text in read_texts(corpus)})
    result: dict[Half, list[Query]] = {"written": [], "unseen": []}
    for query in queries:
        result[half_of(groups[min(query.positives)])].append(query)
    return result


def run(folder: Path, queries: Sequence[Query], names: Sequence[str]) -> list[str]:
    """Return the cells of a row for the pools, and of one for the whole corpus."""
    figures: list[tuple[float, float, float, float]] = []
    for seed in range(POOLS):
        rng = random.Random(seed)  # noqa: S311
        chosen = rng.sample(queries, QUERIES_OF_A_POOL)
        others = rng.sample(names, len(names))
        figures.append(_figures(folder, chosen, others, PACKS))
    whole = [_figures(folder, queries, names, len(names))]
    return [
        f"{Spread.of(column):.2f}"
        for of in (figures, whole)
        for column in zip(*of, strict=True)
    ]


def _figures(
    folder: Path, queries: Sequence[Query], names: Sequence[str], packs: int
) -> tuple[float, float, float, float]:
    right, control = compare(folder, queries, names, packs)
    tasks = [Query("everyday", text, {}, frozenset()) for text in EVERYDAY]
    far = [hit for each in first_hits(folder, names[:packs], tasks) for _, hit in each]
    return auc(right, control), weak(right), weak(control), weak(far)


def main() -> None:
    """Write the packs to a folder of their own, and compare."""
    parser = argparse.ArgumentParser(prog="benchmarks.controls", description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "packs"
        write_corpus(options.corpus, folder)
        names = sorted(path.name for path in folder.iterdir())
        queries = [
            query
            for query in read_queries(options.queries)
            if query.positives.keys() <= set(names)
        ]
        of_half = halves(options.corpus.parent, queries)
        cells = [run(folder, of_half[half], names) for half in of_half]
    head = ("packs", "", *(f"{half}: {len(of_half[half])}" for half in of_half))
    rows = [
        (
            f"{packs:,}" if number == 0 else "",
            what,
            *(cell[at + number] for cell in cells),
        )
        for packs, at in ((PACKS, 0), (len(names), len(FIGURES)))
        for number, what in enumerate(FIGURES)
    ]
    print(table(head, rows))


if __name__ == "__main__":
    main()
