"""The blocks of the docs that are not Python: console sessions, scripts, data.

Each evaluator is sybil's kind: it returns what is wrong with the block, or None.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sybil import Example

MAKEFILE: Final = Path(__file__).parents[2] / "Makefile"
TIMEOUT_S: Final = 60

# What a reader types that a test cannot: it would run this very test, or install.
_SCRIPT_WORDS: Final = {"cd", "git", "make", "pip", "python3", "uv"}


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a session, and the output shown below it."""

    command: str
    shown: str


def parse_session(text: str) -> Iterator[Step]:
    """Yield the steps: ``$ `` begins a command, ``> `` continues it.

    Raises:
        ValueError: Something stands before the first command.
    """
    command: list[str] = []
    shown: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield Step("\n".join(command), "\n".join(shown))
            command, shown = [line[2:]], []
        elif not command:
            raise ValueError(f"no command before {line!r}")
        elif line.startswith("> ") and not shown:
            command.append(line[2:])
        else:
            shown.append(line.rstrip())
    yield Step("\n".join(command), "\n".join(shown))


def matches(shown: str, actual: str) -> bool:
    """Say whether the output is what is shown.

    ``...`` stands for the rest of a word or line, on a line of its own for any number
    of lines. Blanks at line ends, and empty lines at the end, do not count.
    """
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == "..."
        else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\n"
        for line in shown.rstrip().splitlines()
    )
    lines = "".join(f"{line.rstrip()}\n" for line in actual.rstrip().splitlines())
    return re.fullmatch(pattern, lines) is not None


def run_session(example: Example) -> str | None:
    """Run a console block, each command in a shell, in the current folder.

    A command that shows no output has to succeed. ``$ echo $?`` shows the status of
    the command before it.
    """
    status = 0
    for step in parse_session(example.parsed):
        done = subprocess.run(
            ["sh", "-c", f"(exit {status})\n{step.command}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_environment(),
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
        )
        status = done.returncode
        message = f"$ {step.command}\n{done.stdout}[status {status}]"
        if not step.shown and status:
            return f"failed:\n{message}"
        if step.shown and not matches(step.shown, done.stdout):
            return f"shown:\n{step.shown}\n\nbut it was:\n{message}"
    return None


def _environment() -> dict[str, str]:
    """Return this environment, with the commands of this interpreter found first."""
    found_first = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PATH": os.pathsep.join([found_first, os.environ["PATH"]]),
        # A person sees warnings and prints in their order, at a terminal.
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "80",
        "NO_COLOR": "1",
    }


def check_script(example: Example) -> str | None:
    """Look at a block of commands that is not run: set-up, and targets of make."""
    phony = re.findall(r"^\.PHONY: (.*)", MAKEFILE.read_text("utf-8"), re.MULTILINE)
    targets = {target for line in phony for target in line.split()}
    for line in example.parsed.splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] not in _SCRIPT_WORDS:
            return f"write {line!r} as a console block, so that it is run"
        if words[:1] == ["make"]:
            goals = {word for word in words[1:] if "=" not in word}
            if unknown := goals - targets:
                return f"no such target of make: {sorted(unknown)}"
    return None


def read_toml(example: Example) -> str | None:
    """Parse a TOML block; one that begins with ``# satchel.toml`` is put in place."""
    tomllib.loads(example.parsed)
    keep_file(example.parsed, "toml")
    return None


def keep_file(text: str, suffix: str) -> None:
    """Put a block in the file that its first line names in a comment, if it does."""
    if match := re.match(rf"# ([\w.-]+\.{suffix})\n", text):
        Path(match[1]).write_text(text, "utf-8")


def read_json(example: Example) -> str | None:
    """Parse a JSON block."""
    json.loads(example.parsed)
    return None
