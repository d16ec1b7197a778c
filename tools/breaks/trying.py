"""Make a break in a copy, and run the tests that reach its line."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from tools.adapters.environments import ensure_environment
from tools.adapters.frameworks import NAMES, ROOT, Adapter

if TYPE_CHECKING:
    from collections.abc import Generator

    from tools.breaks.drawing import Break

REACH: Final = ROOT / ".cache" / "breaks" / "coverage"
TIMEOUT_S: Final = 900
_NOT_FOUND: Final = 4
"""What pytest ends with where a test that was named is not there."""
_MOST: Final = 4_000
"""Tests that are run for one break, those of its own room first."""


def map_tests() -> None:
    """Run the tests once, and keep which test reaches which line.

    Raises:
        CalledProcessError: A test failed: breaks are tried on what is sound.
    """
    REACH.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-m", "not hostile"]
    command += ["--ignore=tests/docs", "--cov", "--cov-report=", "--cov-context=test"]
    environ = {**os.environ, "COVERAGE_FILE": str(REACH)}
    subprocess.run(command, cwd=ROOT, env=environ, check=True)


def is_noticed(one: Break) -> bool:
    """Return whether a test that reaches the line fails once it is broken."""
    room = Path(one.file).parts[2]
    adapter = Path(one.file).stem
    with _copy(one) as home:
        if room == "adapters" and adapter in NAMES:
            python = str(ensure_environment(Adapter(adapter)))
            suite = ["tests/adapters", "--adapter", adapter]
        else:
            python, suite = sys.executable, _reaching(one)
        ended = _run(home, python, suite)
        if ended == _NOT_FOUND:  # a test has another name since the map was made
            files = {test.partition("::")[0] for test in suite}
            kept = sorted(file for file in files if (home / file).exists())
            ended = _run(home, python, kept)
        return ended != 0


def line_of(one: Break) -> int:
    """Return the line that a break changes, as the file is now: the nearest alike.

    Raises:
        LookupError: No line of the file is what it was when the break was drawn.
    """
    path = ROOT / one.file
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    places = [n for n, line in enumerate(lines, 1) if line == one.before]
    if not places:
        raise LookupError(f"{one.file}:{one.line}: the line has changed")
    return min(places, key=lambda n: abs(n - one.line))


def _run(home: Path, python: str, suite: list[str]) -> int:
    """Return pytest's exit status on a suite, in a copy; 1 if it takes too long."""
    command = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *suite]
    environ = {**os.environ, "PYTHONPATH": str(home / "src")}
    try:
        done = subprocess.run(
            command,
            cwd=home,
            env=environ,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1
    return done.returncode


def _reaching(one: Break) -> list[str]:
    """Return the tests that reach the line, or those of its room where none is known.

    A line that only an import runs is reached by no test of its own.
    """
    line = line_of(one)
    with closing(sqlite3.connect(f"file:{REACH}?mode=ro", uri=True)) as known, known:
        rows = known.execute(
            "SELECT DISTINCT c.context FROM arc a"
            " JOIN context c ON c.id = a.context_id JOIN file f ON f.id = a.file_id"
            " WHERE f.path LIKE ? AND (a.fromno = ? OR a.tono = ?)",
            (f"%{one.file.removeprefix('src')}", line, line),
        ).fetchall()
    tests = {context.rpartition("|")[0] for (context,) in rows if context}
    room = Path(one.file).parts[2].removesuffix(".py")
    ordered = sorted(tests, key=lambda test: (f"/{room}" not in test, test))
    if ordered:
        return ordered[:_MOST]
    mirror = ROOT / "tests" / "unit" / room
    return [f"tests/unit/{room}"] if mirror.is_dir() else ["tests/unit"]


@contextmanager
def _copy(one: Break) -> Generator[Path]:
    """Copy what git tracks, with the line broken.

    Raises:
        LookupError: The line is not what it was when the break was drawn.
    """
    listed = ["git", "ls-files", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for name in filter(None, names.decode().split("\0")):
            target = home / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
        path = home / one.file
        lines = path.read_text("utf-8").splitlines(keepends=True)
        lines[line_of(one) - 1] = f"{one.after}\n"
        path.write_text("".join(lines), "utf-8")
        yield home
