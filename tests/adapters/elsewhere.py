"""The other process of the suite: it takes a conversation up and says what it saw.

Run as ``python -m tests.adapters.elsewhere ADAPTER PACKS``, the conversation on stdin;
``ADAPTER:NAME`` is a driver beside ``DRIVER``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path

from tests.adapters.desk import open_desk, script, setup
from tests.adapters.driver import Call, Driver

REFUND = Call("refund", {"order_id": "A-1", "cents": 995})


def main(name: str, packs: str) -> None:
    """Say one thing more, and print what the model saw as one line of JSON."""
    module, _, attribute = name.partition(":")
    drivers = import_module(f"tests.adapters.{module}")
    driver: Driver = getattr(drivers, attribute or "DRIVER")
    rig = driver.build(setup(open_desk(Path(packs)), script([REFUND], "done")))
    rig.restore(sys.stdin.read())
    who = {"user": "ana", "groups": ["support"]}
    said = asyncio.run(rig.say("two", who=who))
    seen = [
        {"system": each.system, "tools": each.tools, "results": each.results}
        for each in rig.seen
    ]
    print(json.dumps({"said": said, "seen": seen}))  # noqa: T201 - its whole point


if __name__ == "__main__":
    main(*sys.argv[1:])
