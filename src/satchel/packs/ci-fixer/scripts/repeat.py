#!/usr/bin/env python3
"""Run a command many times and count how often it fails.

Prove that a test is flaky, and prove that it no longer is:

    repeat.py --runs 50 -- pytest tests/test_export.py -x
    repeat.py --runs 200 --jobs 4 --stop -- npm test -- export

Each run gets a PYTHONHASHSEED of its own (the number of the run), and REPEAT_RUN with
that number for tools that take a seed: a failing run can be repeated exactly. The
output of the first run that fails is written to --log.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import NamedTuple

EPILOG = (
    """exit status: 0 no run failed, 1 at least one failed, 2 nothing could be run"""
)
TIMED_OUT = "timeout"


class Run(NamedTuple):
    number: int
    outcome: str  # "" for a run that passed
    seconds: float
    output: bytes


def run_once(number: int, command: list[str], timeout: float | None) -> Run:
    variables = {
        **os.environ,
        "PYTHONHASHSEED": str(number),
        "REPEAT_RUN": str(number),
    }
    start = time.monotonic()
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=variables,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        seconds = time.monotonic() - start
        return Run(number, TIMED_OUT, seconds, error.output or b"")
    outcome = f"exit {done.returncode}" if done.returncode else ""
    return Run(number, outcome, time.monotonic() - start, done.stdout)


def run_all(options: argparse.Namespace) -> list[Run]:
    """Return the runs in the order in which they ended."""
    runs: list[Run] = []
    stop = threading.Event()

    def work(number: int) -> Run | None:
        if stop.is_set():
            return None
        return run_once(number, options.command, options.timeout)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(options.first, options.first + options.runs)
        waiting = [pool.submit(work, number) for number in numbers]
        try:
            for future in concurrent.futures.as_completed(waiting):
                run = future.result()
                if run is None:
                    continue
                runs.append(run)
                if run.outcome:
                    print(f"run {run.number}: {run.outcome}", flush=True)
                    if options.stop:
                        stop.set()
        except (KeyboardInterrupt, OSError):
            stop.set()
            raise
    return runs


def report(runs: list[Run], log: str) -> int:
    failed = sorted(run for run in runs if run.outcome)
    kinds = Counter(run.outcome for run in failed)
    counts = ", ".join(f"{count} x {kind}" for kind, count in kinds.most_common())
    seconds = [run.seconds for run in runs]
    print(
        f"{len(failed)} of {len(runs)} runs failed" + (f": {counts}" if counts else "")
    )
    print(
        f"seconds a run: median {statistics.median(seconds):.2f}, most {max(seconds):.2f}"
    )
    if not failed:
        # The rule of three: 0 of n leaves a rate up to 3/n possible, at 95 %.
        print(f"a failure rate up to {min(1.0, 3 / len(runs)):.1%} is still possible")
        return 0
    with open(log, "wb") as file:
        file.write(failed[0].output)
    print(f"output of run {failed[0].number}: {log}")
    return 1


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words before the first --, and those behind it."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        usage="%(prog)s [options] -- command ...",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", "--runs", type=positive, default=50, help="default: 50")
    parser.add_argument(
        "-j", "--jobs", type=positive, default=1, help="runs at one time; default: 1"
    )
    parser.add_argument(
        "--first", type=positive, default=1, help="number of the first run; default: 1"
    )
    parser.add_argument(
        "--one-core", action="store_true", help="keep all runs on one core (Linux)"
    )
    parser.add_argument(
        "--stop", action="store_true", help="begin no run after the first that fails"
    )
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds for a run")
    parser.add_argument("--log", default="repeat.log", help="default: repeat.log")
    # By hand: argparse would take options of the command for its own.
    own, command = split(sys.argv[1:])
    options = parser.parse_args(own)
    options.command = command
    if not command:
        parser.error("no command: put it after --")
    return options


def main() -> int:
    options = read_options()
    if options.one_core:
        if not hasattr(os, "sched_setaffinity"):
            print("repeat.py: --one-core needs Linux", file=sys.stderr)
            return 2
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        runs = run_all(options)
        return report(runs, options.log)
    except OSError as error:
        print(f"repeat.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("repeat.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
