"""What the tests put on a server, and the source that reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

from satchel import sources
from satchel_server.mcp_source import McpSource
from tests.unit.sources.mcp.serving import FakeServer

__all__ = ["REFUNDS", "reading", "skill_md"]


def skill_md(name: str, description: str = "Use it.", more: str = "") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n# Do\n".encode()


REFUNDS: Final = {
    "SKILL.md": skill_md("refunds", "Use for refunds."),
    "references/rules.md": b"Ask \xc3\xa9 first.\r\n",
    "scripts/run.py": b"print(1)\n",
}


@contextmanager
def reading(server: object, **options: object) -> Iterator[McpSource]:
    """Open a source over a server, and close it."""
    target = server.server() if isinstance(server, FakeServer) else server
    given: dict[str, Any] = {"label": "docs", "timeout_s": 5.0, **options}
    source = cast("McpSource", sources.mcp(target, **given))
    try:
        yield source
    finally:
        source.close()
