"""Skills of MCP servers, as a source: Satchel as a host of the Skills extension."""

# The folder is not called `mcp`, since that is what the function in `satchel.sources`
# is called.
