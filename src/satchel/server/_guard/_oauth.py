"""A server as an OAuth resource server (RFC 9728), with the parts of ``mcp``."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from satchel.errors import SourceUnavailableError
from satchel.server._guard._settings import OAuthSettings
from satchel.server._library import Caller
from satchel.text import clean_line

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken
    from starlette.routing import Route

# Signatures with a public key only: with a shared-secret algorithm, an attacker could
# forge a token with the public key as the secret.
ALGORITHMS: Final = ("RS256", "ES256", "PS256", "EdDSA")
_FETCH_S: Final = 5.0
_PAUSE_S: Final = 10.0
_MAX_NAME: Final = 64


def oauth_caller(token: "AccessToken", settings: OAuthSettings) -> Caller:
    """Return the caller of a token: named after its client, not its user."""
    name = clean_line(token.client_id)[:_MAX_NAME]
    if not settings.only_claim:
        return Caller(name)
    return Caller(name, tuple(_words((token.claims or {}).get(settings.only_claim))))


def metadata_route(settings: OAuthSettings) -> "Route":
    """Return the route that says to clients where they get a token."""
    from mcp.server.auth.routes import create_protected_resource_routes
    from pydantic import AnyHttpUrl

    (route,) = create_protected_resource_routes(
        resource_url=AnyHttpUrl(settings.resource),
        authorization_servers=[AnyHttpUrl(settings.issuer)],
        scopes_supported=[*settings.scopes] or None,
        resource_name="Satchel",
    )
    return route


class JwtVerifier:
    """Verifies tokens that are JWTs, with the keys that the issuer publishes."""

    def __init__(self, settings: OAuthSettings) -> None:
        from anyio import CapacityLimiter
        from jwt import PyJWKClient

        self._settings = settings
        # It caches keys for five minutes, and looks for an unknown one twice a minute.
        self._keys = PyJWKClient(settings.jwks_url, timeout=_FETCH_S)
        # Fetching keys blocks; it must not take the threads of all requests.
        self._limiter = CapacityLimiter(4)
        self._not_before = 0.0

    async def verify_token(self, token: str) -> "AccessToken | None":
        """Return what a token says, None if it is not valid."""
        from anyio.to_thread import run_sync
        from mcp.server.auth.provider import AccessToken

        claims = await run_sync(self._claims, token, limiter=self._limiter)
        if not claims:
            return None
        # RFC 9068 has "client_id" and OpenID Connect "azp"; some issuers send neither.
        client = claims.get("client_id") or claims.get("azp") or claims.get("sub")
        if not isinstance(client, str):
            return None
        subject, expires = claims.get("sub"), claims.get("exp")
        return AccessToken(
            token="",
            client_id=client,
            # Some issuers name this claim "scp" and make it a list.
            scopes=_words(claims.get("scope", claims.get("scp"))),
            expires_at=int(expires) if isinstance(expires, int | float) else None,
            # `jwt.decode` has compared the audience with it.
            resource=self._settings.resource,
            subject=subject if isinstance(subject, str) else None,
            claims=dict(claims),
        )

    def _claims(self, token: str) -> Mapping[str, object] | None:
        import jwt

        # Threads share this without a lock: a lost write costs one more fetch.
        if time.monotonic() < self._not_before:
            raise SourceUnavailableError(self._settings.issuer, "no keys just now")
        try:
            key = self._keys.get_signing_key_from_jwt(token).key
            return cast(
                "Mapping[str, object]",
                jwt.decode(
                    token,
                    key,
                    algorithms=[*ALGORITHMS],
                    audience=self._settings.resource,
                    issuer=self._settings.issuer,
                    # PyJWT alone accepts a token without "exp", which never expires.
                    options={"require": ["exp", "iss", "aud"]},
                ),
            )
        except jwt.PyJWKClientConnectionError as error:
            # Otherwise each request would wait for the time-out of the same fetch.
            self._not_before = time.monotonic() + _PAUSE_S
            detail = "no keys just now"
            raise SourceUnavailableError(self._settings.issuer, detail) from error
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list):
        return [item for item in cast("list[object]", value) if isinstance(item, str)]
    return []
