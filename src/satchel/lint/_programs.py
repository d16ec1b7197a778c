"""Ask an interpreter whether a file is a program, without running it."""

import json
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.model import Finding

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
# Bounds the time that the patterns take on one very long line.
_MOST_CHARS: Final = 1_000
_MESSAGES: Final = {"f-string expression part cannot include": 12}


def later_version_for(text: str, line: int | None, message: str) -> str:
    """Return the first later Python that accepts a line; empty for none."""
    lines = text.splitlines()
    if line is None or not 0 < line <= len(lines):
        return ""
    statement = lines[line - 1][:_MOST_CHARS]
    minors = [minor for minor, grammar in _GRAMMAR if grammar.match(statement)]
    minors += [minor for start, minor in _MESSAGES.items() if message.startswith(start)]
    # All that the line has must be known, so the latest counts.
    later = [minor for minor in minors if minor > sys.version_info.minor]
    return f"3.{max(later)}" if later else ""


# Bytes of the largest program that is checked.
MAX_BYTES: Final = 1024 * 1024
PYTHON_TIMEOUT_S: Final = 20.0
SHELL_TIMEOUT_S: Final = 5.0
_WORKER: Final = Path(__file__).with_name("_compile_worker.py")
# Where shells are searched: never in a folder that is checked.
_PATH: Final = os.pathsep.join(("/bin", "/usr/bin", "/usr/local/bin"))
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
# Bash only warns, and takes the rest of the script for the text.
_HERE_DOCUMENT: Final = re.compile(
    rb"here-document at line (\d+) delimited by end-of-file \(wanted `([^\n]*)'\)"
)
_SHELL_SAYS: Final = re.compile(r"\A[^:\n]*: (?:line )?(\d+): (.*)")


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """What an interpreter found: an error, lines that wait for a person, or nothing."""

    error: str = ""
    line: int | None = None
    prompts: tuple[int, ...] = ()
    checked: bool = True


_UNCHECKED: Final = ProgramCheck(checked=False)
_ENDED: Final = ProgramCheck("compiling it ends Python")
# How a process ends that took too long, which need not be the fault of a file.
_TOO_LONG: Final = frozenset([None, -getattr(signal, "SIGXCPU", 0)])


def compile_python(files: Sequence[bytes]) -> tuple[ProgramCheck, ...]:
    """Return what Python finds in each file; one process compiles them all."""
    # A file that ends the process is an error; one that takes too long stays unchecked,
    # as does the rest after a second such file.
    done: list[ProgramCheck] = []
    # One more try, with the files after the one that ended the process.
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
    """Return the answers, None without a start, and the exit status, None if killed."""
    requests = b"".join(b"%d\n%b" % (len(data), data) for data in files)
    # No variable, user folder or site package may add code to the process.
    command = [sys.executable, "-I", "-S", "-B", str(_WORKER)]
    written, _, status = _run(command, requests, PYTHON_TIMEOUT_S)
    first, *lines = written.split(b"\n")
    # Without its first line the worker did not start, which is no file's fault.
    if first != b"{}":
        return None, status
    # Text after the last line end is an answer that was cut off, or empty.
    return [_program(json.loads(line)) for line in lines[:-1]], status


def _program(answer: dict[str, list[object]]) -> ProgramCheck:
    if not answer:
        return _UNCHECKED
    if "error" not in answer:
        lines = answer["prompts"]
        return ProgramCheck(prompts=tuple(line for line in lines if type(line) is int))
    line, message = answer["error"]
    return ProgramCheck(str(message), line if type(line) is int and line > 0 else None)


def is_python(path: str, data: bytes) -> bool:
    """Tell whether a file is Python 3: by its ending, or by its first line."""
    first = _OF_PYTHON.match(data)
    if first and first[1] == b"2":
        return False
    name = path.lower().rpartition("/")[2]
    return name.endswith((".py", ".pyw")) or ("." not in name and first is not None)


def shell_of(path: str, data: bytes) -> str:
    """Return the shell of a script, by its first line or else its name; empty: none."""
    shebang = _SHEBANG.match(data)
    if shebang:
        shell = shebang[1].decode()
        return shell if shell in _SHELLS else ""
    return "bash" if path.lower().endswith((".sh", ".bash")) else ""


def find_shell(shell: str) -> str:
    from shutil import which  # most packs have no script

    paths = (which(name, path=_PATH) for name in _SHELLS[shell])
    return next((path for path in paths if path), "")


def read_by_shell(command: str, data: bytes) -> ProgramCheck:
    """Return what a shell finds in a script that it reads and does not run."""
    # `-n` keeps it from running anything; without variables it reads no start-up file.
    options = ["-n"]
    # Scripts turn extglob on with `shopt`, which -n does not run.
    if Path(command).name == "bash":
        options = ["--noprofile", "--norc", "-O", "extglob", "-n"]
    unix = data.replace(b"\r\n", b"\n")  # another rule reports these
    _, errors, status = _run([command, *options], unix, SHELL_TIMEOUT_S)
    if status is None:
        return _UNCHECKED
    if status == 0:
        open_one = _HERE_DOCUMENT.search(errors)
        if open_one is None:
            return ProgramCheck()
        ending = open_one[2].decode("utf-8", "replace")
        return ProgramCheck(f"no line is only {ending}, to end this", int(open_one[1]))
    match = _SHELL_SAYS.match(errors.decode("utf-8", "replace"))
    if match is None:
        return ProgramCheck("the shell cannot read it")
    # A shell that misses something at the end may name the line after the last one.
    last = unix.count(b"\n") + (not unix.endswith(b"\n"))
    return ProgramCheck(match[2], min(int(match[1]), last))


def _run(
    command: list[str], data: bytes, timeout_s: float
) -> tuple[bytes, bytes, int | None]:
    """Run a command; return what it wrote, and its status, None if it was killed."""
    import subprocess  # as above

    # The patterns expect English messages; no variable of the user may change
    # what the program does.
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


def not_checked(paths: Sequence[str], sentence: str) -> Finding:
    more = f", nor {len(paths) - 1} more" if paths[1:] else ""
    return Finding.of("program-not-checked", paths[0], sentence=sentence, more=more)
