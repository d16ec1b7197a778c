"""Attack a server: ``python -m tests.abuse [--count N] [--seed N]``.

Ends with status 0 if the server stood all of it, with 1 and the first failures if not.
"""

import argparse
import sys

from tests.abuse.running import SEED, Report, over_lines, over_sockets

COUNT = 10_000
MOST_GROWN_KIB = 20 * 1024


def main() -> int:
    """Run it, and say what happened."""
    parser = argparse.ArgumentParser(prog="tests.abuse", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    lines = options.count // 10
    failures: list[str] = []
    for name, report in (
        ("HTTP", over_sockets(options.count - lines, options.seed)),
        ("stdio", over_lines(lines // 2, options.seed)),
        ("stdio, earlier", over_lines(lines - lines // 2, options.seed, earlier=True)),
    ):
        tell(name, report)
        failures += report.failures
        if (report.grown_kib or 0) > MOST_GROWN_KIB:
            failures.append(f"memory grew by {report.grown_kib:,} KiB")
    for failure in failures[:20]:
        say(f"FAILED {failure}")
    say(f"{len(failures):,} failures")
    return 1 if failures else 0


def tell(name: str, report: Report) -> None:
    """Print what was sent, and what came back."""
    say(f"{name}: {report.kinds.total():,} in {report.seconds:.1f} s")
    for kind, number in sorted(report.kinds.items()):
        say(f"  {number:6,}  {kind}")
    answers = ", ".join(f"{k}: {n:,}" for k, n in sorted(report.statuses.items()))
    if answers:
        say(f"  answers: {answers}")
    if report.grown_kib is not None:
        say(f"  memory after the first fifth: {report.grown_kib:+,} KiB")


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    raise SystemExit(main())
