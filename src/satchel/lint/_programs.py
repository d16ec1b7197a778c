"""Ask an interpreter whether a file is a program, without running it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Final

_F_STRING: Final = r"\b(?:[fF][rR]?|[rR][fF])([\"'])(?!\1\1)(?:(?!\1).)*\{"
_GRAMMAR: Final[tuple[tuple[int, re.Pattern[str]], ...]] = (
    # PEP 695: types with parameters, and the statement `type`.
    (12, re.compile(r"\s*type\s+\w+\s*(?:\[.*\]\s*)?=")),
    (12, re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[")),
    # PEP 701: in an f-string's braces its own quotes, a backslash, a line end.
    (12, re.compile(rf".*?{_F_STRING}[^{{}}]*(?:\1|\\)[^{{}}]*\}}")),
    (12, re.compile(rf".*?{_F_STRING}[^{{}}'\"]*\Z")),
    # PEP 758, 750: `except A, B:`, and t-strings.
    (14, re.compile(r"\s*except\s*\*?\s*[\w.]+\s*,\s*[\w.]+(?:\s*,\s*[\w.]+)*\s*:")),
    (14, re.compile(r".*\b(?:[tT][rR]?|[rR][tT])[\"']")),
    # PEP 810, 798: `lazy import`, and unpacking in comprehensions.
    (15, re.compile(r"\s*lazy\s+(?:import|from)\b")),
    (15, re.compile(r".*[\[({]\s*\*{1,2}\w[^\n]*\bfor\b")),
)
_MOST_CHARS: Final = 1_000
_MESSAGES: Final = {"f-string expression part cannot include": 12}


def later_version_for(text: str, line: int | None, message: str) -> str:
    """Return the Python that may take the line that this one refuses, or nothing.

    ``3.12`` means that and later ones. What every Python refuses gives nothing, and
    so does the grammar that the running one has.
    """
    lines = text.splitlines()
    if line is None or not 0 < line <= len(lines):
        return ""
    said = lines[line - 1][:_MOST_CHARS]
    minors = [minor for minor, grammar in _GRAMMAR if grammar.match(said)]
    minors += [minor for start, minor in _MESSAGES.items() if message.startswith(start)]
    later = [minor for minor in minors if minor > sys.version_info.minor]
    return f"3.{min(later)}" if later else ""


MAX_BYTES: Final = 1024 * 1024
"""Bytes of the largest program that is looked at."""
PYTHON_TIMEOUT_S: Final = 20.0
SHELL_TIMEOUT_S: Final = 5.0
_WORKER: Final = Path(__file__).with_name("_compile_worker.py")
_PATH: Final = os.pathsep.join(("/bin", "/usr/bin", "/usr/local/bin"))
"""Where a shell is looked for: never in a folder that is checked."""
_SHELLS: Final[Mapping[str, tuple[str, ...]]] = {
    "bash": ("bash",),
    "sh": ("dash", "bash", "sh"),
    "dash": ("dash", "bash", "sh"),
    "ksh": ("ksh", "mksh"),
}
_SHEBANG: Final = re.compile(
    rb"\A#![ \t]*(?:/usr/bin/env(?:[ \t]+(?:-\S+|\w+=\S*))*[ \t]+)?(?:\S*/)?([\w.-]+)"
)
_OF_PYTHON: Final = re.compile(
    rb"\A#![^\r\n]*?(?:\bpython(\d?)[\d.]*|\buv run\b[^\r\n]*)(?=[ \t\r\n]|\Z)"
)
_HERE_DOCUMENT: Final = re.compile(
    rb"here-document at line (\d+) delimited by end-of-file \(wanted `([^\n]*)'\)"
)
"""Bash warns of it, and takes the rest of the script for the text."""
_SHELL_SAYS: Final = re.compile(r"\A[^:\n]*: (?:line )?(\d+): (.*)")


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """What an interpreter says of a file: what is wrong, or where it asks somebody.

    ``error`` is empty where nothing is wrong. ``checked`` is false where nobody gave
    an answer.
    """

    error: str = ""
    line: int | None = None
    asks: tuple[int, ...] = ()
    checked: bool = True


_UNCHECKED: Final = ProgramCheck(checked=False)
_ENDED: Final = ProgramCheck("compiling it ends Python")
_TOO_LONG: Final = frozenset([None, -getattr(signal, "SIGXCPU", 0)])
"""How a process ends that took too long: no fault of a file, that is known."""


def compile_python(files: Sequence[bytes]) -> tuple[ProgramCheck, ...]:
    """Return what Python says of each file; one process compiles them all.

    A file at which that process ends is an error, one that takes too long is left
    unchecked; after a second one the rest is, too.
    """
    done: list[ProgramCheck] = []
    for _ in range(2):
        left = files[len(done) :]
        if not left or not sys.executable:
            break
        answers, status = _ask_python(left)
        if answers is None:
            break
        done += answers[: len(left)]
        if len(answers) < len(left):
            done.append(_UNCHECKED if status in _TOO_LONG else _ENDED)
    return (*done, *[_UNCHECKED] * (len(files) - len(done)))


def _ask_python(files: Sequence[bytes]) -> tuple[list[ProgramCheck] | None, int | None]:
    """Return as many answers as the process gave, and how it ended.

    None for the answers where it did not begin, for the status where it had to be
    ended.
    """
    requests = b"".join(b"%d\n%b" % (len(data), data) for data in files)
    command = [sys.executable, "-I", "-S", "-B", str(_WORKER)]
    written, _, status = _run(command, requests, PYTHON_TIMEOUT_S)
    first, *lines = written.split(b"\n")
    if first != b"{}":
        return None, status
    return [_program(json.loads(line)) for line in lines[:-1]], status


def _program(said: dict[str, list[object]]) -> ProgramCheck:
    if not said:
        return _UNCHECKED
    if "error" not in said:
        return ProgramCheck(
            asks=tuple(line for line in said["asks"] if type(line) is int)
        )
    line, message = said["error"]
    return ProgramCheck(str(message), line if type(line) is int and line > 0 else None)


def is_python(path: str, data: bytes) -> bool:
    """Tell whether a file is Python: by its ending, or by its first line.

    Python 2 is another language, which nobody here can read.
    """
    first = _OF_PYTHON.match(data)
    if first and first[1] == b"2":
        return False
    name = path.lower().rpartition("/")[2]
    return name.endswith((".py", ".pyw")) or ("." not in name and first is not None)


def shell_of(path: str, data: bytes) -> str:
    """Return which shell a file is written for: by its first line, else its name.

    Empty where it is no shell script, or of a shell that is not known here.
    """
    shebang = _SHEBANG.match(data)
    if shebang:
        shell = shebang[1].decode()
        return shell if shell in _SHELLS else ""
    return "bash" if path.lower().endswith((".sh", ".bash")) else ""


def find_shell(shell: str) -> str:
    """Return the path of what can read a script for ``shell``; empty if nothing can."""
    found = (which(name, path=_PATH) for name in _SHELLS[shell])
    return next((path for path in found if path), "")


def read_by_shell(command: str, data: bytes) -> ProgramCheck:
    """Return what a shell says of a script that it reads and does not run.

    It is given no environment, so that no start-up file is named to it, and the
    script by its standard input; ``-n`` keeps it from running anything.
    """
    options = ["-n"]
    if Path(command).name == "bash":
        options = ["--noprofile", "--norc", "-O", "extglob", "-n"]
    unix = data.replace(b"\r\n", b"\n")  # another rule tells of these
    _, said, status = _run([command, *options], unix, SHELL_TIMEOUT_S)
    if status is None:
        return _UNCHECKED
    if status == 0:
        open_one = _HERE_DOCUMENT.search(said)
        if open_one is None:
            return ProgramCheck()
        ending = open_one[2].decode("utf-8", "replace")
        return ProgramCheck(f"no line is {ending} alone, to end this", int(open_one[1]))
    match = _SHELL_SAYS.match(said.decode("utf-8", "replace"))
    if match is None:
        return ProgramCheck("the shell cannot read it")
    # A shell that misses something at the end may name the line behind the last one.
    last = unix.count(b"\n") + (not unix.endswith(b"\n"))
    return ProgramCheck(match[2], min(int(match[1]), last))


def _run(
    command: list[str], data: bytes, timeout_s: float
) -> tuple[bytes, bytes, int | None]:
    """Run a command; return what it wrote, and its status, None if it did not end."""
    environment = {"LC_ALL": "C"}
    if "SYSTEMROOT" in os.environ:  # Windows starts no program without it
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    try:
        done = subprocess.run(
            command,
            input=data,
            capture_output=True,
            timeout=timeout_s,
            env=environment,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100 - a folder without settings
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", late.stderr or b"", None
    except OSError:
        return b"", b"", None
    return done.stdout, done.stderr, done.returncode
