"""Serving one library of skills: MCP and HTTP on one port, or MCP over stdio."""

__all__: list[str] = []
