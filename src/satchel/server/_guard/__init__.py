"""Who may come in to a server, and what abuse of it comes to.

`guard` puts everything before an ASGI application; `check_bind` refuses to listen where
it should not; `uvicorn_options` and `transport_security` tell uvicorn and ``mcp`` the
same rules.
"""
