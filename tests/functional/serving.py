"""A real server in a process of its own, and how to end it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["Served", "serving"]

WAIT_S: Final = 30
_READY: Final = "stop with Ctrl-C"
_URL: Final = re.compile(r"MCP +(http://\S+)/mcp")


@dataclass
class Served:
    """A server that runs: where, and what it has said on standard error."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it answers."""
        results = next(filter(None, map(_URL.search, self.said)))
        return results[1]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it as an operator would; return its status."""
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=WAIT_S)
        self.said += rest.splitlines()
        return self.process.returncode


@contextmanager
def serving(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> Generator[Served]:
    """Run ``satchel serve`` at a port that is free, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "satchel", "serve", "--port", "0", *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    served = Served(process)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            served.said.append(line.rstrip("\n"))
            if _READY in line:
                break
        yield served
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=WAIT_S)
