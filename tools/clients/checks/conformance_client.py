"""The official conformance suite against the source that reads other MCP servers.

The same scenarios are run with a program that checks nothing: it has to fail each of
them, else the scenarios would not have looked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tools.clients.known import HOME, PYTHON, ROOT
from tools.clients.library import LISTED, SKILLS, write
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.clients.bench import Bench


SCENARIOS: Final = (
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-size",
    "sep-2640-client-verify-frontmatter",
)

_ENDED: Final = "Client exited with code"

HOST: Final = HOME / "programs" / "host.py"
"""Takes the address as its last argument; ``--naive`` makes it check nothing."""


def run(bench: Bench) -> Iterator[Step]:
    """Yield two steps for each scenario: our source passes, the naive one does not."""
    for scenario in SCENARIOS:
        bad, passed = _run(bench, scenario)
        if bad or not passed:
            yield Step(scenario, "failed", "; ".join(bad) or "no check was made")
        else:
            yield Step(scenario, "passed", f"{passed} checks")
    for scenario in SCENARIOS:
        bad, _ = _run(bench, scenario, "--naive")
        what = f"{scenario}, a program that checks nothing"
        if bad:
            yield Step(what, "passed", "fails, as it has to")
        else:
            yield Step(what, "failed", "it passes: the scenario looked at nothing")
    yield _reads_ours(bench)


def _reads_ours(bench: Bench) -> Step:
    """Let the same program read our server: there, every file has to pass."""
    library = write(SKILLS, bench.folder / "skills")
    with bench.serve(library) as address:
        environ = {"PYTHONPATH": str(ROOT)}
        done = bench.run([PYTHON, HOST, f"{address}/mcp"], environ=environ)
    loaded = [line for line in done.out.splitlines() if line.endswith(": loaded")]
    what = "the same program reads every file of our server"
    if done.status or len(loaded) < len(LISTED):
        return Step(what, "failed", f"{loaded} {done.last}")
    return Step(what, "passed", f"{len(loaded)} skills")


def _run(bench: Bench, scenario: str, *options: str) -> tuple[list[str], int]:
    """Return what was bad, and the number of checks that passed.

    A program that ends otherwise than well has read nothing that it should not, and
    would pass: the suite itself does not mind.
    """
    found = bench.folder / "-".join((scenario, *options))
    command = " ".join(map(str, ("env", f"PYTHONPATH={ROOT}", PYTHON, HOST, *options)))
    wanted = ["--scenario", scenario, "--output-dir", str(found)]
    done = bench.npm("conformance", "client", "--command", command, *wanted)
    files = list(found.rglob("checks.json"))
    if not files:
        return [done.last], 0
    checks = json.loads(files[0].read_text("utf-8"))
    bad = [line for line in done.out.splitlines() if line.startswith(_ENDED)]
    bad += [
        f"{each['status']} {each['id']}: {each.get('errorMessage', '')}".strip()
        for each in checks
        if each["status"] in {"FAILURE", "WARNING"}
    ]
    return bad, len([each for each in checks if each["status"] == "SUCCESS"])
