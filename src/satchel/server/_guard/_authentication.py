"""Who calls: nobody is asked at loopback, elsewhere a bearer token says it.

path                      without a token        with one for some skills only
/healthz                  answered               answered
/readyz                   yes or no, no details  yes or no, no details
/metrics                  refused                refused: its labels name skills
OAuth's metadata          answered               answered
everything else           refused                answered for its skills
"""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from satchel.errors import SourceUnavailableError
from satchel.server._errors import Refusal
from satchel.server._guard._limits import rate_key
from satchel.server._guard._oauth import METADATA_PATH, JwtVerifier, oauth_caller
from satchel.server._guard._tokens import digest_of
from satchel.server._library import ANYONE, Caller

if TYPE_CHECKING:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken, TokenVerifier

    from satchel.server._guard._messages import GuardedRequest
    from satchel.server._guard._oauth import OAuthSettings
    from satchel.server._guard._settings import GuardSettings


_NO_SKILLS: Final = Caller(only=())
_MAX_SECRET: Final = 8192
_RETRY: Final = ((b"retry-after", b"10"),)


@dataclass(frozen=True, slots=True)
class AuthenticatedCaller:
    """One who came in: the caller, whom its requests are counted for.

    ``user`` is what ``mcp`` knows it as, so that nobody else uses its sessions.
    ``terse`` is whether the body of the answer is kept from it. Nothing is counted for
    an empty ``principal``.
    """

    caller: Caller
    principal: str
    user: "AuthenticatedUser | None" = None
    terse: bool = False


class Authenticator:
    """Finds out who calls; one for a server, asked for each request."""

    def __init__(self, settings: "GuardSettings") -> None:
        self._tokens = settings.tokens
        self._oauth = settings.oauth
        self._asks = settings.asks
        self._verifier = _verifier(settings.oauth)

    async def admit(self, seen: "GuardedRequest") -> AuthenticatedCaller | Refusal:
        """Return who calls, or why nobody comes in."""
        peer = rate_key(seen.peer)
        if not self._asks:
            return AuthenticatedCaller(ANYONE, peer)
        shown = seen.all(b"authorization")
        if not shown and (openly := self._openly(seen.path, peer)):
            return openly
        found = await self._who(shown)
        if isinstance(found, Refusal):
            return self._openly(seen.path, peer) or found
        return _for_path(found, seen.path)

    def _openly(self, path: str, peer: str) -> AuthenticatedCaller | None:
        """Return what anybody gets of a path, None for nothing."""
        if path == "/readyz":
            return AuthenticatedCaller(_NO_SKILLS, peer, terse=True)
        # A load balancer asks without a token; the metadata say how to get one.
        metadata = self._oauth is not None and path.startswith(METADATA_PATH)
        return (
            AuthenticatedCaller(_NO_SKILLS, peer)
            if path == "/healthz" or metadata
            else None
        )

    async def _who(self, shown: list[bytes]) -> AuthenticatedCaller | Refusal:
        secret = _bearer(shown)
        if not secret:
            return self._unknown(shown=bool(shown))
        if self._tokens is not None:
            caller = self._tokens.find(digest_of(secret))
            if caller is not None:
                return _by_token(caller)
        if self._verifier is not None and self._oauth is not None:
            try:
                return await self._by_oauth(secret, self._verifier, self._oauth)
            except SourceUnavailableError:
                message = "the server that gives out tokens does not answer"
                return Refusal(503, "issuer-unavailable", message, _RETRY)
        return self._unknown(shown=True)

    async def _by_oauth(
        self, secret: str, verifier: "TokenVerifier", oauth: "OAuthSettings"
    ) -> AuthenticatedCaller | Refusal:
        token = await verifier.verify_token(secret)
        if token is None or not _is_valid(token, oauth):
            return self._unknown(shown=True)
        missing = [each for each in oauth.scopes if each not in token.scopes]
        if missing:
            message = f"the token has no scope {' '.join(missing)}"
            challenge = self._challenge("insufficient_scope", message)
            return Refusal(403, "scope-missing", message, challenge)
        return _with_user(oauth_caller(token, oauth), token)

    def _unknown(self, *, shown: bool) -> Refusal:
        if shown:
            message = "this token is not known here, or no longer"
            challenge = self._challenge("invalid_token", message)
            return Refusal(401, "token-unknown", message, challenge)
        message = "this server asks for a token: Authorization: Bearer ..."
        return Refusal(401, "token-required", message, self._challenge())

    def _challenge(
        self, error: str = "", detail: str = ""
    ) -> tuple[tuple[bytes, bytes], ...]:
        """Return WWW-Authenticate (RFC 6750, section 3; RFC 9728, section 5.1)."""
        parts = ['realm="satchel"']
        if error:
            parts += [f'error="{error}"', f'error_description="{detail}"']
        if self._oauth is not None:
            parts += [f'scope="{" ".join(self._oauth.scopes)}"']
            parts += [f'resource_metadata="{self._oauth.metadata_url}"']
        return ((b"www-authenticate", f"Bearer {', '.join(parts)}".encode()),)


def _verifier(oauth: "OAuthSettings | None") -> "TokenVerifier | None":
    if oauth is None:
        return None
    return oauth.verifier or JwtVerifier(oauth)


def _bearer(shown: list[bytes]) -> str:
    """Return the token of an Authorization header, empty where it is no such thing."""
    if len(shown) != 1 or len(shown[0]) > _MAX_SECRET:
        return ""
    scheme, _, secret = shown[0].decode("latin-1").strip().partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _is_valid(token: "AccessToken", oauth: "OAuthSettings") -> bool:
    """Tell whether a token is for this server, and still good.

    What a verifier of the operator's own may have left to others; RFC 8707.
    """
    if token.expires_at is not None and token.expires_at < time.time():
        return False
    here = oauth.resource.rstrip("/").lower()
    return (token.resource or "").rstrip("/").lower() == here


@lru_cache(maxsize=1024)
def _by_token(caller: Caller) -> AuthenticatedCaller:
    from mcp.server.auth.provider import AccessToken

    client_id = f"token:{caller.name}"
    return _with_user(caller, AccessToken(token="", client_id=client_id, scopes=[]))


def _with_user(caller: Caller, token: "AccessToken") -> AuthenticatedCaller:
    """Return a caller as ``mcp`` knows it: without the secret, which nothing needs."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import principal_components

    user = AuthenticatedUser(token.model_copy(update={"token": ""}))
    return AuthenticatedCaller(caller, repr(principal_components(token)), user)


def _for_path(found: AuthenticatedCaller, path: str) -> AuthenticatedCaller | Refusal:
    """Keep what names every skill from who may see some only."""
    if found.caller.only is None:
        return found
    if path == "/metrics" or path.startswith("/metrics/"):
        message = "figures of every skill are not for a token that opens some"
        return Refusal(403, "not-for-this-token", message)
    if path == "/readyz":
        return AuthenticatedCaller(
            found.caller, found.principal, found.user, terse=True
        )
    return found
