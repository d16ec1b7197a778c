"""Whether a confidence tells right from wrong: ``python -m benchmarks.controls``.

CORPUS and QUERIES are those of `benchmarks.finding`. Each pool has the right answers
of some queries and other packs, chosen by the seed; its control is the same pool
without any right answer or copy of one. Compared are the first hits: those that are
right, in the pool, and all of them, in the control. AUC is how often a right one has
the higher confidence of the two.
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
from benchmarks.finding import read_queries
from benchmarks.measure import Spread, table
from satchel import Options, Satchel

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

    from benchmarks.finding import Query
    from satchel.model import Hit

POOLS: Final = 20
PACKS: Final = 300
QUERIES_OF_A_POOL: Final = 60


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
                first = skills.find(query.text, 1)
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


def run(folder: Path, queries: Sequence[Query], names: AbstractSet[str]) -> None:
    """Print a row for the pools, and one for the whole corpus."""
    asked = [query for query in queries if query.positives.keys() <= names]
    figures: list[tuple[float, float, float]] = []
    for seed in range(POOLS):
        rng = random.Random(seed)  # noqa: S311
        chosen = rng.sample(asked, QUERIES_OF_A_POOL)
        others = rng.sample(sorted(names), len(names))
        right, control = compare(folder, chosen, others, PACKS)
        figures.append((auc(right, control), weak(right), weak(control)))
    right, control = compare(folder, asked, sorted(names), len(names))
    whole = [(auc(right, control), weak(right), weak(control))]
    head = ("packs", "AUC", "right answers labelled weak", "controls labelled weak")
    rows = [
        (
            f"{packs:,}",
            *(f"{Spread.of(column):.3f}" for column in zip(*of, strict=True)),
        )
        for packs, of in ((PACKS, figures), (len(names), whole))
    ]
    print(table(head, rows))


def main() -> None:
    """Write the packs to a folder of their own, and compare."""
    parser = argparse.ArgumentParser(prog="benchmarks.controls", description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "packs"
        write_corpus(options.corpus, folder)
        names = {path.name for path in folder.iterdir()}
        run(folder, list(read_queries(options.queries)), names)


if __name__ == "__main__":
    main()
