"""The guard: an ASGI middleware that every request passes first."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from anyio import CancelScope

from satchel_server._errors import ErrorAnswer, log_crash
from satchel_server._guard._authentication import (
    AuthenticatedCaller,
    Authenticator,
    metadata_route,
)
from satchel_server._guard._hosts import HostRules
from satchel_server._guard._limits import (
    BodyReader,
    ClientGoneError,
    ConcurrencyLimits,
    McpSessionLimit,
    RateLimiter,
    discard,
    is_stream,
    replay_body,
)
from satchel_server._guard._messages import (
    CRASH,
    ErrorPage,
    GuardedRequest,
    GuardedResponse,
    TrafficCounts,
    is_preflight,
    send_preflight,
)
from satchel_server._guard._settings import (
    METADATA_PATH,
    GuardSettings,
    check_bind,
    is_loopback,
    rate_key,
)
from satchel_server._guard._tokens import CHECK_S
from satchel_server._library import Caller

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A proxy in front of this server may go by the other header, and take the rest of the
# body for a second request (RFC 9112, section 6.1).
_TWO_LENGTHS: Final = ErrorAnswer(
    400,
    "two-lengths",
    "a request has Content-Length or Transfer-Encoding, and not both",
    ((b"connection", b"close"),),
)


def guard(  # noqa: PLR0913 - by name, and each with a default
    app: "ASGIApp",
    settings: GuardSettings,
    *,
    clock: Callable[[], float] = time.monotonic,
    traffic: TrafficCounts | None = None,
    authenticator: Authenticator | None = None,
    page: ErrorPage | None = None,
    answered: Callable[[str], object] | None = None,
) -> "ASGIApp":
    """Return ``app`` behind a guard: who may call, and how much at a time.

    Each request that passes has a `satchel_server.Caller` in
    ``scope["state"]["caller"]``. Responses pass as they are sent, streams too. Lifespan
    events go to the application; websockets are closed. ``page`` makes an error for a
    browser that asks for the page; ``answered`` gets a line for each answer that
    begins.

    Raises:
        ConfigError: ``settings.host`` is not loopback, and no token is needed.
    """
    check_bind(settings.host, settings)
    asked = authenticator or Authenticator(settings)
    counts = traffic or TrafficCounts()
    return _Guard(app, settings, clock, counts, asked, page, answered)


class _Guard:
    def __init__(  # noqa: PLR0913, PLR0917 - what `guard` takes
        self,
        app: "ASGIApp",
        settings: GuardSettings,
        clock: Callable[[], float],
        traffic: TrafficCounts,
        authenticator: Authenticator,
        page: ErrorPage | None,
        answered: Callable[[str], object] | None,
    ) -> None:
        self._app = app
        self._answered = answered
        self._clock = clock
        self._traffic = traffic
        self._send_timeout_s = settings.send_timeout_s
        self._hosts = HostRules(settings)
        self._authenticator = authenticator
        self._page = page
        self._rates = RateLimiter(settings.rate_per_s, settings.burst, clock)
        self._free_loopback = not settings.asks
        self._bodies = BodyReader(settings)
        self._limits = limits = ConcurrencyLimits(settings)
        traffic.streams = lambda: limits.streams
        traffic.busy = lambda: limits.busy
        traffic.waiting = lambda: limits.waiting
        self._sessions = McpSessionLimit(settings.max_sessions)
        self._metadata = metadata_route(settings.oauth) if settings.oauth else None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = GuardedRequest.of(scope)
        response = GuardedResponse(request, send, self._send_timeout_s, self._page)
        start = self._clock()
        if self._answered is not None:
            response.begun = partial(self._log, self._answered, response, start)
        try:
            await self._respond(receive, response)
        finally:
            duration_s = None if response.is_stream else self._clock() - start
            self._traffic.answered(request.path, response.status, duration_s)

    def _log(
        self, add: Callable[[str], object], response: GuardedResponse, start: float
    ) -> None:
        request, took_ms = response.request, 1000 * (self._clock() - start)
        sender = f"{request.peer or '-'} {response.caller}".rstrip()
        add(f"{sender} {request.logged()}: {response.status} in {took_ms:.0f} ms")

    async def _respond(self, receive: "Receive", response: GuardedResponse) -> None:
        """Handle a request, and send a response whatever fails."""
        try:
            error = await self._handle(receive, response)
            if error is not None:
                self._traffic.refused(error.code)
            # Without an error this sends only if the application sent a 500 or nothing.
            await response.send_error(error or CRASH)
        except ClientGoneError:
            return
        except Exception as error:  # noqa: BLE001 - the last resort
            if response.stalled:
                return
            log_crash(error)
            await response.send_error(CRASH)

    async def _handle(
        self, receive: "Receive", response: GuardedResponse
    ) -> ErrorAnswer | None:
        request = response.request
        if request.all(b"content-length") and request.all(b"transfer-encoding"):
            return _TWO_LENGTHS
        # Before the token is read: a foreign page cannot try tokens from a browser.
        error = self._hosts.error(request.all(b"host"), request.all(b"origin"))
        if error is not None:
            # No page of a refused origin may read the reason.
            request.headers.pop(b"origin", None)
            return error
        # Before the token is needed: a browser sends none with this question.
        if request.method == "OPTIONS" and is_preflight(request):
            await send_preflight(request, response.send_own)
            return None
        caller = await self._admit(request)
        if isinstance(caller, ErrorAnswer):
            return caller
        # Without either header a request has no body (RFC 9112, section 6.3).
        if not request.has_body:
            body = b""
        else:
            # After the caller is known: a stranger cannot make this server take in
            # bodies.
            sent = await self._bodies.read(request, receive)
            if isinstance(sent, ErrorAnswer):
                return sent
            body, receive = sent, replay_body(sent, receive)
        response.status_only = caller.status_only
        # A shared cache must not give one caller's answer to another.
        response.private = caller.user is not None
        if request.path.startswith("/mcp"):
            response.is_stream = is_stream(request, body)
        return await self._forward(caller, receive, response)

    async def _admit(
        self, request: GuardedRequest
    ) -> AuthenticatedCaller | ErrorAnswer:
        caller = await self._authenticator.authenticate(request)
        if self._free_loopback and is_loopback(request.peer):
            return caller
        # A wrong token counts for its address, so that guessing there locks out no
        # caller with a good one.
        if isinstance(caller, AuthenticatedCaller):
            wait = self._rates.take(caller.principal, caller.caller.rate_per_s)
        else:
            wait = self._rates.take(rate_key(request.peer))
        if not wait:
            return caller
        return ErrorAnswer(
            429,
            "too-many-requests",
            "too many requests in a short time; wait, and try again",
            ((b"retry-after", b"%d" % wait),),
        )

    async def _forward(
        self, caller: AuthenticatedCaller, receive: "Receive", response: GuardedResponse
    ) -> ErrorAnswer | None:
        app, request = self._app, response.request
        response.caller = caller.caller.name
        if self._metadata is not None and request.path in (
            METADATA_PATH,  # where clients look that do not know the resource's path
            self._metadata.path,
        ):
            app = self._metadata.app
        session = b"".join(request.all(b"mcp-session-id")[:1]).decode("latin-1")
        stream = response.is_stream
        run = partial(app, _scope_for(request.scope, caller), receive)
        if not stream and not session and self._limits.take_free_place():
            # What most requests are: no task, no timer, and nothing to wait for.
            try:
                await run(response.send)
            finally:
                self._limits.free_place()
            error = None
        else:
            async with self._limits.place(caller.principal, stream=stream) as error:
                if error is None:
                    with self._sessions.using(session) if session else nullcontext():
                        if stream and not self._free_loopback:
                            await self._stream(run, caller.caller, response)
                        else:
                            await run(response.send)
        # How clients of the earlier era end a session. If `mcp` refuses, as it does to
        # anyone but the owner, it keeps the session, and that goes on counting.
        if request.method == "DELETE":
            if response.status == HTTPStatus.OK:
                self._sessions.ended(session)
        elif response.session:
            self._sessions.began(response.session, caller)
            await self._end_surplus(request.scope)
        return error

    async def _stream(
        self,
        run: "Callable[[Send], Awaitable[None]]",
        caller: Caller,
        response: GuardedResponse,
    ) -> None:
        """Answer until the token is no longer good for what the stream began with."""
        cancel = CancelScope()

        async def check() -> bool:
            now = await self._authenticator.authenticate(response.request)
            if isinstance(now, ErrorAnswer) or now.caller != caller:
                cancel.cancel()
            return not cancel.cancel_called

        async def send(message: "Message") -> None:
            # It may tell of skills that the caller has no longer.
            if await check():
                await response.send(message)

        async def watch() -> None:
            while await check():  # noqa: ASYNC110 - a token does not say that it ends
                await asyncio.sleep(CHECK_S)

        watching = asyncio.create_task(watch())
        try:
            with cancel:
                await run(send)
        finally:
            watching.cancel()
        # The response has begun; without an end the client sees a broken connection.
        if cancel.cancelled_caught and response.status:
            await response.send({"type": "http.response.body", "body": b""})

    async def _end_surplus(self, scope: "Scope") -> None:
        """End a session if there are too many, as its client should have done."""
        surplus = self._sessions.pop_surplus()
        if surplus is None:
            return
        session, caller = surplus
        # ``mcp`` checks the Host header again, and ends a session only for its owner.
        host = [pair for pair in scope["headers"] if pair[0] == b"host"]
        delete = {
            **_scope_for(scope, caller),
            "method": "DELETE",
            "headers": [*host, (b"mcp-session-id", session.encode("latin-1"))],
        }
        await self._app(delete, replay_body(b"", _disconnected), discard)


async def _disconnected() -> "Message":
    return {"type": "http.disconnect"}


def _scope_for(scope: "Scope", caller: AuthenticatedCaller) -> "Scope":
    state = cast("dict[str, object]", scope.get("state", {}))
    with_caller = {**scope, "state": {**state, "caller": caller.caller}}
    if caller.user is not None:
        from starlette.authentication import AuthCredentials

        with_caller["user"] = caller.user
        with_caller["auth"] = AuthCredentials([*caller.user.scopes])
    return with_caller
