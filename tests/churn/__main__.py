"""``python -m tests.churn [library|mcp|http]... [--seconds N]``: skills that change.

Sixteen clients load for a minute while a name is claimed twice, packs are rewritten in
place and by rename, two hundred come and go, one source hangs and one is slow. What has
nothing to do with these must load every time, and each body must be one version of its
pack.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.churn.running import SURFACES, run

SHOWN = 10


def main() -> int:
    """Run each surface; print a table of each; 1 where anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.churn")
    parser.add_argument("surfaces", nargs="*", default=SURFACES)
    parser.add_argument("--seconds", type=float, default=60.0)
    output = parser.parse_args()
    wrong = 0
    for surface in output.surfaces:
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(surface, Path(folder), output.seconds)
        count = len(outcome.wrong)
        sys.stdout.write(f"{surface}: {count} wrong\n{outcome.table()}\n")
        for text, times in Counter(outcome.wrong).most_common(SHOWN):
            sys.stdout.write(f"  {times}x {text}\n")
        sys.stdout.flush()
        wrong += count
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
