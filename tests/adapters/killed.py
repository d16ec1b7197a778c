"""The other process of the suite that dies: right after a tool's effect, or not at all.

Run as ``python -m tests.adapters.killed ADAPTER PACKS EFFECTS [die]``, with the stored
conversation and the paused run on stdin; it says yes, and each effect is a line of the
file EFFECTS. ``ADAPTER:NAME`` is a driver next to ``DRIVER``.
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
from tests.adapters.desk import Desk, load, open_desk, script, setup
from tests.adapters.driver import Call, Driver, Paused

if TYPE_CHECKING:
    from satchel import Satchel

REFUND = Call("refund", {"order_id": "A-1", "cents": 995})
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


def main(name: str, packs: str, effects: str, dies: str = "") -> None:
    """Say yes to the paused run, and print what came of it."""
    module, _, attribute = name.partition(":")
    drivers = import_module(f"tests.adapters.{module}")
    driver: Driver = getattr(drivers, attribute or "DRIVER")
    given = json.loads(sys.stdin.read())
    skills = careful(Path(packs), Effects(Path(effects), dies=bool(dies)))
    rig = driver.build(setup(skills, PAYS))
    rig.restore(given["saved"])
    paused = Paused(REFUND.name, REFUND.arguments, given["state"])
    said = asyncio.run(rig.decide(paused, approve=True))
    print(json.dumps({"said": said, "result": rig.seen[-1].results[-1]}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
