"""What a server is told when it starts."""

from dataclasses import dataclass
from typing import Final

from satchel.model import Style

__all__ = ["ServeSettings"]

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """How skills are served; nothing here says who may come in (`serve.guard`).

    ``style`` is that of the MCP tools. ``ttl_s`` is how many seconds a client may keep
    an answer about the catalog. ``compat`` adds the resources that older readers ask
    for. ``page_size`` is the number of skills on one page of a list: MCP Inspector
    reads 64 pages at most, FastMCP's client 250.
    """

    name: str = "satchel"
    style: Style = "packs"
    ttl_s: int = 60
    page_size: int = 250
    compat: bool = False
    allow_empty: bool = False
    """Whether a server without a skill calls itself ready."""
    max_resources: int = 512
    """Files of one skill in MCP's skills extension (SEP-2640)."""
    max_skill_bytes: int = 16 * _MIB
    """Bytes of one skill in MCP's skills extension (SEP-2640)."""
