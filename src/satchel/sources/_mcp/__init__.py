"""Skills of MCP servers, as a source: the Skills extension, and the older index.

The one part of Satchel that is a host, in the words of the extension. Its rules are
those of ``io.modelcontextprotocol/skills`` (SEP-2640, stable). The folder is not called
``mcp``, since that is what the function in `satchel.sources` is called.
"""
