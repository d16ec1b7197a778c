"""Processes that write at once, are forked, end without a close, or are killed."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from satchel_server.usage import Records, ended_unclosed, host_mark, make_report
from satchel_server.usage._records import WriterState, is_running
from tests.unit.usage.library import counts, read

WAIT_S = 60.0
BEGIN = """
import os, sys, time
from satchel import Satchel, Skill
from satchel_server.usage._background import Background
from satchel_server.usage._location import parse_location
from satchel_server.usage._location import store_at

def open_all(**more):
    sink = Background(store_at(parse_location(sys.argv[1])), **more)
    made = [Skill(f"s{n}", instructions="Do.", description="d") for n in range(3)]
    return sink, Satchel(*made, sinks=[sink])
"""


def start(url: str, script: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + script, url, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def unclosed(records: Records) -> tuple[WriterState, ...]:
    return ended_unclosed(records.writers, now=time.time(), host=host_mark())


MANY = """
sink, skills = open_all(bound=100)
sys.stdin.readline()
for number in range(1500):
    skills.load(f"s{number % 3}")
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "jsonl", "chain"])
def test_processes_that_write_at_once_lose_nothing(kind: str, tmp_path: Path) -> None:
    """They end without a call of `close`; none is lost, none there twice."""
    file = tmp_path / "usage"
    children = [start(f"{kind}://{file}", MANY) for _ in range(3)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        child.communicate(timeout=WAIT_S)

    records = read(file, time.time())

    assert [child.returncode for child in children] == [0, 0, 0]
    assert counts(records) == {"s0": 1500, "s1": 1500, "s2": 1500}
    assert [w.dropped for w in records.writers] == [0, 0, 0]
    assert all(w.closed for w in records.writers)
    assert unclosed(records) == ()
    if kind == "chain":
        from satchel_server.usage import verify_chain

        assert verify_chain(file).ok


KILLED = """
sink, skills = open_all(bound=60, interval_s=3600)
for _ in range(int(sys.argv[2])):
    skills.load("s0")
    sink.flush()
for _ in range(25):
    skills.load("s1")
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize(
    ("kind", "written"), [("sqlite", 2), ("jsonl", 2), ("sqlite", 0)]
)
def test_after_a_kill_at_most_the_bound_is_lost_and_reported(
    kind: str, written: int, tmp_path: Path
) -> None:
    """Also where nothing was written before."""
    file = tmp_path / "usage"
    child = start(f"{kind}://{file}", KILLED, str(written))
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"

    before = unclosed(read(file, time.time()))
    child.kill()
    child.communicate(timeout=WAIT_S)

    records = read(file, time.time())
    (writer,) = unclosed(records)
    assert before == ()
    assert counts(records) == ({"s0": written} if written else {})
    assert writer.bound == 60
    report = make_report(records, now=time.time(), unclosed=[writer])
    assert (report.may_be_missing, report.as_dict()["writers_not_closed"]) == (60, 1)


FORKED = """
sink, skills = open_all(interval_s=3600)
for _ in range(4):
    skills.load("s0")
child = os.fork()
skills.load("s1")
if not child:
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
skills.load("s2")
"""
POOL = """
import multiprocessing
def work(number):
    skills.load(f"s{number}")
sink, skills = open_all(interval_s=3600)
skills.load("s0")
context = multiprocessing.get_context("fork")
children = [context.Process(target=work, args=(number,)) for number in (1, 2)]
for child in children:
    child.start()
for child in children:
    child.join()
    assert child.exitcode == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize(
    ("script", "expected", "writers"),
    [
        (FORKED, {"s0": 4, "s1": 2, "s2": 1}, 2),
        (POOL, {"s0": 1, "s1": 1, "s2": 1}, 3),
    ],
    ids=["fork", "multiprocessing"],
)
def test_a_process_that_is_forked_off_writes_its_own(
    script: str, expected: dict[str, int], writers: int, tmp_path: Path
) -> None:
    """What waits in the parent is written by the parent alone."""
    file = tmp_path / "usage.db"
    child = start(f"sqlite://{file}", script)
    child.communicate(timeout=WAIT_S)

    records = read(file, time.time())

    assert child.returncode == 0
    assert counts(records) == expected
    assert len(records.writers) == writers
    assert all(w.closed for w in records.writers)


def state(pid: int, **more: object) -> WriterState:
    one = WriterState("w", "p", "here", pid, 1, 0.0, 0.0, None, 0)
    return replace(one, **more)  # type: ignore[arg-type]


ENDED = {
    "it runs": ([state(1)], []),
    "it does not run": ([state(2)], ["w"]),
    "it was closed": ([state(2, closed=5.0)], []),
    "its number is another's now": (
        [state(1), state(1, id="x", process="q", started=1.0)],
        ["w"],
    ),
    "the same process has two": ([state(1), state(1, id="x", started=1.0)], []),
    "elsewhere and seen lately": ([state(2, host="there", seen=900_000.0)], []),
    "elsewhere and long silent": ([state(1, host="there", seen=800_000.0)], ["w"]),
    "unknown, and seen lately": ([state(3, seen=900_000.0)], []),
    "unknown, and long silent": ([state(3)], ["w"]),
}


@pytest.mark.parametrize(("writers", "ended"), ENDED.values(), ids=ENDED)
def test_who_ended_without_a_close(
    writers: list[WriterState], ended: list[str]
) -> None:
    running = {1: True, 2: False, 3: None}
    results = ended_unclosed(writers, now=1e6, host="here", running=running.__getitem__)

    assert [writer.id for writer in results] == ended


@pytest.mark.skipif(os.name == "nt", reason="processes of POSIX")
def test_whether_a_process_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_running(os.getpid())
    assert not is_running(1 << 22)
    assert not is_running(1 << 80)

    def refuse(pid: int, signal: int) -> None:
        raise PermissionError(pid, signal)

    monkeypatch.setattr(os, "kill", refuse)
    assert is_running(1)
    monkeypatch.setattr(sys, "platform", "win32")
    assert is_running(1) is None
