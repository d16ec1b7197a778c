"""``satchel connect``: entries for this server in the files of MCP clients.

Nothing here needs a server, or its libraries.
"""
