"""Other processes of the suite: one goes on with a conversation, one dies of a call.

Run as ``python -m tests.adapters.processes go_on ADAPTER PACKS`` with the conversation
on stdin, or ``say_yes ADAPTER PACKS EFFECTS [die]`` with the stored conversation and
the paused run: it says yes, each effect is a line of the file EFFECTS, and with ``die``
it is killed right after the first. ``ADAPTER:NAME`` is a driver next to ``DRIVER``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.policy import ask
from tests.adapters.desk import ANA, REFUND, Desk, load, open_desk, script, setup
from tests.adapters.driver import Driver, Paused

if TYPE_CHECKING:
    from collections.abc import Callable

    from satchel import Satchel

PAYS = script([load("refunds")], [REFUND], "done")


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
        {"system": each.system, "tools": each.tools, "results": each.results}
        for each in rig.seen
    ]
    print(json.dumps({"said": output, "seen": seen}))  # noqa: T201 - its whole point


def say_yes(name: str, packs: str, effects: str, dies: str = "") -> None:
    """Say yes to the paused run, and print the result."""
    given = json.loads(sys.stdin.read())
    skills = careful(Path(packs), Effects(Path(effects), dies=bool(dies)))
    rig = _driver(name).build(setup(skills, PAYS))
    rig.restore(given["saved"])
    paused = Paused(REFUND.name, REFUND.arguments, given["state"])
    output = asyncio.run(rig.decide(paused, approve=True))
    print(json.dumps({"said": output, "result": rig.seen[-1].results[-1]}))  # noqa: T201


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"go_on": go_on, "say_yes": say_yes}
    commands[sys.argv[1]](*sys.argv[2:])
