"""MCP Inspector's command line: it compares digests, sizes and frontmatter itself."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tools.clients.bench import COMMAND_TIMEOUT_S
from tools.clients.known import SATCHEL
from tools.clients.library import SKILLS, write
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tools.clients.bench import Bench, Done


_NESTED: Final = "skill://a-nested"

METHODS: Final = {
    "tools/list": (),
    "prompts/list": (),
    "prompts/get": ("--prompt-name", "d-arguments", "--prompt-args", "name=Ana"),
    "resources/list": (),
    "resources/read": ("--uri", f"{_NESTED}/SKILL.md"),
    "skills/list": (),
    "skills/get": ("--uri", f"{_NESTED}/SKILL.md"),
    "resources/directory/read": ("--uri", f"{_NESTED}/references"),
}
"""What is asked for, with its arguments."""

_BOTH: Final = ("modern", "legacy")
ERAS: Final = {
    method: ("modern",) if method.startswith(("skills/", "resources/dir")) else _BOTH
    for method in METHODS
}
"""Inspector knows of skills in the modern era only."""


def run(bench: Bench) -> Iterator[Step]:
    """Verify every skill over both transports, then call each other method."""
    library = write(SKILLS, bench.folder / "skills")
    with bench.serve(library) as address:
        http = (f"{address}/mcp",)
        yield verify(bench, "http", http)
        for method in METHODS:
            yield from (call(bench, "http", http, method, era) for era in ERAS[method])
    stdio = stdio_command(library)
    yield verify(bench, "stdio", stdio)
    for era in ("modern", "legacy"):
        yield call(bench, "stdio", stdio, "tools/list", era)


def stdio_command(library: Path) -> tuple[str, ...]:
    """Return the command that a client starts to speak over stdio."""
    return (str(SATCHEL), "serve", str(library), "--stdio")


def verify(
    bench: Bench, transport: str, target: tuple[str, ...], *options: str
) -> Step:
    """Let Inspector verify every skill that the server lists."""
    what = f"skills/list --verify over {transport}"
    # A server over stdio comes with options of its own: ours go before it.
    mine = ("--protocol-era", "modern", "--require-digests", *options)
    done = inspect(bench, target, "--method", "skills/list", "--verify", *mine)
    reports = reports_of(done)
    verified = [each for each in reports if each.get("outcome") == "verified"]
    files = sum(len(each["files"]) for each in verified)
    if done.status or not verified or len(verified) < len(reports):
        wrong = [each.get("uri", "?") for each in reports if each not in verified]
        return Step(what, "failed", f"status {done.status}: {wrong[:5]} {done.last}")
    return Step(what, "passed", f"{len(verified)} skills, {files} files verified")


def call(
    bench: Bench, transport: str, target: tuple[str, ...], method: str, era: str
) -> Step:
    """Call one method, as a client of one era."""
    mine = ("--protocol-era", era, "--format", "json", *METHODS[method])
    done = inspect(bench, target, "--method", method, *mine)
    what = f"{method} over {transport}, {era}"
    if done.status or not reports_of(done):
        return Step(what, "failed", f"status {done.status}: {done.last}")
    return Step(what, "passed")


def inspect(
    bench: Bench,
    target: tuple[str, ...],
    *options: str,
    timeout_s: float = COMMAND_TIMEOUT_S,
) -> Done:
    """Run Inspector against an address, or a command that speaks over stdio."""
    return bench.npm("mcp-inspector", "--cli", *target, *options, timeout_s=timeout_s)


def reports_of(done: Done) -> list[dict[str, Any]]:
    """Return the JSON objects that were printed, a line or a whole text each."""
    with suppress(json.JSONDecodeError):
        return [json.loads(done.out)]
    found: list[dict[str, Any]] = []
    for line in done.out.splitlines():
        with suppress(json.JSONDecodeError):
            found.append(json.loads(line))
    return found
