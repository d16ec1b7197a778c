"""Trials that are killed at any point, and asked for again: the same result."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")

POINTS = 50

# Each child is forked before any thread runs. It is killed at a write: before it, after
# a part of the line, or after all of it. Answers cost one line in a file of their own.
PROGRAM = """
import json, os, signal, sys
from satchel_lab.evals import ChatReply, TrialLimits, run_trials, EvalCase
from tests.unit.evals.endpoints import library
from tests.unit.evals.test_trials import Good

points, folder, workers = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
cases = [EvalCase(f"fill in form {n}", ("pdf-forms",)) for n in range(9)]
skills = library()
limits = TrialLimits(workers=workers)
real_write = os.write


def run(cache):
    report = run_trials(
        skills, cases, Paid(cache), styles=["lean", "packs"], runs=2, cache=cache,
        limits=limits, identity="m",
    )
    value = report.to_json()
    value["calls"] = value.pop("this_run")["calls"]
    return value


class Paid(Good):
    def __init__(self, cache):
        super().__init__()
        self.bill = cache + ".bill"

    def complete(self, request):
        with open(self.bill, "a") as bill:
            bill.write("1\\n")
        return super().complete(request)


def killed_at(point):
    left = [point // 3]

    def write(descriptor, data):
        if not data.startswith((b"{", b"\\n")):
            return real_write(descriptor, data)
        if left[0]:
            left[0] -= 1
            return real_write(descriptor, data)
        real_write(descriptor, data[: (0, len(data) // 2, len(data))[point % 3]])
        os.kill(os.getpid(), signal.SIGKILL)

    os.write = write


# First, so that each child has what is imported when it is used.
print(json.dumps(run(os.path.join(folder, "whole"))))
for point in range(points):
    cache = os.path.join(folder, f"{workers}-{point}")
    child = os.fork()
    if not child:
        killed_at(point)
        run(cache)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    lines = open(cache, "rb").read().count(b"\\n")
    child = os.fork()
    if not child:
        value = run(cache)
        with open(cache + ".json", "w") as file:
            json.dump(value, file)
        os._exit(0)
    os.waitpid(child, 0)
    paid = open(cache + ".bill").read().count("1")
    print(json.dumps([status, lines, paid, json.load(open(cache + ".json"))]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, pytest.param(4, marks=pytest.mark.hostile)])
def test_killed_and_resumed_at_fifty_points(tmp_path: Path, workers: int) -> None:
    command = [sys.executable, "-c", PROGRAM, str(POINTS), str(tmp_path), str(workers)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    whole, *resumed = [json.loads(line) for line in done.stdout.splitlines()]

    calls = whole.pop("calls")
    assert calls == whole["cost"]["answers"] == 36
    assert len(resumed) == POINTS
    for status, lines, paid, report in resumed:
        assert status == 9
        # What was on record is not asked for again; what was on its way may be.
        assert report.pop("calls") == calls - lines
        assert paid <= calls + workers
        assert report == whole
