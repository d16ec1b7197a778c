"""The programs in ``examples/typescript``: the package `ai` with our API, and MCP."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, Final

from tools.clients.bench import npm_command
from tools.clients.environments import NODE
from tools.clients.known import ROOT
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tools.clients.bench import Bench


EXAMPLE: Final = ROOT / "examples" / "typescript"
LIBRARY: Final = ROOT / "examples" / "skills"
_SKILL: Final = "invoice-check/SKILL.md"
_FILE: Final = "invoice-check/references/required-details.md"


def run(bench: Bench) -> Iterator[Step]:
    """Check the types, run both programs, compare what the model was given."""
    folder = bench.folder / "typescript"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "node_modules").symlink_to(npm_command("").parent)
    done = bench.npm("tsc", "-p", folder)
    yield Step("types", "failed" if done.status else "passed", done.out.strip()[:300])
    skill, file = ((LIBRARY / path).read_text("utf-8") for path in (_SKILL, _FILE))
    with bench.serve(LIBRARY) as address:
        given, error = _run(bench, folder / "desk.ts", address)
        yield _compare("load_skill over /v1", given, 0, skill, error)
        yield _compare("read_skill_file over /v1", given, 1, file, error)
        yield _compare("an unknown skill over /v1", given, 2, "skill-not-found", error)
        given, error = _run(bench, folder / "over-mcp.ts", address)
        yield _compare("load_skill over MCP", given, 0, "# Invoice check", error)


def _run(bench: Bench, program: Path, address: str) -> tuple[list[dict[str, Any]], str]:
    """Return the results of the tools, and what went wrong."""
    done = bench.run([NODE / "node", program, address])
    *results, said = done.out.splitlines() or [""]
    if done.status or said != "The invoice is in order.":
        return [], done.last
    return [json.loads(line) for line in results], ""


def _compare(
    what: str, given: list[dict[str, Any]], at: int, text: str, error: str
) -> Step:
    """Look for a text: the whole result, or a line of what is inside it."""
    if error or at >= len(given):
        return Step(what, "failed", error or "the model was given nothing")
    output = given[at]["output"]
    if output == text:
        return Step(what, "passed", f"{len(text)} characters as they are in the file")
    if text not in json.dumps(output):
        return Step(what, "failed", f"it was given {json.dumps(output)[:200]}")
    return Step(what, "passed")
