"""The scripts around a run: how often a command fails, and what Git left behind."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.unit.packs.house import PACKS
from tests.unit.packs.scripts import run_alone as run

REPEAT: Final = PACKS / "ci-fixer/scripts/repeat.py"
CONFLICTS: Final = PACKS / "resolver/scripts/list_conflicts.py"

pytestmark = pytest.mark.row("C12", "C52")


# --- ci-fixer ------------------------------------------------------------------------

FLAKY: Final = (
    "import os; n = int(os.environ['REPEAT_RUN']); print(n); exit(n % 5 == 0)"
)


def test_failures_are_counted_and_the_first_is_kept(tmp_path: Path) -> None:
    done = run(REPEAT, "-n", "10", "--", sys.executable, "-c", FLAKY, cwd=tmp_path)

    assert done.returncode == 1
    assert "2 of 10 runs failed: 2 x exit 1\n" in done.stdout
    assert "run 5: exit 1\nrun 10: exit 1\n" in done.stdout
    assert (tmp_path / "repeat.log").read_text().strip() == "5"


def test_a_command_that_always_passes_says_what_that_proves(tmp_path: Path) -> None:
    words = ("--runs", "6", "--jobs", "2", "--", sys.executable, "-c", "")
    done = run(REPEAT, *words, cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.startswith("0 of 6 runs failed\n")
    assert "a failure rate up to 50.0% is still possible" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_it_stops_at_the_first_failure_and_repeats_a_single_run(tmp_path: Path) -> None:
    command = ("--", sys.executable, "-c", FLAKY)

    stopped = run(REPEAT, "-n", "20", "--stop", *command, cwd=tmp_path)
    again = run(REPEAT, "-n", "1", "--first", "5", *command, cwd=tmp_path)

    assert re.search(r"^1 of [56] runs failed", stopped.stdout, re.MULTILINE)
    assert "1 of 1 runs failed" in again.stdout


def test_a_run_that_hangs_is_a_failure(tmp_path: Path) -> None:
    words = ("-n", "1", "--timeout", "0.2", "--", sys.executable, "-c")
    done = run(REPEAT, *words, "import time; time.sleep(30)", cwd=tmp_path)

    assert done.returncode == 1
    assert "1 of 1 runs failed: 1 x timeout" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--", "./no-such-program"], "no-such-program"),
        ([], "no command: put it after --"),
        (["-n", "0", "--", "true"], "0 is not 1 or more"),
    ],
)
def test_what_cannot_be_repeated_is_an_error(
    words: list[str], message: str, tmp_path: Path
) -> None:
    done = run(REPEAT, *words, cwd=tmp_path)

    assert done.returncode == 2
    assert message in done.stderr


# --- resolver ------------------------------------------------------------------------


def git(folder: Path, *words: str) -> int:
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    settings = (*name, "-c", "commit.gpgsign=false", "-c", "core.editor=true")
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, capture_output=True, check=False
    )
    return done.returncode


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two branches that changed one line, a lock file, and a file that one lost."""
    git(tmp_path, "init", "-q", "-b", "main")
    for branch in ("main", "side", "main"):
        git(tmp_path, "checkout", "-q", "-B" if branch == "side" else "-q", branch)
        number = len(list(tmp_path.glob("*.txt")))
        text = f"first\n{branch} {number}\nlast\n"
        (tmp_path / "ä b.txt").write_text(text)
        (tmp_path / "uv.lock").write_text(text)
        gone = tmp_path / "gone.py"
        if branch == "side":
            gone.unlink()
        else:
            gone.write_text(text)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", f"{branch} {number}")
    return tmp_path


def test_nothing_stopped_leaves_nothing(repository: Path) -> None:
    done = run(CONFLICTS, cwd=repository)

    assert done.returncode == 0
    assert done.stdout == "operation: none\n0 in conflict, 0 with markers left\n"


@pytest.mark.parametrize("operation", ["merge", "rebase"])
def test_each_conflict_has_its_kind_and_its_lines(
    operation: str, repository: Path
) -> None:
    assert git(repository, operation, "side") != 0

    done = run(CONFLICTS, cwd=repository)

    theirs = "the branch you merge" if operation == "merge" else "your own commit"
    gone = (
        "changed by ours, deleted by theirs"
        if operation == "merge"
        else "deleted by ours, changed by theirs"
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"operation: {operation}: ours is ")
    assert lines[0].endswith(f"theirs is {theirs}")
    assert lines[1:] == [
        f"gone.py: {gone}; no markers",
        "uv.lock: both changed; lines 2-6; make it again: uv lock",
        "ä b.txt: both changed; lines 2-6",
        "3 in conflict, 0 with markers left",
    ]


def test_markers_in_a_file_that_was_added_are_found(repository: Path) -> None:
    git(repository, "merge", "side")
    git(repository, "add", "-A")

    shown = run(CONFLICTS, "--json", cwd=repository)

    state = json.loads(shown.stdout)
    assert (shown.returncode, state["files"]) == (1, [])
    assert [item["path"] for item in state["markers_left"]] == ["uv.lock", "ä b.txt"]


def test_a_folder_without_a_repository_is_an_error(tmp_path: Path) -> None:
    done = run(CONFLICTS, "nowhere", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("list_conflicts.py: ")
