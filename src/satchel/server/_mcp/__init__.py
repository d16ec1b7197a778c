"""MCP: the Skills extension, tools for every other client, and prompts for people.

What needs the `mcp` package is imported when it is first asked for, so that what is
said of a library without a server (`withheld_from_mcp`) costs nothing.
"""
