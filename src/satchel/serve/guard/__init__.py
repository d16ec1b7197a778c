"""Who may come in to a server, and what abuse of it comes to.

`guard` puts everything before an ASGI application; `check_bind` refuses to listen where
it should not; `uvicorn_options` and `transport_security` tell uvicorn and ``mcp`` the
same rules.
"""

from satchel.serve.guard.binding import check_bind
from satchel.serve.guard.gate import guard
from satchel.serve.guard.hosts import transport_security
from satchel.serve.guard.loopback import is_loopback
from satchel.serve.guard.oauth import OAuthSettings
from satchel.serve.guard.settings import GuardSettings
from satchel.serve.guard.token_files import VARIABLE, TokenFile, open_tokens
from satchel.serve.guard.tokens import FixedTokens, Token, Tokens, digest_of

__all__ = [
    "VARIABLE",
    "FixedTokens",
    "GuardSettings",
    "OAuthSettings",
    "Token",
    "TokenFile",
    "Tokens",
    "check_bind",
    "digest_of",
    "guard",
    "is_loopback",
    "open_tokens",
    "transport_security",
]
