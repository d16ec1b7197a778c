"""The clients that are written in Python: those of `mcp`, FastMCP, Agent Framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tools.clients.library import SKILLS, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.clients.bench import Bench
    from tools.clients.outcome import Step


PROGRAMS: Final = ("mcp_client", "fastmcp_client", "agent_framework_client")


def run(bench: Bench) -> Iterator[Step]:
    """Run each program against one server, which has what older readers ask for."""
    library = write(SKILLS, bench.folder / "skills")
    with bench.serve(library, "--compat") as address:
        for name in PROGRAMS:
            yield from bench.program(name, address, library)
