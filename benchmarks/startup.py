"""Whole processes: the command and the front door next to importing what they need."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, in_turn, ratio, table

if TYPE_CHECKING:
    from collections.abc import Callable

# Two processes of a tenth of a second: many are cheap, and few say little.
TIMES: Final = 4
_SKILL: Final = "---\nname: one\ndescription: The one skill there is.\n---\nSteps.\n"
_PROMPT: Final = """
import sys
from satchel import Satchel
print(Satchel(sys.argv[1]).prompt())
"""
_BASE: Final = "import yaml, click"


def run(rounds: int) -> list[Bar]:
    """Measure, print the table, return the bars."""
    with tempfile.TemporaryDirectory(prefix="satchel-startup-") as home:
        empty = Path(home, "empty")
        empty.mkdir()
        one = Path(home, "skills", "one")
        one.mkdir(parents=True)
        (one / "SKILL.md").write_text(_SKILL, "utf-8")
        commands = {
            _BASE: (sys.executable, "-c", _BASE),
            "satchel list, an empty folder": (*_satchel(), "list", empty),
            "Satchel and a prompt of one skill": (
                *(sys.executable, "-c", _PROMPT, one.parent),
            ),
            "import satchel": (sys.executable, "-c", "import satchel"),
            "satchel --version": (*_satchel(), "--version"),
            "satchel check, one skill": (*_satchel(), "check", one.parent),
            "satchel prompt, one skill": (*_satchel(), "prompt", one.parent),
        }
        figures = in_turn(
            {name: _timed(command, home) for name, command in commands.items()},
            rounds,
        )
    base = figures[_BASE]
    print("## Start-up, whole processes\n")
    print(
        table(
            ("", "ms of processor time", f"over `{_BASE}`"),
            (
                (
                    name,
                    f"{Spread.of(1000 * each for each in seconds):.0f}",
                    f"{ratio(seconds, base):.2f}",
                )
                for name, seconds in figures.items()
            ),
        )
    )
    return [
        Bar(f"{name}, over `{_BASE}`", most, ratio(figures[name], base))
        for name, most in zip(
            list(figures)[1:6], (2.5, 2.5, 1.5, 1.5, 3.0), strict=True
        )
    ]


def _satchel() -> tuple[str | Path, ...]:
    """Return the command as a shell would find it next to this Python."""
    script = Path(sys.executable).with_name("satchel")
    return (script,) if script.exists() else (sys.executable, "-m", "satchel")


def _timed(command: tuple[str | Path, ...], home: str) -> Callable[[], float]:
    environment = {
        **os.environ,
        "NO_COLOR": "1",
        # Compiled modules are kept, as an installer or a first start keeps them; a
        # checkout whose shell says not to would compile ours each time, yaml never.
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(Path(home, "pycache")),
    }

    def run() -> float:
        before = _processor_s()
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=home,
            env=environment,
        )
        return _processor_s() - before

    run()  # the first start compiles

    def best() -> float:
        return min(run() for _ in range(TIMES))

    return best


def _processor_s() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
