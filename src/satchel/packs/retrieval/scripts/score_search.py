#!/usr/bin/env python3
"""Score a search by its questions: recall, nDCG@10 and MRR@10, for each kind.

    score_search.py questions.jsonl results.jsonl
    score_search.py questions.jsonl after.jsonl --against before.jsonl

Both files hold JSON lines:

    questions   {"id": "q1", "kind": "code", "relevant": ["doc-7"]}
                relevant may give grades: {"doc-7": 3, "doc-9": 1}; [] has no answer
    results     {"id": "q1", "hits": ["doc-9", "doc-7"]}    best first

Questions without an answer count in one figure only: how many got no hit, as they
should. A question that the results lack is an error, not a zero.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

EPILOG = "exit status: 0 scored, 1 with --against: recall or nDCG fell, 2 not readable"
DEPTH = 10


class BadInput(Exception):
    pass


def read_lines(path: Path) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path}:{number}: {error}") from error
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise BadInput(f"{path}:{number}: expected an object with an id")
        if row["id"] in rows:
            raise BadInput(f"{path}:{number}: the id {row['id']} is there twice")
        rows[row["id"]] = row
    return rows


def read_questions(path: Path) -> dict[str, dict[str, Any]]:
    questions = read_lines(path)
    for name, row in questions.items():
        relevant = row.get("relevant")
        if isinstance(relevant, list) and all(isinstance(r, str) for r in relevant):
            row["relevant"] = dict.fromkeys(relevant, 1)
        elif not isinstance(relevant, dict) or not all(
            type(grade) in (int, float) and grade > 0 for grade in relevant.values()
        ):
            raise BadInput(f"{path}: {name}: relevant is a list of ids, or id to grade")
    if not any(row["relevant"] for row in questions.values()):
        raise BadInput(f"{path}: no question has an answer")
    return questions


def read_results(path: Path, questions: dict[str, Any]) -> dict[str, list[str]]:
    rows = read_lines(path)
    if missing := [name for name in questions if name not in rows]:
        raise BadInput(f"{path}: no line for {missing[0]} ({len(missing)} missing)")
    hits: dict[str, list[str]] = {}
    for name in questions:
        listed = rows[name].get("hits")
        if not isinstance(listed, list) or not all(
            isinstance(hit, str) for hit in listed
        ):
            raise BadInput(f"{path}: {name}: hits is a list of ids")
        hits[name] = list(dict.fromkeys(listed))  # a repeated hit gains nothing
    return hits


def judge(relevant: dict[str, float], hits: list[str], k: int) -> dict[str, float]:
    gains = [relevant.get(hit, 0.0) for hit in hits[:DEPTH]]
    ideal = sorted(relevant.values(), reverse=True)[:DEPTH]
    first = next((place for place, gain in enumerate(gains, 1) if gain), 0)
    return {
        f"recall@{k}": sum(hit in relevant for hit in hits[:k]) / len(relevant),
        f"nDCG@{DEPTH}": discount(gains) / discount(ideal),
        f"MRR@{DEPTH}": 1 / first if first else 0.0,
    }


def discount(gains: list[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def score(
    questions: dict[str, Any], hits: dict[str, list[str]], k: int
) -> dict[str, dict[str, float]]:
    """Return the means by kind; the kind "all" holds every question with an answer."""
    judged: dict[str, list[dict[str, float]]] = defaultdict(list)
    for name, row in questions.items():
        if row["relevant"]:
            measures = judge(row["relevant"], hits[name], k)
            judged["all"].append(measures)
            if row.get("kind"):
                judged[str(row["kind"])].append(measures)
    return {
        kind: {
            "n": len(rows),
            **{name: sum(row[name] for row in rows) / len(rows) for name in rows[0]},
        }
        for kind, rows in judged.items()
    }


def show(now: dict[str, dict[str, float]], before: dict[str, dict[str, float]]) -> bool:
    """Print a line for each kind; tell whether recall or nDCG of all questions fell."""
    for kind, figures in now.items():
        cells = []
        for name, figure in figures.items():
            if name == "n":
                cells.append(f"n {figure}")
                continue
            change = f" ({figure - before[kind][name]:+.3f})" if before else ""
            cells.append(f"{name} {figure:.3f}{change}")
        print(f"{kind}: {', '.join(cells)}")
    if not before:
        return False
    names = [name for name in now["all"] if name.startswith(("recall", "nDCG"))]
    return any(now["all"][name] < before["all"][name] - 1e-9 for name in names)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--against", type=Path, help="results before the change")
    parser.add_argument("-k", type=int, default=20, help="depth of recall; default: 20")
    options = parser.parse_args()
    if options.k < 1:
        parser.error("-k is at least 1")
    try:
        questions = read_questions(options.questions)
        hits = read_results(options.results, questions)
        old = read_results(options.against, questions) if options.against else {}
    except (BadInput, OSError, UnicodeDecodeError) as error:
        print(f"score_search.py: {error}", file=sys.stderr)
        return 2
    before = score(questions, old, options.k) if old else {}
    fell = show(score(questions, hits, options.k), before)
    open_questions = [name for name, row in questions.items() if not row["relevant"]]
    if open_questions:
        right = sum(not hits[name] for name in open_questions)
        print(f"without an answer: {right} of {len(open_questions)} got no hit")
    return 1 if fell else 0


if __name__ == "__main__":
    sys.exit(main())
