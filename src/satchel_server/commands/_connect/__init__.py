"""``satchel connect``: entries in the files of MCP clients; it needs no server."""
