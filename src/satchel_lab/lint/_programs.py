"""Ask an interpreter whether a file is a program, without running it."""

import contextlib
import hashlib
import json
import os
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.lazy import lazy_pattern
from satchel.model import Finding

if TYPE_CHECKING:
    import subprocess

# Bytes of the largest program that is checked.
MAX_BYTES: Final = 1024 * 1024
SHELL_TIMEOUT_S: Final = 5.0
# A folder without settings.
_ROOT: Final = os.path.abspath(os.sep)  # noqa: PTH100
_WORKER: Final = Path(__file__).with_name("_compile_worker.py")
# Where shells are searched: never in a folder that is checked.
_PATH: Final = os.pathsep.join(("/bin", "/usr/bin", "/usr/local/bin"))
_SHELLS: Final[Mapping[str, tuple[str, ...]]] = {
    "bash": ("bash",),
    "sh": ("dash", "bash", "sh"),
    "dash": ("dash", "bash", "sh"),
    "ksh": ("ksh", "mksh"),
}
_SHEBANG: Final = lazy_pattern(
    rb"\A#![ \t]*(?:/usr/bin/env(?:[ \t]+(?:-\S+|\w+=\S*))*[ \t]+)?(?:\S*/)?([\w.-]+)"
)
_OF_PYTHON: Final = lazy_pattern(
    rb"\A#![^\r\n]*?(?:\bpython(\d?)[\d.]*|\buv run\b[^\r\n]*)(?=[ \t\r\n]|\Z)"
)
# Bash only warns, and takes the rest of the script for the text.
_HERE_DOCUMENT: Final = lazy_pattern(
    rb"here-document at line (\d+) delimited by end-of-file \(wanted `([^\n]*)'\)"
)
_DELIMITER: Final = lazy_pattern(rb"<<-?[ \t]*[\\\"']?([\w.-]+)")
# A script in the middle of a command. After it, each line is a comment or ends what was
# open, and then a parenthesis is an error: a quotation in the first line, and in the
# others a text that `<<` begins.
_ENCLOSED: Final = b"case x in x)\n:\n%b\n# } ; ) '; ) \"; ) `; )\n%b;; esac\n"
_AFTER_TEXT: Final = b": <<'%b' <<'SATCHEL'\n%b\n)\nSATCHEL\n"
_SHELL_SAYS: Final = lazy_pattern(r"\A[^:\n]*: (?:line )?(\d+): (.*)")


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """What an interpreter found: an error, lines that wait for a person, or nothing."""

    error: str = ""
    line: int | None = None
    prompts: tuple[int, ...] = ()
    checked: bool = True


_UNCHECKED: Final = ProgramCheck(checked=False)
_ENDED: Final = ProgramCheck("compiling it ends Python")
# How a process ends that took too long, which need not be the fault of a file: by its
# own clock, or by a limit.
_TOO_LONG: Final = frozenset(
    [1, *(-getattr(signal, name, 1) for name in ("SIGKILL", "SIGTERM", "SIGXCPU"))]
)
# Files of one pack that end the process before the rest is left unchecked.
_MOST_ENDED: Final = 2


class PythonReader:
    """Says what Python finds in files: one process for all, each text once."""

    def __init__(self) -> None:
        self._answers: dict[bytes, ProgramCheck] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = bool(sys.executable)

    def read(self, files: Sequence[bytes]) -> tuple[ProgramCheck, ...]:
        """Return an answer for each file of a pack.

        A file that ends the process is an error; one that takes too long stays
        unchecked, as does the rest after a second such file.
        """
        done: list[ProgramCheck] = []
        ended = 0
        for data in files:
            digest = hashlib.sha256(data).digest()
            if ended < _MOST_ENDED and digest not in self._answers:
                self._answers[digest] = self._ask(data)
                ended += self._process is None
            done.append(self._answers.get(digest, _UNCHECKED))
        return tuple(done)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def _ask(self, data: bytes) -> ProgramCheck:
        self._process = process = self._process or (self._starts and _start()) or None
        self._starts = process is not None
        if process is None or not (process.stdin and process.stdout):
            return _UNCHECKED
        line = b""
        with contextlib.suppress(OSError):  # it ended
            process.stdin.write(b"%d\n%b" % (len(data), data))
            process.stdin.flush()
            line = process.stdout.readline()
        if line.endswith(b"\n"):
            return _program(json.loads(line))
        self.close()
        return _UNCHECKED if process.returncode in _TOO_LONG else _ENDED


def compile_python(files: Sequence[bytes]) -> tuple[ProgramCheck, ...]:
    """Return what Python finds in each file, in a process for these."""
    with contextlib.closing(PythonReader()) as reader:
        return reader.read(files)


def _start() -> "subprocess.Popen[bytes] | None":
    """Return a process that says that it runs; None where there is none."""
    import subprocess  # most packs have no program

    # No variable, user folder or site package may add code to the process.
    command = [sys.executable, "-I", "-S", "-B", str(_WORKER)]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=null, env=_environment(), cwd=_ROOT
        )
    except OSError:
        return None
    # Without its first line the worker did not start, which is no file's fault.
    if process.stdout is None or process.stdout.readline() != b"{}\n":
        process.communicate()
        return None
    return process


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


@cache
def find_shell(shell: str) -> str:
    from shutil import which  # most packs have no script

    paths = (which(name, path=_PATH) for name in _SHELLS[shell])
    return next((path for path in paths if path), "")


def read_by_shell(command: str, data: bytes) -> ProgramCheck:
    """Return what a shell finds in a script that it reads and does not run."""
    import subprocess  # most packs have no script

    # `-n` keeps it from running anything; without variables it reads no start-up file.
    options = ["-n"]
    # Scripts turn extglob on with `shopt`, which -n does not run.
    if Path(command).name == "bash":
        options = ["--noprofile", "--norc", "-O", "extglob", "-n"]
    unix = data.replace(b"\r\n", b"\n")  # another rule reports these
    try:
        done = subprocess.run(
            [command, *options],
            input=unix,
            capture_output=True,
            timeout=SHELL_TIMEOUT_S,
            env=_environment(),
            cwd=_ROOT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return _UNCHECKED
    errors = done.stderr
    if done.returncode == 0:
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


def sound_scripts(command: str, scripts: Collection[bytes]) -> frozenset[bytes]:
    """Return the scripts in which a shell finds no error: a process for many.

    Where one is not sound, each half is asked for by itself.
    """
    enclosed = (
        _ENCLOSED
        % (data, b"".join(_AFTER_TEXT % (d, d) for d in _DELIMITER.findall(data)))
        for data in scripts
    )
    if not scripts or read_by_shell(command, b"".join(enclosed)) == ProgramCheck():
        return frozenset(scripts)
    if len(scripts) == 1:
        return frozenset()
    ordered, half = list(scripts), len(scripts) // 2
    return sound_scripts(command, ordered[:half]) | sound_scripts(
        command, ordered[half:]
    )


def _environment() -> dict[str, str]:
    # The patterns expect English messages; no variable of the user may change
    # what the program does. Windows starts no program without its own.
    windows = {key: os.environ[key] for key in ("SYSTEMROOT",) if key in os.environ}
    return {"LC_ALL": "C", **windows}


def not_checked(paths: Sequence[str], sentence: str) -> Finding:
    more = f", nor {len(paths) - 1} more" if paths[1:] else ""
    return Finding.of("program-not-checked", paths[0], sentence=sentence, more=more)
