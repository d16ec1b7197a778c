"""The guard: an ASGI middleware that every request passes first."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from satchel.server._errors import Refusal, log_crash
from satchel.server._guard._authentication import AuthenticatedCaller, Authenticator
from satchel.server._guard._hosts import HostRules, is_preflight, send_preflight
from satchel.server._guard._limits import (
    BodyReader,
    ClientGoneError,
    ConcurrencyLimits,
    McpSessionLimit,
    RateLimiter,
    is_stream,
    rate_key,
    replay_body,
)
from satchel.server._guard._messages import GuardedRequest, GuardedResponse
from satchel.server._guard._oauth import METADATA_PATH, metadata_route
from satchel.server._guard._settings import check_bind, is_loopback
from satchel.server._traffic import TrafficCounts

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from satchel.server._guard._settings import GuardSettings


# Something before this server may go by the other of the two, and take the rest of the
# body for a request of its own (RFC 9112, section 6.1).
_TWO_LENGTHS: Final = Refusal(
    400,
    "two-lengths",
    "a request has Content-Length or Transfer-Encoding, and not both",
    ((b"connection", b"close"),),
)


def guard(
    app: "ASGIApp",
    settings: "GuardSettings",
    *,
    clock: Callable[[], float] = time.monotonic,
    traffic: TrafficCounts | None = None,
) -> "ASGIApp":
    """Return ``app`` behind a guard: who may come in, and how much at a time.

    Each request that comes through has ``scope["state"]["caller"]``, a
    `satchel.server.Caller`. Answers pass through as they are sent, streams too.
    Lifespan events are the application's own; there are no websockets.

    Raises:
        ConfigError: ``settings.host`` is not loopback, and nobody is asked who calls.
    """
    check_bind(settings.host, settings)
    return _Guard(app, settings, clock, traffic or TrafficCounts())


class _Guard:
    def __init__(
        self,
        app: "ASGIApp",
        settings: "GuardSettings",
        clock: Callable[[], float],
        traffic: TrafficCounts,
    ) -> None:
        self._clock = clock
        self._traffic = traffic
        self._app = app
        self._send_timeout_s = settings.send_timeout_s
        self._names = HostRules(settings)
        self._entrance = Authenticator(settings)
        self._rates = RateLimiter(settings.rate_per_s, settings.burst, clock)
        self._free_loopback = not settings.asks
        self._bodies = BodyReader(settings)
        self._places = places = ConcurrencyLimits(settings)
        traffic.streams = lambda: places.streams
        traffic.busy = lambda: places.busy
        traffic.waiting = lambda: places.waiting
        self._sessions = McpSessionLimit(settings.max_sessions)
        oauth = settings.oauth
        self._metadata = metadata_route(oauth) if oauth else None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._serve(scope, receive, send)

    async def _serve(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        seen = GuardedRequest.of(scope)
        answer = GuardedResponse(seen, send, self._send_timeout_s)
        start = self._clock()
        try:
            await self._answer(scope, seen, receive, answer)
        finally:
            if answer.is_stream:
                self._traffic.ended(seen.path, answer.status)
            else:
                taken_s = self._clock() - start
                self._traffic.answered(seen.path, answer.status, taken_s)

    async def _answer(
        self,
        scope: "Scope",
        seen: GuardedRequest,
        receive: "Receive",
        answer: GuardedResponse,
    ) -> None:
        try:
            if seen.all(b"content-length") and seen.all(b"transfer-encoding"):
                refusal: Refusal | None = _TWO_LENGTHS
            else:
                refusal = await self._through(scope, seen, receive, answer)
            if refusal is not None:
                self._traffic.refused(refusal.code)
                await answer.refuse(refusal)
            else:
                await answer.finish()
        except ClientGoneError:
            return
        except Exception as error:  # noqa: BLE001 - the last resort
            if answer.stalled:
                return
            log_crash(error)
            await answer.finish()

    async def _through(
        self,
        scope: "Scope",
        seen: GuardedRequest,
        receive: "Receive",
        answer: GuardedResponse,
    ) -> Refusal | None:
        """Bring a request to the application, or return why it does not get there."""
        refusal = self._names.objection(seen.all(b"host"), seen.all(b"origin"))
        if refusal is not None:
            # No page may read why: its origin is not welcome.
            seen.headers.pop(b"origin", None)
            return refusal
        if is_preflight(seen):
            await send_preflight(seen, answer.send_plain)
            return None
        admitted = await self._entrance.admit(seen)
        # A wrong token counts for its address, so that who guesses there keeps nobody
        # out who has a good one.
        if isinstance(admitted, Refusal):
            return self._too_often(seen, rate_key(seen.peer)) or admitted
        if refusal := self._too_often(seen, admitted.principal):
            return refusal
        body = await self._bodies.read(seen, receive)
        if isinstance(body, Refusal):
            return body
        answer.terse = admitted.terse
        answer.private = admitted.user is not None
        session = seen.first(b"mcp-session-id")
        answer.is_stream = is_stream(seen, body)
        async with self._places.place(
            admitted.principal, stream=answer.is_stream
        ) as full:
            if full is None:
                app, known = self._app_for(seen), _scope_for(scope, admitted)
                with self._sessions.using(session):
                    await app(known, replay_body(body, receive), answer.send)
        if seen.method == "DELETE":
            self._sessions.ended(session)
        elif answer.session:
            self._sessions.began(answer.session, admitted)
            await self._end_surplus(scope)
        return full

    async def _end_surplus(self, scope: "Scope") -> None:
        """End a session where there are too many, as its client should have done."""
        surplus = self._sessions.surplus()
        if surplus is None:
            return
        session, admitted = surplus
        kept = [pair for pair in scope["headers"] if pair[0] == b"host"]
        told = {
            **_scope_for(scope, admitted),
            "method": "DELETE",
            "headers": [*kept, (b"mcp-session-id", session.encode("latin-1"))],
        }
        await self._app(told, replay_body(b"", _disconnected), _discard)

    def _too_often(self, seen: GuardedRequest, principal: str) -> Refusal | None:
        if self._free_loopback and is_loopback(seen.peer):
            return None
        wait = self._rates.take(principal)
        if not wait:
            return None
        return Refusal(
            429,
            "too-many-requests",
            "too many requests in a short time; wait, and try again",
            ((b"retry-after", b"%d" % wait),),
        )

    def _app_for(self, seen: GuardedRequest) -> "ASGIApp":
        if self._metadata is not None and seen.path in (
            METADATA_PATH,  # where clients look that know no path of the resource
            self._metadata.path,
        ):
            return self._metadata.app
        return self._app


async def _disconnected() -> "Message":
    return {"type": "http.disconnect"}


async def _discard(message: "Message") -> None:
    """Take an answer that nobody asked for."""


def _scope_for(scope: "Scope", admitted: AuthenticatedCaller) -> "Scope":
    """Return the scope with who calls in it, for us and for ``mcp``."""
    state = cast("dict[str, object]", scope.get("state", {}))
    known = {**scope, "state": {**state, "caller": admitted.caller}}
    if admitted.user is not None:
        from starlette.authentication import AuthCredentials

        known["user"] = admitted.user
        known["auth"] = AuthCredentials([*admitted.user.scopes])
    return known
