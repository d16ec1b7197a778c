"""``satchel eval`` next to ``satchel check``, on a library with three queries a skill.

Each is a process of its own, one after the other in each round; its processor time
counts, since other work on the machine adds none to it. Queries are sentences out of
the instructions: as long as those that authors write, and as hard to tell apart.
"""

from __future__ import annotations

import json
import random
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, table

if TYPE_CHECKING:
    from benchmarks.library import Library

PROMISED: Final = 3.0
"""Seconds of processor time more than a check takes."""
SKILLS: Final = 400
QUERIES: Final = 3
_SENTENCE: Final = re.compile(r"[A-Z][^.!?\n|`*#]{30,160}[.!?]")


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure, print the table, return the bar."""
    with tempfile.TemporaryDirectory(prefix="satchel-evals-") as name:
        folder = Path(name)
        queries = _write(library.folder, folder)
        for command in ("check", "eval"):  # the first round fills caches of files
            _seconds(command, folder)
        pairs = [
            (_seconds("check", folder), _seconds("eval", folder)) for _ in range(rounds)
        ]
    checks, evals, more = (
        Spread.of(values)
        for values in (*zip(*pairs, strict=True), [b - a for a, b in pairs])
    )
    print(f"## Evaluating {SKILLS} skills with {queries:,} queries\n")
    rows = (("check", f"{checks:.2f}"), ("eval", f"{evals:.2f}"))
    print(table(("command", "seconds of processor time"), rows))
    print()
    return [Bar("seconds of `satchel eval` more than `satchel check`", PROMISED, more)]


def _write(source: Path, target: Path) -> int:
    """Copy packs with enough sentences, each with an eval file; return the queries."""
    rng = random.Random(1)  # noqa: S311 - it guards nothing
    count = skills = 0
    for file in sorted(source.rglob("SKILL.md")):
        text = file.read_text("utf-8", errors="replace")
        sentences = sorted({*_SENTENCE.findall(text.partition("\n---")[2])})
        if len(sentences) < QUERIES or skills == SKILLS:
            continue
        pack = target / f"skill-{skills:04}"
        (pack / "evals").mkdir(parents=True)
        (pack / "SKILL.md").write_text(text, "utf-8")
        chosen = rng.sample(sentences, QUERIES)
        rows = [{"query": query, "should_trigger": True} for query in chosen]
        (pack / "evals" / "evals.json").write_text(json.dumps(rows), "utf-8")
        skills, count = skills + 1, count + QUERIES
    return count


def _seconds(command: str, folder: Path) -> float:
    """Return what one process takes, of all cores."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "satchel", command, str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
