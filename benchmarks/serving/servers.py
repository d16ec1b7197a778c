"""Servers as processes: started, waited for, measured from outside, stopped."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.serving.client import rate

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from benchmarks.serving.client import Wish

_PATIENCE_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Server:
    """One that answers; ``ready_s`` is from its start to the first right answer."""

    port: int
    pid: int
    ready_s: float

    @property
    def resident_bytes(self) -> int:
        """Resident memory of its process now."""
        status = Path(f"/proc/{self.pid}/status").read_text("ascii")
        line = next(each for each in status.splitlines() if each.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    @property
    def processor_s(self) -> float:
        """Seconds of processor time that its process has taken, in all threads."""
        # After the name, which may hold a space: the 12th and 13th field (proc(5)).
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ours(folder: Path, *options: str) -> list[str]:
    """Return the command that serves a folder, without its port."""
    skills = ["--skills", str(folder), *options]
    return [sys.executable, "-m", "satchel", "serve", *skills, "--port"]


def bare(folder: Path) -> list[str]:
    """Return the command of the server that answers from a dict."""
    return [sys.executable, "-m", "benchmarks.serving.bare", str(folder)]


def fastmcp(python: str, folder: Path) -> list[str]:
    """Return the command of FastMCP's provider, under a Python that has it."""
    script = Path(__file__).with_name("_fastmcp_script.py")
    return [python, str(script), str(folder)]


@contextmanager
def running(
    command: Sequence[str],
    first: Wish,
    home: Path,
    variables: Mapping[str, str] | None = None,
) -> Generator[Server]:
    """Run a server until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    environ |= variables or {}
    start = time.perf_counter()
    with (
        (home / "log").open("wb") as log,
        subprocess.Popen(
            [*command, str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environ,
        ) as process,
    ):
        try:
            ready_s = _wait(process, port, first, start)
            yield Server(port, process.pid, ready_s)
        except BaseException:
            print((home / "log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
        finally:
            process.terminate()
            process.wait(30)


def _wait(
    process: subprocess.Popen[bytes], port: int, first: Wish, start: float
) -> float:
    while time.perf_counter() - start < _PATIENCE_S and process.poll() is None:
        try:
            # It costs the server no time that it could start in.
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            rate(port, [first], 1, 1)
        except (OSError, ExceptionGroup):
            time.sleep(0.01)
        else:
            return time.perf_counter() - start
    raise RuntimeError(f"no answer from {process.args!r}")
