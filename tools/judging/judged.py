"""What readers said of findings, and the table of it."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

JUDGED: Final = Path(__file__).with_name("judged.jsonl")
PAGE: Final = Path(__file__).parents[2] / "docs" / "contributing" / "judged-findings.md"
BAR: Final = 0.08
_CHANCE: Final = 0.025
_STEPS: Final = 60
# The rows of the table; what the page says around it is written by hand.
_ROWS: Final = re.compile(
    r"(?<=\n\| :-- \| --: \| --: \| --: \| :-- \|\n)(?:\| [^\n]*\n)*"
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one reader said of one finding."""

    code: str
    digest: str
    reader: str
    verdict: str
    reason: str


def read_judgements(path: Path = JUDGED) -> list[Judgement]:
    """Return all judgements, in their order."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [Judgement(**json.loads(line)) for line in lines]


def upper_end(wrong: int, judged: int) -> float:
    """Return the upper end of the interval of Clopper and Pearson for ``wrong``."""
    if wrong >= judged:
        return 1.0
    low, high = wrong / judged, 1.0
    # The share at which so few, or fewer, come out in one of forty draws.
    for _ in range(_STEPS):
        middle = (low + high) / 2
        chance = sum(
            math.comb(judged, k) * middle**k * (1 - middle) ** (judged - k)
            for k in range(wrong + 1)
        )
        low, high = (middle, high) if chance > _CHANCE else (low, middle)
    return high


def render(judgements: list[Judgement]) -> str:
    """Return the page; a finding is wrong where any of its readers says so."""
    verdicts: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for one in judgements:
        verdicts[one.code][one.digest].add(one.verdict)
    rows: list[str] = []
    for code, findings in sorted(verdicts.items()):
        wrong = sum("wrong" in said for said in findings.values())
        end = upper_end(wrong, len(findings))
        reached = "yes" if end <= BAR else "no"
        rows.append(f"| `{code}` | {len(findings)} | {wrong} | {end:.1%} | {reached} |")
    table = "".join(f"{row}\n" for row in rows)
    return _ROWS.sub(lambda _: table, PAGE.read_text("utf-8"), count=1)
