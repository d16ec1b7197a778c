"""Scripts of public packs, drawn by a seed and run in the sandbox.

``python -m benchmarks.drawn_scripts LIBRARIES ENVIRONMENT`` takes a folder of
libraries, and one for an environment, which it makes. What Python lacks for a pack is
installed there by the line that Satchel prints; then the first script of each pack is
asked for its help.
"""

import json
import logging
import random
import shlex
import subprocess
import sys
import venv
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.measure import table
from satchel import Policy, Satchel, allow
from satchel.model import Outcome
from satchel_scripts import Sandbox

COUNT: Final = 20
SEED: Final = 20
_SUFFIXES: Final = (".py", ".sh", ".js")
# What a program says that wants other arguments, or a place to work in.
_WANTS: Final = ("usage", "must be run", "does not exist", "flags")


def drawn(libraries: Path) -> list[tuple[Path, str, str]]:
    """Return a library, a skill and a script of it, for each pack that is drawn."""
    every: list[tuple[Path, str, str]] = []
    for folder in sorted(libraries.iterdir()):
        with Satchel(folder, sinks=[]) as skills:
            for entry in skills.catalog:
                files = [p for p in entry.resources if p.endswith(_SUFFIXES)]
                if files:
                    every.append((folder, entry.id, files[0]))
    random.Random(SEED).shuffle(every)  # noqa: S311 - a draw that others can repeat
    return every[:COUNT]


def rows(libraries: Path, environment: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield each pack, its script, what it needed first, and how it ended."""
    runner = Sandbox(python=environment, timeout_s=60)
    policy = Policy(allow("*", "script"))
    for folder, skill, path in drawn(libraries):
        with Satchel(folder, policy=policy, runner=runner, sinks=[]) as skills:
            chat = skills.session()
            chat.call("load_skill", {"skill_id": skill})
            entry = skills.view().descriptor(skill)
            lacking = runner.missing(entry, lambda p, id=skill: skills.load(id, p).data)
            needs = (*lacking.requirements, *lacking.programs) if lacking else ()
            if lacking and lacking.install:
                subprocess.run(shlex.split(lacking.install), check=False)
            call = {"skill_id": skill, "path": path, "args": ["--help"]}
            result = chat.call("run_skill_script", call)
            yield (
                skill,
                path,
                ", ".join(needs),
                ending(getattr(result, "outcome", None), result),
            )


def ending(outcome: Outcome | None, result: object) -> str:
    """Return how a run ended: by itself, or with an error that it does not explain."""
    if outcome is None or outcome.ending != "exit":
        return str(result).partition("\n")[0]
    said = (outcome.stdout + outcome.stderr).casefold()
    if outcome.exit_code == 0 or any(words in said for words in _WANTS):
        return "its end"
    return said.strip().rpartition("\n")[2]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.getLogger("satchel").setLevel(logging.CRITICAL)
    if not Path(sys.argv[2]).exists():
        venv.create(sys.argv[2], with_pip=True)
    found = [*rows(Path(sys.argv[1]), Path(sys.argv[2]))]
    print(table(("skill", "script", "needed", "ended"), found))
    print(json.dumps({"its end": sum(row[-1] == "its end" for row in found)}))
