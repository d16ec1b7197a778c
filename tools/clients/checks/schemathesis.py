"""Schemathesis against the description of ``/v1``: examples, edge cases, sequences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tools.clients.environments import CLIENTS
from tools.clients.library import SKILLS, write
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.clients.bench import Bench


EXAMPLES: Final = 25
"""For each operation; with the edge cases some 1,000 requests in all."""

_COUNT: Final = re.compile(r"(\d+) generated, (\d+) passed")
_SEED: Final = "20261121"  # the same requests in every run
_PHASES: Final = ("Examples", "Coverage", "Fuzzing", "Stateful")


def run(bench: Bench) -> Iterator[Step]:
    """Let it make requests from the description, and compare each answer with it."""
    library = write(SKILLS, bench.folder / "skills")
    command = CLIENTS.with_name("schemathesis")
    with bench.serve(library) as address:
        mine = ["--max-examples", str(EXAMPLES), "--seed", _SEED, "--no-color"]
        done = bench.run([command, "run", f"{address}/v1/openapi.json", *mine])
    counts = _COUNT.search(done.out)
    phases = [phase for phase in _PHASES if f"✅  {phase}" in done.out]
    said = f"{counts[1]} requests" if counts else done.last
    if done.status or counts is None or len(phases) < len(_PHASES):
        tail = " | ".join(line for line in done.out.splitlines() if "❌" in line)
        yield Step("/v1/openapi.json", "failed", f"{said}; {tail}")
    else:
        yield Step("/v1/openapi.json", "passed", f"{said}, phases: {', '.join(phases)}")
