"""How much of the package a replay reaches: lines, room by room."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final

from tools.adapters.frameworks import ROOT

BAR: Final = 90
"""Percent of the lines that the questions have to reach."""
_SOURCE: Final = ROOT / "src" / "satchel"
# An adapter runs under its framework only; `testing` is for the tests of users, and
# asks questions itself; the scripts in `packs` are programs of their own.
LEFT_OUT: Final = ("adapters", "testing", "packs")
_SETTINGS: Final = """\
[run]
branch = true
source = {source}
omit = {omit}
data_file = {data}
parallel = true
sigterm = true
patch = subprocess
[report]
exclude_also =
  if TYPE_CHECKING:
  assert_never\\(
  ^\\s*\\.\\.\\.$
"""


def replay_measured() -> int:
    """Replay in a process that is measured, print the reach; return a status."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "coveragerc"
        omit = ",".join(str(_SOURCE / room / "*") for room in LEFT_OUT)
        data = str(Path(folder) / "data")
        settings.write_text(
            _SETTINGS.format(source=_SOURCE, omit=omit, data=data), "utf-8"
        )
        rc = f"--rcfile={settings}"
        coverage = [sys.executable, "-m", "coverage"]
        replay = [*coverage, "run", rc, "-m", "tools.record", "replay"]
        status = subprocess.run(replay, cwd=ROOT, check=False).returncode
        report = Path(folder) / "report.json"
        quiet = ("--quiet", rc)
        subprocess.run([*coverage, "combine", *quiet], cwd=ROOT, check=True)
        subprocess.run(
            [*coverage, "json", *quiet, "-o", str(report)], cwd=ROOT, check=True
        )
        reached = _print(json.loads(report.read_text("utf-8"))["files"])
    if reached < BAR:
        print(f"{reached:.1f} % of the lines are reached; at least {BAR} % are due")
        return 1
    return status


def _print(files: dict[str, dict[str, dict[str, int]]]) -> float:
    """Print a line for each room, that with the most missing first; return the sum."""
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, measured in files.items():
        room = Path(ROOT, path).relative_to(_SOURCE).parts[0].removesuffix(".py")
        rooms[room][0] += measured["summary"]["covered_lines"]
        rooms[room][1] += measured["summary"]["num_statements"]
    rows = {room: counts for room, counts in rooms.items() if counts[1]}
    for room, (covered, lines) in sorted(
        rows.items(), key=lambda row: row[1][0] - row[1][1]
    ):
        print(f"{room:12} {covered:6,} of {lines:6,} {100 * covered / lines:6.1f} %")
    covered, lines = (sum(counts[i] for counts in rows.values()) for i in (0, 1))
    print(f"{'all':12} {covered:6,} of {lines:6,} {100 * covered / lines:6.1f} %")
    return 100 * covered / lines
