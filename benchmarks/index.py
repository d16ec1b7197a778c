"""Opening a library with an index on disk, over a bare walk and stat.

Every round runs a process for each way to open; what is counted is the processor time
of the opening alone, or of the whole process where the import is a part of it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, in_turn, ratio, table

if TYPE_CHECKING:
    from benchmarks.library import Library

# The floor: list every folder, and look at every folder and file once.
_WALK: Final = """
import os, sys, time
start = time.process_time()
pending = [sys.argv[1]]
while pending:
    with os.scandir(pending.pop()) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
print(time.process_time() - start)
"""
_OPEN: Final = """
import json, logging, sys, time
start = time.process_time()
from satchel import Options, Satchel
logging.getLogger("satchel").setLevel(logging.ERROR)
imported = time.process_time()
chosen = Options(**json.loads(sys.argv[2]))
skills = Satchel(sys.argv[1], sinks=(), options=chosen)
opened = time.process_time()
status = open("/proc/self/status").read() if sys.platform == "linux" else ""
anon = [int(line.split()[1]) for line in status.splitlines() if "RssAnon" in line]
print(json.dumps([imported - start, opened - imported, (anon or [0])[0] / 1024]))
"""
_LISTED: Final = """
import sys
from satchel import Options, Satchel
skills = Satchel(sys.argv[1], sinks=(), options=Options(index=sys.argv[2]))
contested = {conflict.id for conflict in skills.conflicts}
listed = (entry for entry in skills.catalog.entries[:500] if len(entry.origins) == 1)
print(next(one.origin.location for one in listed if one.id not in contested))
"""


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure, print the table, return the bars."""
    folder = str(library.folder)
    print(f"## Opening {library.packs:,} {library.about} with an index\n")
    with tempfile.TemporaryDirectory() as cache:
        index = str(Path(cache) / "index.db")
        time.sleep(2.5)  # a library that was written just now is read again
        for _ in range(2):
            _opened(folder, {"index": index})
        memory: list[float] = []
        competitors = {
            "walk and stat": partial(_walked, folder),
            "no index": partial(_time_of, folder, {"index": "none"}),
            "index, nothing changed": partial(
                _time_of, folder, {"index": index}, memory
            ),
            "index, folders": partial(
                _time_of, folder, {"index": index, "check": "folders"}
            ),
            "index, trust": partial(
                _time_of, folder, {"index": index, "check": "trust"}
            ),
        }
        find = ["find", "convert a pdf to markdown", "--skills", folder]
        command = ["-c", "from satchel.cli import main; main()", *find]
        environ = {**os.environ, "SATCHEL_INDEX": index}
        competitors |= {
            "index, one pack changed": partial(_changed, folder, index),
            "import yaml, click": partial(_process, "-c", "import yaml, click"),
            "satchel find": partial(_process, *command, environ=environ),
        }
        _process(*command, environ=environ)  # makes the postings
        figures = in_turn(competitors, rounds)
    walk, warm = figures["walk and stat"], figures["index, nothing changed"]
    started = zip(figures["import yaml, click"], walk, strict=True)
    changed = zip(figures["index, one pack changed"], warm, strict=True)
    more = [1000 * (one - nothing) for one, nothing in changed]
    rows = [
        (name, f"{Spread.of(times):.3f}", f"{ratio(times, walk):.2f}")
        for name, times in figures.items()
    ]
    print(table(("", "processor time, s", "over a walk"), rows))
    trusted = Spread.of([1000 * seconds for seconds in figures["index, trust"]])
    return [
        Bar("open with the index, nothing changed, over a walk", 2, ratio(warm, walk)),
        Bar("one changed pack, ms more", 30, Spread.of(more)),
        Bar(
            "satchel find, over import yaml, click and a walk",
            5,
            ratio(figures["satchel find"], [sum(both) for both in started]),
        ),
        Bar("check='trust', ms more than the import", 100, trusted),
        Bar("MB of memory with the index open (RssAnon)", 150, Spread.of(memory)),
    ]


def _walked(folder: str) -> float:
    return float(_output(_WALK, folder))


def _changed(folder: str, index: str) -> float:
    """Open after an edit of one pack that is listed; undo the edit."""
    found = _output(_LISTED, folder, index).strip()
    skill = Path(found, "SKILL.md")
    data = skill.read_bytes()
    skill.write_bytes(data + b"\nMore.\n")
    try:
        return _time_of(folder, {"index": index})
    finally:
        skill.write_bytes(data)
        time.sleep(2.5)  # what was written just now is read again
        for _ in range(2):
            _opened(folder, {"index": index})


def _process(*arguments: str, environ: dict[str, str] | None = None) -> float:
    """Return the processor time of a whole Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, capture_output=True, env=environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _time_of(
    folder: str, options: dict[str, str], memory: list[float] | None = None
) -> float:
    _, seconds, anon = _opened(folder, options)
    if memory is not None:
        memory.append(anon)
    return seconds


def _opened(folder: str, options: dict[str, str]) -> tuple[float, float, float]:
    imported, opened, anon = json.loads(_output(_OPEN, folder, json.dumps(options)))
    return imported, opened, anon


def _output(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return done.stdout
