"""Is the line of each finding right? ``python -m benchmarks.lint_lines CORPUS PYTHON``.

CORPUS is a gzipped file of JSON lines, as `benchmarks.corpus` reads it. PYTHON is an
interpreter with markdown-it-py and ruamel.yaml, which `benchmarks.second_lines` reads
with: parsers that Satchel has nothing to do with, and plain search in the text.

The sample takes one finding of each code in turn, drawn at random, until it is full,
so that rare codes are in it. Findings without a line are not drawn. It prints how each
was checked, and every disagreement.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.library import open_library
from benchmarks.measure import table
from satchel_lab.checking import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from satchel.model import Finding

SAMPLE: Final = 200
SEED: Final = 20_261_121
_SECOND: Final = Path(__file__).with_name("second_lines.py")


def main() -> None:
    """Draw, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("python")
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    with open_library(options.corpus) as library:
        findings = check([str(library.folder)]).findings
        drawn = draw(findings, options.sample, options.seed)
        verdicts = ask(options.python, drawn)
        report(drawn, verdicts, library.folder)


def draw(findings: Sequence[Finding], sample: int, seed: int) -> list[Finding]:
    """Return that many findings with a line, one of each code in turn."""
    chance = random.Random(seed)  # noqa: S311 - the same ones each time
    by_code: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.line is not None:
            by_code[finding.code].append(finding)
    for code in sorted(by_code):
        chance.shuffle(by_code[code])
    drawn: list[Finding] = []
    while len(drawn) < sample and any(by_code.values()):
        drawn += [by_code[code].pop() for code in sorted(by_code) if by_code[code]]
    return drawn[:sample]


def ask(python: str, drawn: Sequence[Finding]) -> list[tuple[str, bool] | None]:
    """Return how each line was checked and whether it is right; None for no way."""
    requests = "".join(
        json.dumps(
            {
                "code": each.code,
                "line": each.line,
                "message": each.message,
                "before": each.before,
                "text": Path(each.path).read_bytes().decode("utf-8", "replace"),
            }
        )
        + "\n"
        for each in drawn
    )
    done = subprocess.run(
        [python, str(_SECOND)],
        input=requests.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def report(
    drawn: Sequence[Finding],
    verdicts: Sequence[tuple[str, bool] | None],
    folder: Path,
) -> None:
    """Print how many were checked in which way, and what was not as it was said."""
    ways: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for finding, verdict in zip(drawn, verdicts, strict=True):
        way, right = verdict or ("not checked", True)
        ways[way] += 1
        if verdict is None:
            print(f"{finding.code}: no way to check it is known\n")
        if not right:
            wrong[way] += 1
            place = Path(finding.path).relative_to(folder)
            print(
                f"{place}:{finding.line}: {finding.code}: {finding.message} [{way}]\n"
            )
    rows = [(way, str(count), str(wrong[way])) for way, count in ways.most_common()]
    codes = len({finding.code for finding in drawn})
    print(f"{len(drawn)} findings of {codes} codes:\n")
    print(table(("checked by", "findings", "disagreements"), rows))


if __name__ == "__main__":
    main()
