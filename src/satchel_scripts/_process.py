"""Start a program, read what it prints, and end it with all that it started."""

# ruff: noqa: PTH123 - files of /proc

import contextlib
import marshal
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import IO, Final

from satchel.model import Ending, Job, Outcome
from satchel_scripts._launch import SIGNALLED, descendants
from satchel_scripts._limits import NotRunError, RunLimits

_LAUNCH: Final = Path(__file__).with_name("_launch.py").read_text("utf-8")
# What bubblewrap writes of the first process in it, in several writes.
_ANCHOR: Final = re.compile(rb'"child-pid": ([0-9]+)')
_TICK_S, _SOON_S = 0.05, 0.005
_LOOK_S: Final = 0.25
_END_S: Final = 10.0
_CHUNK: Final = 1 << 16
# A pipe holds 1 MB at the most, where its user is not root.
_DRAINS: Final = 16
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the launcher does, next to the script: plain values, for `marshal`.

    Attributes:
        argv: The command; the first is an absolute path.
        env: All variables that the script has.
        cwd: The folder in which it begins.
        limits: Soft and hard limits by their names.
        uid: The user whom it becomes; 0 stays.
        filter: A seccomp filter that the launcher installs; empty for none.
        landlock: Options of `sandlock`, and the path of a file for this plan.
        supervise: Whether the launcher stays, as the parent of all descendants.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    limits: Mapping[str, tuple[int, int]]
    uid: int = 0
    filter: bytes = b""
    landlock: Mapping[str, object] = field(default_factory=dict[str, object])
    supervise: bool = False

    def dump(self) -> bytes:
        """Return the plan as the launcher reads it."""
        plan = vars(self) | {
            "argv": list(map(os.fsencode, self.argv)),
            "env": {os.fsencode(k): os.fsencode(v) for k, v in self.env.items()},
        }
        # Version 2 is read by each Python 3.
        return marshal.dumps(plan, 2)


def open_file(data: bytes) -> IO[bytes]:
    """Return an open file without a name that holds some bytes."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(data)
    file.seek(0)
    return file


def launcher(python: str) -> tuple[str, ...]:
    """Return the command that runs the launcher."""
    return (python, "-I", "-S", "-c", _LAUNCH)


@dataclass(kw_only=True)
class ProgramStart:
    """What is started: a command that runs the launcher, by ways of its own.

    Attributes:
        command: The command; two numbers of open files are put behind it.
        fds: Open files that this command needs.
        stops: Whether it ends all others when it is asked to, by SIGTERM.
        info: What it writes of the process that all others depend on is read here.
        info_end: ... and written there; closed when it was started.
    """

    command: Sequence[str]
    fds: Sequence[int] = ()
    stops: bool = False
    info: int | None = None
    info_end: IO[bytes] | None = None


class Capped:
    """What a program prints: its beginning, and more of its end."""

    def __init__(self, most: int) -> None:
        self._head_bytes = most // 4
        self._tail_bytes = most - self._head_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        """Take more of it."""
        room = self._head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        beyond = len(self._tail) - self._tail_bytes
        if beyond > 0:
            del self._tail[:beyond]
            self._left_out += beyond

    def text(self) -> str:
        """Return it as text, with a line that counts what was left out."""
        line = f"\n[{self._left_out:,} bytes are left out]\n" if self._left_out else ""
        return (self._head + line.encode() + self._tail).decode("utf-8", "replace")


class RunningProgram:
    """A program that runs: its pipes, its first process, its end."""

    def __init__(
        self, program: ProgramStart, plan: Plan, stdin: str, output_bytes: int
    ) -> None:
        self._stops = program.stops
        self._anchor: int | None = None
        self.anchor_pid = 0
        given = stdin.encode("utf-8", "surrogateescape")
        with open_file(plan.dump()) as plan_file, open_file(given) as stdin_file:
            status, status_end = os.pipe()
            files = (plan_file.fileno(), status_end)
            try:
                self.process = subprocess.Popen(
                    [*program.command, *map(str, files)],
                    stdin=stdin_file,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=(*files, *program.fds),
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                os.close(status)
                raise NotRunError(f"it cannot be started: {error}") from error
            finally:
                os.close(status_end)
                if program.info_end is not None:
                    program.info_end.close()
        self._status = status
        pipes = filter(None, (self.process.stdout, self.process.stderr))
        self.outputs = [(pipe, Capped(output_bytes)) for pipe in pipes]

    def find_anchor(self, info: int) -> None:
        """Hold the process whose end ends all others, before its id can be reused.

        Raises:
            NotRunError: It is not named, and so would not be ended.
        """
        text = b""
        while wait_readable(info, _END_S) and (data := os.read(info, _CHUNK)):
            text += data
        if match := _ANCHOR.search(text):
            self.anchor_pid = int(match[1])
            with contextlib.suppress(ProcessLookupError):
                self._anchor = os.pidfd_open(self.anchor_pid)
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_LOOK_S)
        if self.process.returncode is None:
            raise NotRunError("the sandbox does not say which process it is")

    def end(self) -> None:
        """Kill every process, and return when all are gone."""
        if self._anchor is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._anchor, signal.SIGKILL)
            wait_readable(self._anchor, _END_S)
        if self._stops:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_END_S)
        self.process.kill()
        self.process.wait()

    def drain(self) -> None:
        """Read what is left in the pipes."""
        for pipe, output in self.outputs:
            for _ in range(_DRAINS):
                if not _read(pipe.fileno(), output):
                    break

    def status(self) -> str:
        """Return what the launcher wrote: ``+``, and an error if there was one."""
        os.set_blocking(self._status, False)
        try:
            return os.read(self._status, _CHUNK).decode("utf-8", "replace")
        except BlockingIOError:
            return ""

    def close(self) -> None:
        """Close all files."""
        os.close(self._status)
        if self._anchor is not None:
            os.close(self._anchor)
        for pipe, _ in self.outputs:
            pipe.close()


def wait_readable(fd: int, timeout_s: float) -> bool:
    """Wait until there is something to read, or the process of a pidfd has ended."""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        return bool(selector.select(timeout_s))


def run_program(
    program: ProgramStart,
    plan: Plan,
    job: Job,
    limits: RunLimits,
    disk: Callable[[], str],
) -> Outcome:
    """Run a program until it ends, or has to; say how it ended, and what it printed.

    Args:
        program: What to start.
        plan: What the launcher does.
        job: What the script reads, and when nobody waits any more.
        limits: Those that are watched from here.
        disk: Returns which limit of the work folder is passed; empty for none.

    Raises:
        NotRunError: It could not be started.
    """
    run = RunningProgram(program, plan, job.stdin, limits.output_bytes)
    try:
        if program.info is not None:
            run.find_anchor(program.info)
        ending, detail = Watch(run, limits, job.cancelled, disk).until_the_end()
        run.end()
        run.drain()
        status = run.status()
    finally:
        run.end()
        run.close()
    stdout, stderr = (output.text() for _, output in run.outputs)
    if ending == "exit" and status != "+":
        reason = status.lstrip("+") or stderr.strip()
        raise NotRunError(f"it cannot be started: {reason}")
    code = run.process.returncode
    code = SIGNALLED - code if code < 0 else code
    cpu_s = limits.cpu_s
    if ending == "exit" and code == SIGNALLED + signal.SIGXCPU and cpu_s is not None:
        ending, detail = "limit", f"more than {cpu_s:g} s of processor time"
    if ending == "exit" and code == SIGNALLED + signal.SIGKILL:
        detail = "it was killed, most likely for the memory that it used"
    exit_code = code if ending == "exit" else None
    return Outcome(
        ending=ending, exit_code=exit_code, stdout=stdout, stderr=stderr, detail=detail
    )


@dataclass
class Watch:
    """Reads what a program prints, and looks at its clock, its size and its caller."""

    run: RunningProgram
    limits: RunLimits
    cancelled: Event
    disk: Callable[[], str]
    began: float = field(default_factory=time.monotonic)
    looked: float = field(default_factory=time.monotonic)

    def until_the_end(self) -> tuple[Ending, str]:
        """Return why the program ended, or has to be ended."""
        with selectors.DefaultSelector() as selector:
            for pipe, output in self.run.outputs:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, output)
            while True:
                # A script that has closed both pipes is about to end.
                for key, _ in selector.select(
                    _TICK_S if selector.get_map() else _SOON_S
                ):
                    if not _read(key.fd, key.data):
                        selector.unregister(key.fileobj)
                if self.run.process.poll() is not None:
                    return "exit", ""
                if reason := self._reason():
                    return reason

    def _reason(self) -> tuple[Ending, str] | None:
        if self.cancelled.is_set():
            return "cancelled", ""
        now = time.monotonic()
        if now - self.began > self.limits.timeout_s:
            return "time-out", f"it ran longer than {self.limits.timeout_s:g} s"
        if now - self.looked < _LOOK_S:
            return None
        reason = self.disk() or self._too_much()
        self.looked = time.monotonic()
        return ("limit", reason) if reason else None

    def _too_much(self) -> str:
        limits, run = self.limits, self.run
        used = [*map(_usage, descendants(run.anchor_pid or run.process.pid))]
        memory = sum(size for size, _, _ in used)
        seconds = sum(of_one for _, of_one, _ in used)
        processes = sum(threads for _, _, threads in used)
        if limits.memory_bytes is not None and memory > limits.memory_bytes:
            return f"more than {limits.memory_bytes:,} bytes of memory"
        if limits.cpu_s is not None and seconds > limits.cpu_s:
            return f"more than {limits.cpu_s:g} s of processor time"
        if limits.processes is not None and processes > limits.processes:
            return f"more than {limits.processes} processes"
        return ""


def _read(fd: int, output: Capped) -> int:
    try:
        data = os.read(fd, _CHUNK)
    except BlockingIOError:
        return 0
    output.add(data)
    return len(data)


def _usage(pid: int) -> tuple[int, float, int]:
    """Return the private memory of a process, its seconds, and its threads."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of the program, in parentheses, may hold anything.
            fields = file.read().rpartition(b")")[2].split()
        with open(f"/proc/{pid}/statm", "rb") as file:
            pages = file.read().split()
    except OSError:
        return 0, 0.0, 0
    seconds = sum(map(int, fields[11:15])) / _TICKS_A_SECOND
    return (int(pages[1]) - int(pages[2])) * _PAGE, seconds, int(fields[17])
