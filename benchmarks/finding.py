"""How well `find` ranks: ``python -m benchmarks.finding CORPUS QUERIES``.

CORPUS is a gzipped file of JSON lines, each with ``id``, ``dir`` and ``text``; QUERIES
one of ``qid``, ``set``, ``query``, ``positives`` (id to grade) and ``near_dups``
(copies of a right answer). The library is opened with ``on_conflict="precedence"``,
since public packs share names; 50 hits are asked for, of which measures look at ten.

A hit on a copy counts as the right answer, once: further copies of it take their
place in the list and gain nothing. The last column is the share of queries with a right
answer among the skills that `Satchel.prompt` shows for a message.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.corpus import write_corpus
from satchel import Options, Satchel
from satchel.model import Catalog
from satchel.prompt import SUGGESTED, render
from satchel.text import EstimateCounter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HITS: Final = 50
DEPTH: Final = 10
"""NDCG, recall and the reciprocal rank look at the first ten hits."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query, the set it belongs to, and its right answers with their grades.

    ``copies`` are near duplicates of the right answers; each stands for one of the
    best grade.
    """

    set: str
    text: str
    positives: Mapping[str, int]
    copies: frozenset[str]


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of one query, or their means over many."""

    ndcg: float
    hit: float
    recall: float
    rank: float
    suggested: float


def read_queries(path: Path) -> Iterator[Query]:
    """Yield the queries in their order."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            copies = frozenset(row["near_dups"])
            yield Query(row["set"], row["query"], row["positives"], copies)


def judge(query: Query, ids: Sequence[str]) -> Measures:
    """Return the measures of a ranking, by the ids of the corpus, best first."""
    gains = _gains(query, ids[:DEPTH])
    ideal = sorted(query.positives.values(), reverse=True)[:DEPTH]
    right = [place for place, gain in enumerate(gains) if gain]
    return Measures(
        ndcg=_discounted(gains) / _discounted(ideal),
        hit=float(bool(gains and gains[0])),
        recall=len(right) / len(query.positives),
        rank=1 / (right[0] + 1) if right else 0.0,
        suggested=float(any(_gains(query, ids[:SUGGESTED]))),
    )


def _gains(query: Query, ids: Sequence[str]) -> list[float]:
    """Return the gain of each hit; a copy takes the best answer that is still due."""
    due = dict(query.positives)
    gains: list[float] = []
    for found in ids:
        answer = found if found in due else ""
        if not answer and found in query.copies and due:
            answer = max(due, key=lambda key: due[key])
        gains.append(float(due.pop(answer)) if answer else 0.0)
    return gains


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def measure(folder: Path, queries: Sequence[Query]) -> dict[str, list[Measures]]:
    """Return the measures of every query, by the set it belongs to."""
    found: dict[str, list[Measures]] = defaultdict(list)
    with Satchel(folder, options=Options(on_conflict="precedence")) as skills:
        for query in queries:
            hits = skills.find(query.text, HITS, whole=True)
            entries = (skills.catalog.get(hit.id) for hit in hits)
            ids = [e.origin.key.partition("/")[0] for e in entries if e is not None]
            found[query.set].append(judge(query, ids))
    return found


def print_catalogs(folder: Path) -> None:
    """Print what the section of 100 skills, of 1,000 and of all costs a model."""
    count = EstimateCounter().count
    print("\n| skills listed | section, at most 4,000 tokens | ids alone | in full |")
    print("|---:|---:|---:|---:|")
    with Satchel(folder, options=Options(on_conflict="precedence")) as skills:
        entries = skills.catalog.entries
    for size in sorted({min(size, len(entries)) for size in (100, 1_000, 10**9)}):
        chosen = random.Random(13).sample(entries, size)  # noqa: S311
        chosen.sort(key=lambda entry: entry.id)
        catalog = Catalog(tuple(chosen))
        ids = count("\n".join(entry.id for entry in chosen))
        full = render(catalog, budget_tokens=None).tokens
        print(f"| {size:,} | {render(catalog).tokens:,} | {ids:,} | {full:,} |")


def main() -> None:
    """Write the packs to a folder of their own, ask every query, print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.finding", description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "packs"
        written = write_corpus(options.corpus, folder)
        sets = measure(folder, list(read_queries(options.queries)))
        print_catalogs(folder)
    print(f"\n{written.packs:,} packs, precedence, {HITS} hits, copies count once\n")
    print("| queries | n | NDCG@10 | Hit@1 | Recall@10 | MRR@10 | in first 20 |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, rows in sorted(sets.items()):
        means = [
            sum(getattr(row, field) for row in rows) / len(rows)
            for field in ("ndcg", "hit", "recall", "rank", "suggested")
        ]
        print(f"| {name} | {len(rows)} | {' | '.join(f'{m:.3f}' for m in means)} |")


if __name__ == "__main__":
    main()
