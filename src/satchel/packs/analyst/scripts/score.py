#!/usr/bin/env python3
"""Score proposals by the rubric of this skill, and rank them.

    score.py proposals.json      print a block for each, best total first
    score.py - --json            read standard input, print JSON
    score.py --example           print a file to begin with

A file holds a list of proposals. Each has a name and, for need, effect, feasibility,
cost and risk, a score of 1 to 5, how sure it is (high, medium, low) and what it rests
on: measured, users, others or opinion. The rules of the rubric are checked: a score of
4 or 5 needs measured or users, opinion alone gives 3 at most, a 1 in feasibility or
risk is a "no". Totals are exact; ties go to the better risk, then to the better cost.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

EPILOG = "exit status: 0 scored, 1 the rubric's rules are broken, 2 not readable"
WEIGHTS = {"need": 25, "effect": 25, "feasibility": 20, "cost": 15, "risk": 15}
SURE = ("high", "medium", "low")
MOST = {"measured": 5, "users": 5, "others": 3, "opinion": 3}
GO, TRY = 75, 55
EXAMPLE = [
    {
        "name": "Offline mode for the field app",
        "need": {
            "score": 4,
            "sure": "medium",
            "basis": "measured",
            "evidence": "41 of 200 tickets in October name dead zones",
        },
        "effect": {"score": 3, "sure": "low", "basis": "opinion"},
        "feasibility": {"score": 4, "sure": "high", "basis": "measured"},
        "cost": {"score": 3, "sure": "medium", "basis": "others"},
        "risk": {"score": 5, "sure": "high", "basis": "measured"},
    }
]


def check(proposal: Any, place: str) -> list[str]:
    """Return what is wrong with a proposal, each with its place."""
    if not isinstance(proposal, dict):
        return [f"{place}: expected an object"]
    problems = []
    if not isinstance(proposal.get("name"), str) or not proposal["name"].strip():
        problems.append(f"{place}.name: expected a text")
    for name in sorted(set(proposal) - {"name", *WEIGHTS}):
        problems.append(f"{place}.{name}: unknown; known: {', '.join(WEIGHTS)}")
    for name in WEIGHTS:
        problems += check_criterion(proposal.get(name), f"{place}.{name}")
    return problems


def check_criterion(item: Any, place: str) -> list[str]:
    if not isinstance(item, dict):
        return [f"{place}: expected an object with score, sure and basis"]
    problems = []
    score, basis = item.get("score"), item.get("basis")
    # A bool is an int in Python, and a score must not be `true`.
    if type(score) is not int or not 1 <= score <= 5:
        score = 0
        problems.append(f"{place}.score: expected a whole number from 1 to 5")
    if item.get("sure") not in SURE:
        problems.append(f"{place}.sure: expected one of {', '.join(SURE)}")
    if not isinstance(basis, str) or basis not in MOST:
        problems.append(f"{place}.basis: expected one of {', '.join(MOST)}")
    elif not problems and score > MOST[basis]:
        problems.append(
            f"{place}.score: {score} needs measured or users, not {basis}: "
            f"{MOST[basis]} at most"
        )
    return problems


def score(proposal: dict[str, Any]) -> dict[str, Any]:
    scores = {name: proposal[name]["score"] for name in WEIGHTS}
    # 20 x the weighted mean of 1 to 5; all weights are multiples of 5: it is exact.
    total = sum(WEIGHTS[name] * scores[name] for name in WEIGHTS) // 5
    if 1 in (scores["feasibility"], scores["risk"]):
        verdict = "no"
    else:
        verdict = "go" if total >= GO else "try" if total >= TRY else "no"
    weakest = min(WEIGHTS, key=lambda name: (scores[name], -WEIGHTS[name]))
    return {
        "name": proposal["name"],
        "scores": scores,
        "sure": {name: proposal[name]["sure"] for name in WEIGHTS},
        "total": total,
        "verdict": verdict,
        "weakest": weakest,
        "evidence": {
            name: proposal[name]["evidence"]
            for name in WEIGHTS
            if proposal[name].get("evidence")
        },
    }


def rank(proposals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def order(item: dict[str, Any]) -> tuple[Any, ...]:
        scores = item["scores"]
        return (-item["total"], -scores["risk"], -scores["cost"], item["name"])

    return sorted((score(proposal) for proposal in proposals), key=order)


def show(item: dict[str, Any]) -> None:
    scores = (f"{n} {s} ({item['sure'][n]})" for n, s in item["scores"].items())
    print(f"PROPOSAL   {item['name']}")
    print(f"SCORES     {' '.join(scores)}")
    print(f"TOTAL      {item['total']}: {item['verdict']}")
    for name, text in item["evidence"].items():
        print(f"EVIDENCE   {name}: {text}")
    print(f"WEAKEST    {item['weakest']}: test this first\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", help="JSON; - is standard input")
    parser.add_argument("--json", action="store_true", help="print the ranking as JSON")
    parser.add_argument("--example", action="store_true", help="print an example file")
    options = parser.parse_args()
    if options.example:
        print(json.dumps(EXAMPLE, indent=2))
        return 0
    if not options.file:
        parser.error("name a file, or - for standard input")
    try:
        if options.file == "-":
            proposals = json.load(sys.stdin)
        else:
            with open(options.file, encoding="utf-8") as file:
                proposals = json.load(file)
    except (OSError, ValueError) as error:
        print(f"score.py: {options.file}: {error}", file=sys.stderr)
        return 2
    if not isinstance(proposals, list) or not proposals:
        print(
            f"score.py: {options.file}: expected a list of proposals", file=sys.stderr
        )
        return 2
    problems = [
        problem
        for number, proposal in enumerate(proposals)
        for problem in check(proposal, f"[{number}]")
    ]
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    ranking = rank(proposals)
    if options.json:
        print(json.dumps(ranking, indent=2))
    else:
        for item in ranking:
            show(item)
    return 0


if __name__ == "__main__":
    sys.exit(main())
