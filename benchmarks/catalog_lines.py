"""What a catalog in a prompt says: ``python -m benchmarks.catalog_lines ...``.

CORPUS and QUERIES are those of `benchmarks.finding`. A model chooses a skill by the
lines that it sees. So, without a model: how often the authors' right skill is among the
first ten that are found by search over *the lines that are shown* within 4,000 tokens,
next to search over whole descriptions. The difference is what the cuts lose.

A pool has right answers for a fifth of its size, and other packs, chosen by the seed;
asked are all queries whose answer is in it. Only ids and descriptions are searched in
both, no instructions. A copy of the right answer counts as the answer.
"""

from __future__ import annotations

import argparse
import html
import random
import re
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Final

from benchmarks.corpus import write_corpus
from benchmarks.finding import DEPTH, read_queries
from benchmarks.measure import table
from satchel import Options, Satchel
from satchel.model import Catalog, Descriptor
from satchel.prompt import render
from satchel.search import SegmentRanker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.finding import Query
    from satchel.model import Rendered

BEFORE: Final = {100: 0.132, 200: 0.225, 400: 0.302, 1_000: 0.686}
"""The sizes of pools, and what was lost while descriptions were cut at one length."""
HEAD: Final = (
    *("skills", "lines", "tokens", "found by whole descriptions", "by the lines shown"),
    *("loss", "loss before"),
)
SEEDS: Final = 20
BUDGET: Final = 4_000
# So many right answers in a pool of ten.
ANSWERS: Final = 2
_LINE: Final = re.compile(r"(?m)^- ([^\n:]+)(?:: (.*))?$")


@dataclass(frozen=True, slots=True)
class Pool:
    """A catalog, and the queries whose answers are in it."""

    catalog: Catalog
    queries: tuple[Query, ...]


def shown_lines(section: Rendered) -> Catalog:
    """Return what the text of a section in the format ``lean`` says, skill by skill."""
    lines = _LINE.findall(str(section))
    texts = {html.unescape(id): html.unescape(text) for id, text in lines}
    return Catalog(tuple(Descriptor(id, texts[id]) for id in sorted(texts)))


def found(catalog: Catalog, queries: Sequence[Query], keys: Mapping[str, str]) -> float:
    """Return the share of queries whose right skill is among the first ten."""
    ranker, right = SegmentRanker(), 0
    for query in queries:
        hits = ranker.rank(catalog, query.text, DEPTH)
        ids = {keys[id] for hit in hits for id in (hit.id, *hit.copies)}
        right += bool(ids & (query.positives.keys() | query.copies))
    return right / len(queries)


def draw(
    size: int,
    seed: int,
    entries: Mapping[str, Descriptor],
    asked: Mapping[str, Sequence[Query]],
) -> Pool:
    """Return a pool of so many skills; ``entries`` and ``asked`` are by pack."""
    rng = random.Random(seed)  # noqa: S311
    answers = rng.sample(sorted(asked), min(size * ANSWERS // 10, len(asked)))
    copies = {copy for key in answers for query in asked[key] for copy in query.copies}
    rest = sorted(entries.keys() - {*answers} - copies)
    chosen = [*answers, *rng.sample(rest, size - len(answers))]
    catalog = Catalog(
        tuple(sorted((entries[key] for key in chosen), key=lambda entry: entry.id))
    )
    return Pool(catalog, tuple(query for key in answers for query in asked[key]))


def run(folder: Path, queries: Sequence[Query]) -> None:
    """Print a row for each size."""
    with Satchel(folder, options=Options(on_conflict="precedence")) as skills:
        entries = {e.origin.key.partition("/")[0]: e for e in skills.catalog.entries}
    keys = {entry.id: key for key, entry in entries.items()}
    asked: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        for key in query.positives:
            if len(query.positives) == 1 and key in entries:
                asked[key].append(query)
    rows: list[tuple[str, ...]] = []
    for size, before in BEFORE.items():
        counts: list[tuple[int, int]] = []
        shares: list[tuple[float, float]] = []
        for seed in range(SEEDS):
            pool = draw(size, seed, entries, asked)
            bare = [Descriptor(e.id, e.description) for e in pool.catalog.entries]
            section = render(pool.catalog, budget_tokens=BUDGET)
            lines = shown_lines(section)
            counts.append((len(lines), section.tokens))
            whole = found(Catalog(tuple(bare)), pool.queries, keys)
            shares.append((whole, found(lines, pool.queries, keys)))
        listed, tokens = (
            f"{mean(column):,.0f}" for column in zip(*counts, strict=True)
        )
        whole, shown = (mean(column) for column in zip(*shares, strict=True))
        figures = (f"{each:.3f}" for each in (whole, shown, whole - shown, before))
        rows.append((f"{size:,}", listed, tokens, *figures))
    print(f"Means of {SEEDS} pools of each size, at most {BUDGET:,} tokens.\n")
    print(table(HEAD, rows))


def main() -> None:
    """Write the packs to a folder of their own, draw pools, print a table."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.catalog_lines", description=__doc__
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "packs"
        write_corpus(options.corpus, folder)
        run(folder, list(read_queries(options.queries)))


if __name__ == "__main__":
    main()
