"""Time the agents of one framework, under its interpreter.

``python -m benchmarks.attached NAME FOLDER SECONDS`` prints one JSON object. Each
conversation is held once by every set-up before the next one begins, every other time
in reverse, so that what slows the machine down slows all of them; SECONDS of
processor time are for all of them together.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import logging
import os
import sys
import time
import warnings
from collections import deque
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.attached._script import Script
from benchmarks.peers._run import describe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from benchmarks.attached._script import Call, Open, Setup

STEPS: Final = 10
TURNS: Final = 10
LEAST: Final = 4
"""So often is each conversation held in any case."""
SLOW: Final = 2
"""A set-up that takes more time than so often the bare one's, has to wait."""
Talk = list[list["Call"]]
"""The tool calls of each turn; a turn ends with a text."""


def talks(load: Call) -> dict[str, Talk]:
    """Return the conversations: one of many steps, one of many turns."""
    note: Call = ("note", {"text": "What was found, in some words, to be kept."})
    return {
        "steps": [[load, *[note] * STEPS]],
        "turns": [[load], *[[note]] * TURNS],
    }


async def first_call(
    setup: Setup, folder: str, script: Script
) -> tuple[Open, float, float]:
    """Make an agent and have it called once; return both times, in seconds."""
    gc.collect()
    start = time.perf_counter()
    begin = await setup.make(folder, script)
    made = time.perf_counter()
    await begin()("Hello.")
    return begin, made - start, time.perf_counter() - start


async def hold(begin: Open, talk: Talk, script: Script) -> tuple[float, float]:
    """Hold one conversation; return wall and processor seconds for each model call."""
    gc.collect()
    before = script.calls
    start, spent = time.perf_counter(), time.process_time()
    say = begin()
    for turn in talk:
        script.steps = deque(turn)
        await say("Please go on with it.")
    wall, spent = time.perf_counter() - start, time.process_time() - spent
    calls = script.calls - before
    wanted = sum(len(turn) + 1 for turn in talk)
    if calls != wanted:
        raise ValueError(f"{calls} model calls instead of {wanted}")
    return wall / calls, spent / calls


async def measure(
    module: ModuleType, folder: str, skill: str, seconds: float
) -> dict[str, Any]:
    """Return the figures of every set-up by name."""
    found: dict[str, dict[str, Any]] = {}
    agents: list[tuple[Setup, Open, Script, dict[str, Talk]]] = []
    for setup in module.SETUPS:
        script = Script()
        try:
            begin, made_s, first_s = await first_call(setup, folder, script)
        except ModuleNotFoundError as error:
            found[setup.name] = {"error": describe(error)}
            continue
        system, tools = module.show(script)
        held = talks(setup.load(folder, skill))
        for talk in held.values():  # once for all that is made but once
            await hold(begin, talk, script)
        agents.append((setup, begin, script, held))
        found[setup.name] = {
            "over": setup.over,
            "lists": setup.lists,
            "made_s": made_s,
            "first_s": first_s,
            "system": system,
            "tools": tools,
            **{name: {"wall": [], "cpu": []} for name in held},
        }
    gc.freeze()
    for name in talks(("", {})):
        begun = time.process_time()
        for number in count():
            if number >= LEAST and time.process_time() - begun > seconds:
                break
            for setup, begin, script, held in _turned(agents, number):
                said = found[setup.name][name]
                if number >= LEAST and sum(said["cpu"]) > SLOW * sum(
                    found[agents[0][0].name][name]["cpu"]
                ):
                    continue  # the others have to be held often enough
                wall, cpu = await hold(begin, held[name], script)
                said["wall"].append(wall)
                said["cpu"].append(cpu)
    return found


def _turned(agents: list[Any], number: int) -> Iterator[Any]:
    return reversed(agents) if number % 2 else iter(agents)


def main() -> None:
    """Measure, and report on standard output; what frameworks print goes nowhere."""
    name, folder, seconds = sys.argv[1:]
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"benchmarks.attached.{name}")
    logging.disable(logging.CRITICAL)
    try:
        packs = sorted(path.name for path in Path(folder).iterdir())
        skill = packs[len(packs) // 2]
        found = asyncio.run(measure(module, folder, skill, float(seconds)))
    except Exception as error:  # noqa: BLE001 - whatever a framework does is its result
        found = {"error": describe(error)}
    report.write(json.dumps(found) + "\n")
    report.flush()
    # Threads that a framework leaves behind must not keep the answer waiting.
    os._exit(0)


if __name__ == "__main__":
    main()
