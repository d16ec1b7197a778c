"""Write what one framework sends: ``python -m benchmarks.sent NAME FOLDER SKILL``.

It prints one JSON list, with an entry for each form of the feature, and runs under the
interpreter of the framework's environment.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import sys
import warnings
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.attached._script import Script
from benchmarks.peers._run import describe
from benchmarks.sent._texts import Sent, sent

if TYPE_CHECKING:
    from types import ModuleType

    from benchmarks.attached._script import Setup

_HERE = Path(__file__).parent


def main() -> None:
    """Report on standard output; what frameworks print goes nowhere."""
    name, folder, skill = sys.argv[1:]
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    warnings.simplefilter("ignore")
    is_here = (_HERE / f"{name}.py").exists()
    try:
        package = "sent" if is_here else "attached"
        module = importlib.import_module(f"benchmarks.{package}.{name}")
        logging.disable(logging.CRITICAL)
        answer: object = {"sent": asyncio.run(_send(module, folder, skill))}
    except Exception as error:  # noqa: BLE001 - whatever a framework does is its result
        answer = {"error": describe(error)}
    report.write(json.dumps(answer) + "\n")
    report.flush()
    # Threads that a framework leaves behind must not keep the answer waiting.
    os._exit(0)


async def _send(module: ModuleType, folder: str, skill: str) -> list[Sent]:
    if hasattr(module, "send"):
        return [await module.send(folder, skill)]
    return await _agents(module, folder, skill)


async def _agents(module: ModuleType, folder: str, skill: str) -> list[Sent]:
    """Have each agent with the framework's own feature load the skill.

    The prompt and the tools of the agent that it is measured over are taken off.
    """
    texts: list[Sent] = []
    bare: dict[str, tuple[str, str]] = {}
    for setup in module.SETUPS:
        if setup.name == "satchel":
            continue
        script = await _load(setup, folder, skill)
        prompt, tools = module.show(script)
        if not setup.over:
            bare[setup.name] = prompt, tools
            continue
        bare_prompt, bare_tools = bare[setup.over]
        own = [
            json.loads(line)
            for line in tools.splitlines()
            if line not in bare_tools.splitlines()
        ]
        loaded = module.heard(script)
        texts.append(sent(setup.name, prompt, own, loaded, bare_prompt))
    return texts


async def _load(setup: Setup, folder: str, skill: str) -> Script:
    """Return the script after a turn in which the model loads the skill."""
    script = Script()
    say = (await setup.make(folder, script))()
    if setup.over:
        script.steps = deque([setup.load(folder, skill)])
    await say("Please go on with it.")
    return script


if __name__ == "__main__":
    main()
