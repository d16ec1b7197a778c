"""Other processes of the suite: one goes on with a conversation, one dies of a call.

Run as ``python -m tests.adapters.processes go_on ADAPTER PACKS`` with the conversation
on stdin, or ``say_yes ADAPTER PACKS EFFECTS [die]`` with the stored conversation and
the paused run: it says yes, each effect is a line of the file EFFECTS, and with ``die``
it is killed right after the first. ``ADAPTER:NAME`` is a driver next to ``DRIVER``.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

from satchel import Satchel
from satchel.policy import ask
from tests.adapters.desk import ANA, PAYS, REFUND, Desk, open_desk, script, setup
from tests.adapters.driver import Driver, Paused
from tools.adapters.frameworks import ROOT


def in_process(
    *arguments: object, given: str, approvals: str = "memory"
) -> subprocess.CompletedProcess[str]:
    """Run this module in another process, which keeps used ``approvals`` there.

    What it started does not outlive it. An agent's program that did would hold a pipe
    for minutes, so the output goes to files.
    """
    command = [sys.executable, "-m", "tests.adapters.processes", *map(str, arguments)]
    environ = {**os.environ, "SATCHEL_APPROVALS": approvals}
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            cwd=ROOT,
            env=environ,
            text=True,
            start_new_session=True,
        )
        process.communicate(given)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(
            command, process.returncode, output.read(), errors.read()
        )


class Effects(list[str]):
    """What was done, on disk before anything else happens; then the process may die."""

    def __init__(self, file: Path, *, dies: bool = False) -> None:
        super().__init__()
        self._file = file
        self._dies = dies

    def append(self, done: str) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{done}\n")
            file.flush()
            os.fsync(file.fileno())
        if self._dies:
            os.kill(os.getpid(), signal.SIGKILL)


def careful(packs: Path, effects: Effects) -> Satchel:
    """Return the desk where somebody is asked before money is paid."""
    return open_desk(packs, Desk(effects), ask("refunds", tool="refund"))


def _driver(name: str) -> Driver:
    module, _, attribute = name.partition(":")
    drivers = import_module(f"tests.adapters.{module}")
    driver: Driver = getattr(drivers, attribute or "DRIVER")
    return driver


def go_on(name: str, packs: str) -> None:
    """Take a conversation up, say one thing more, and print what the model saw."""
    model = script([REFUND], "done")
    rig = _driver(name).build(setup(open_desk(Path(packs)), model))
    rig.restore(sys.stdin.read())
    output = asyncio.run(rig.say("two", who=ANA))
    seen = [
        {"system": step.system, "tools": step.tools, "results": step.results}
        for step in rig.seen
    ]
    print(json.dumps({"said": output, "seen": seen}))  # noqa: T201 - its whole point


def say_yes(name: str, packs: str, effects: str, dies: str = "") -> None:
    """Say yes to the paused run, and print the result."""
    given = json.loads(sys.stdin.read())
    skills = careful(Path(packs), Effects(Path(effects), dies=bool(dies)))
    rig = _driver(name).build(setup(skills, script(*PAYS)))
    rig.restore(given["saved"], given.get("chat", "one"))
    paused = Paused(REFUND.name, REFUND.arguments, given["state"])
    output = asyncio.run(rig.decide(paused, approve=True))
    print(json.dumps({"said": output, "result": rig.seen[-1].results[-1]}))  # noqa: T201


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"go_on": go_on, "say_yes": say_yes}
    commands[sys.argv[1]](*sys.argv[2:])
