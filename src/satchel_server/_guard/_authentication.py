"""Who calls: the bearer of a token; anyone only where a server has no tokens.

A server may be an OAuth resource server (RFC 9728), with the parts of ``mcp``.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from satchel.errors import SourceUnavailableError
from satchel.text import clean_line
from satchel_server._errors import ErrorAnswer
from satchel_server._guard._page_sessions import (
    PROCESS_KEY,
    PageSession,
    new_session,
    read_session,
    sent_session,
    session_secret,
)
from satchel_server._guard._settings import (
    METADATA_PATH,
    GuardSettings,
    OAuthSettings,
    rate_key,
)
from satchel_server._guard._tokens import digest_of
from satchel_server._library import ANYONE, VISITOR, Caller

if TYPE_CHECKING:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken, TokenVerifier
    from starlette.routing import Route

    from satchel_server._guard._messages import GuardedRequest

_NO_SKILLS: Final = Caller(only=())
# A longer header is no token, and hashing it would only cost time.
_MAX_HEADER_BYTES: Final = 8192
# The pause that `JwtVerifier` makes after it could not fetch the issuer's keys.
_RETRY: Final = ((b"retry-after", b"10"),)
# Signatures with a public key only: with a shared-secret algorithm, an attacker could
# forge a token with the public key as the secret.
ALGORITHMS: Final = ("RS256", "ES256", "PS256", "EdDSA")
_PAUSE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class AuthenticatedCaller:
    """A caller that was let in; ``principal`` is what its requests are counted for."""

    caller: Caller
    principal: str
    # How `mcp` knows the caller, so that no one else uses its sessions.
    user: "AuthenticatedUser | None" = None
    # Whether the body of the response is kept from it.
    status_only: bool = False


# path                  without a token        with a token for some skills
# /healthz              answered               answered
# /readyz               yes or no, no details  yes or no, no details
# /metrics              refused                refused: its labels name skills
# OAuth's metadata      answered               answered
# /ui, / in a browser   a form for the token   answered for its skills
# everything else       refused                answered for its skills
class Authenticator:
    def __init__(self, settings: GuardSettings) -> None:
        self._has_page = settings.page
        self._session_key = settings.session_key
        self._oauth_secret = session_secret(self._session_key or PROCESS_KEY, b"oauth")
        self._tokens = settings.tokens
        self._oauth = oauth = settings.oauth
        self._needs_token = settings.asks
        self._verifier: TokenVerifier | None = None
        if oauth is not None:
            self._verifier = oauth.verifier or JwtVerifier(oauth)

    async def authenticate(
        self, request: "GuardedRequest"
    ) -> AuthenticatedCaller | ErrorAnswer:
        peer = rate_key(request.peer)
        # `check_bind` lets a server without tokens listen at loopback only.
        if not self._needs_token:
            return AuthenticatedCaller(ANYONE, peer)
        headers = request.all(b"authorization")
        if self._has_page and not headers and request.wants_page:
            caller = self._by_session(request.all(b"cookie"))
            return caller or AuthenticatedCaller(VISITOR, peer)
        # A request that has a token is judged by it: a valid one may get details.
        if not headers and (caller := self._without_token(request.path, peer)):
            return caller
        result = await self._by_header(headers)
        if isinstance(result, ErrorAnswer):
            # A probe with a stale token must not make a healthy server look dead.
            return self._without_token(request.path, peer) or result
        return _for_path(result, request.path)

    def _without_token(self, path: str, peer: str) -> AuthenticatedCaller | None:
        """Return what anyone gets of a path, None for nothing."""
        if path == "/readyz":
            return AuthenticatedCaller(_NO_SKILLS, peer, status_only=True)
        # A load balancer has no token, and OAuth's metadata says how to get one.
        is_metadata = self._oauth is not None and path.startswith(METADATA_PATH)
        if path == "/healthz" or is_metadata:
            return AuthenticatedCaller(_NO_SKILLS, peer)
        return None

    async def log_in(self, secret: str) -> PageSession | ErrorAnswer:
        """Return a session of the page for whom a token lets in."""
        secret = secret.strip()
        header = f"Bearer {secret}".encode("latin-1", "replace")
        result = await self._by_header([header])
        if isinstance(result, ErrorAnswer):
            return result
        digest = digest_of(secret)
        if self._tokens is not None and self._tokens.find(digest) is not None:
            of_token = session_secret(self._session_key, digest)
            session = new_session({"name": result.caller.name}, of_token)
        else:
            session = self._oauth_session(result)
        message = "what this token says has no room in a cookie"
        return session or ErrorAnswer(403, "token-too-large", message)

    def _oauth_session(self, admitted: AuthenticatedCaller) -> PageSession | None:
        user, oauth = admitted.user, self._oauth
        if user is None or oauth is None:
            return None
        token = user.access_token
        claims = token.claims or {}
        read = {key: claims[key] for key in ("iss", oauth.only_claim) if key in claims}
        about = token.model_copy(update={"claims": read}).model_dump(mode="json")
        most_s = (token.expires_at or float("inf")) - time.time()
        return new_session({"oauth": about}, self._oauth_secret, most_s)

    def _by_session(self, cookies: list[bytes]) -> AuthenticatedCaller | None:
        """Return whom a session is of; None if it is of nobody, or has ended."""
        session = sent_session(cookies)
        name, oauth = read_session(session, None).get("name"), self._oauth
        if isinstance(name, str) and self._tokens is not None:
            for token in self._tokens.named(name):
                secret = session_secret(self._session_key, token.digest)
                if read_session(session, secret):
                    return _by_token(token.caller)
        # Only what was signed here is read as a token.
        elif oauth and (fields := read_session(session, self._oauth_secret)):
            from mcp.server.auth.provider import AccessToken

            access = AccessToken.model_validate(fields["oauth"])
            if _is_valid(access, oauth) and {*oauth.scopes} <= {*access.scopes}:
                return _with_user(oauth_caller(access, oauth), access)
        return None

    async def _by_header(
        self, headers: list[bytes]
    ) -> AuthenticatedCaller | ErrorAnswer:
        secret = _bearer_token(headers)
        if not secret:
            return self._unknown() if headers else self._missing()
        if self._tokens is not None:
            # The server's own tokens first: they need no network.
            caller = self._tokens.find(digest_of(secret))
            if caller is not None:
                return _by_token(caller)
        if self._verifier is not None and self._oauth is not None:
            try:
                return await self._by_oauth(secret, self._verifier, self._oauth)
            except SourceUnavailableError:
                message = "the server that gives out tokens does not answer"
                return ErrorAnswer(503, "issuer-unavailable", message, _RETRY)
        return self._unknown()

    async def _by_oauth(
        self, secret: str, verifier: "TokenVerifier", oauth: OAuthSettings
    ) -> AuthenticatedCaller | ErrorAnswer:
        token = await verifier.verify_token(secret)
        if token is None or not _is_valid(token, oauth):
            return self._unknown()
        missing = [scope for scope in oauth.scopes if scope not in token.scopes]
        if missing:
            message = f"the token has no scope {' '.join(missing)}"
            # The token itself is valid, so the answer is 403 (RFC 6750, section 3.1).
            challenge = self._challenge("insufficient_scope", message)
            return ErrorAnswer(403, "scope-missing", message, challenge)
        return _with_user(oauth_caller(token, oauth), token)

    def _missing(self) -> ErrorAnswer:
        message = "this server asks for a token: Authorization: Bearer ..."
        return ErrorAnswer(401, "token-required", message, self._challenge())

    def _unknown(self) -> ErrorAnswer:
        message = "this token is not known here, or no longer"
        challenge = self._challenge("invalid_token", message)
        return ErrorAnswer(401, "token-unknown", message, challenge)

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


def _bearer_token(headers: list[bytes]) -> str:
    """Return the token of an Authorization header, empty where it has none."""
    # Of two headers, a proxy in front may have checked the other one.
    if len(headers) != 1 or len(headers[0]) > _MAX_HEADER_BYTES:
        return ""
    # Latin-1 decodes every byte; text that is not a token matches no digest.
    scheme, _, secret = headers[0].decode("latin-1").strip().partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _is_valid(token: "AccessToken", oauth: OAuthSettings) -> bool:
    """Check audience and end (RFC 8707): an operator's own verifier may not."""
    if token.expires_at is not None and token.expires_at < time.time():
        return False
    # A token that names no resource is refused: it may be meant for another server.
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


def _for_path(
    admitted: AuthenticatedCaller, path: str
) -> AuthenticatedCaller | ErrorAnswer:
    """Keep what names every skill from a caller that may have only some of them."""
    if admitted.caller.only is None:
        return admitted
    if path == "/metrics" or path.startswith("/metrics/"):
        message = "figures of every skill are not for a token that opens some"
        return ErrorAnswer(403, "not-for-this-token", message)
    if path == "/readyz":
        return replace(admitted, status_only=True)
    return admitted


def oauth_caller(token: "AccessToken", settings: OAuthSettings) -> Caller:
    """Return the caller of a token: named after its client, not its user."""
    name = clean_line(token.client_id)[:64]
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
        self._keys = PyJWKClient(settings.jwks_url, timeout=5.0)
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
