"""Claude Code connects, over both transports; no login, no model.

361 MB, so it is run when it is asked for: ``--all``, or by its name.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tools.clients.checks.inspector import stdio_command
from tools.clients.environments import NODE
from tools.clients.known import CACHE, SATCHEL
from tools.clients.library import SKILLS, write
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.clients.bench import Bench

_PACKAGE: Final = CACHE / "claude" / "node_modules" / "@anthropic-ai" / "claude-code"
WRAPPER: Final = _PACKAGE / "cli-wrapper.cjs"
"""Finds the program itself; else a script would have to run when it is installed."""


def run(bench: Bench) -> Iterator[Step]:
    """Add the server over HTTP and over stdio; `claude mcp list` says how they are."""
    claude = (NODE / "node", WRAPPER)
    library = write(SKILLS, bench.folder / "skills")
    with bench.serve(library) as address:
        for name, how in {
            "over-http": ("--transport", "http", "over-http", f"{address}/mcp"),
            "over-stdio": ("over-stdio", "--", *stdio_command(library)),
        }.items():
            done = bench.run([*claude, "mcp", "add", *how])
            if done.status:
                yield Step(f"claude mcp add {name}", "failed", done.last)
        yield _connect(bench, f"{address}/mcp")
        done = bench.run([*claude, "mcp", "list"])
        for name in ("over-http", "over-stdio", "by-connect"):
            lines = [line for line in done.out.splitlines() if line.startswith(name)]
            line = lines[0].rpartition(" - ")[2] if lines else done.last
            good = "Connected" in line
            what = f"claude mcp list: {name.replace('-', ' ')}"
            yield Step(what, "passed" if good else "failed", line)


def _connect(bench: Bench, address: str) -> Step:
    """Let Satchel write the project's file; say yes where a user would be asked."""
    what = "satchel connect claude-code --write"
    mine = ("--url", address, "--name", "by-connect", "--write", "--yes")
    done = bench.run([SATCHEL, "connect", "claude-code", *mine])
    state = bench.folder / "home" / ".claude.json"
    known = json.loads(state.read_text("utf-8"))
    project = known.setdefault("projects", {}).setdefault(str(bench.folder), {})
    project["hasTrustDialogAccepted"] = True
    project["enabledMcpjsonServers"] = ["by-connect"]
    state.write_text(json.dumps(known), "utf-8")
    return Step(what, "failed", done.last) if done.status else Step(what, "passed")
