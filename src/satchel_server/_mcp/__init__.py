"""MCP: the skills extension, tools for every other client, and prompts for users."""
