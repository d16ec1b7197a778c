"""The guard itself: every request goes through it, before anything else sees it."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from satchel.serve.crashing import tell_crash
from satchel.serve.guard.answers import Answer
from satchel.serve.guard.binding import check_bind
from satchel.serve.guard.bodies import Bodies, Gone, replayed
from satchel.serve.guard.buckets import Buckets, peer_of
from satchel.serve.guard.entrance import Admitted, Entrance
from satchel.serve.guard.hosts import Names
from satchel.serve.guard.loopback import is_loopback
from satchel.serve.guard.oauth import METADATA_PATH, metadata_route
from satchel.serve.guard.pages import is_preflight, say_allowed
from satchel.serve.guard.places import Places, is_stream
from satchel.serve.guard.refusals import Refusal
from satchel.serve.guard.requests import Seen
from satchel.serve.guard.sessions import Sessions
from satchel.serve.traffic import Traffic

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from satchel.serve.guard.settings import GuardSettings

__all__ = ["guard"]


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
    traffic: Traffic | None = None,
) -> "ASGIApp":
    """Return ``app`` behind a guard: who may come in, and how much at a time.

    Each request that comes through has ``scope["state"]["caller"]``, a
    `satchel.serve.caller.Caller`. Answers pass through as they are sent, streams too.
    Lifespan events are the application's own; there are no websockets.

    Raises:
        ConfigError: ``settings.host`` is not loopback, and nobody is asked who calls.
    """
    check_bind(settings.host, settings)
    return _Guard(app, settings, clock, traffic or Traffic())


class _Guard:
    def __init__(
        self,
        app: "ASGIApp",
        settings: "GuardSettings",
        clock: Callable[[], float],
        traffic: Traffic,
    ) -> None:
        self._clock = clock
        self._traffic = traffic
        self._app = app
        self._send_timeout_s = settings.send_timeout_s
        self._names = Names(settings)
        self._entrance = Entrance(settings)
        self._rates = Buckets(settings.rate_per_s, settings.burst, clock)
        self._free_loopback = not settings.asks
        self._bodies = Bodies(settings)
        self._places = places = Places(settings)
        traffic.streams = lambda: places.streams
        traffic.busy = lambda: places.busy
        traffic.waiting = lambda: places.waiting
        self._sessions = Sessions(settings.max_sessions)
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
        seen = Seen.of(scope)
        answer = Answer(seen, send, self._send_timeout_s)
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
        self, scope: "Scope", seen: Seen, receive: "Receive", answer: Answer
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
        except Gone:
            return
        except Exception as error:  # noqa: BLE001 - the last resort
            if answer.stalled:
                return
            tell_crash(error)
            await answer.finish()

    async def _through(
        self, scope: "Scope", seen: Seen, receive: "Receive", answer: Answer
    ) -> Refusal | None:
        """Bring a request to the application, or return why it does not get there."""
        refusal = self._names.objection(seen.all(b"host"), seen.all(b"origin"))
        if refusal is not None:
            # No page may read why: its origin is not welcome.
            seen.headers.pop(b"origin", None)
            return refusal
        if is_preflight(seen):
            await say_allowed(seen, answer.send_plain)
            return None
        admitted = await self._entrance.admit(seen)
        # A wrong token counts for its address, so that who guesses there keeps nobody
        # out who has a good one.
        if isinstance(admitted, Refusal):
            return self._too_often(seen, peer_of(seen.peer)) or admitted
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
                app, known = self._app_for(seen), _known(scope, admitted)
                with self._sessions.using(session):
                    await app(known, replayed(body, receive), answer.send)
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
            **_known(scope, admitted),
            "method": "DELETE",
            "headers": [*kept, (b"mcp-session-id", session.encode("latin-1"))],
        }
        await self._app(told, replayed(b"", _gone), _unheard)

    def _too_often(self, seen: Seen, principal: str) -> Refusal | None:
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

    def _app_for(self, seen: Seen) -> "ASGIApp":
        if self._metadata is not None and seen.path in (
            METADATA_PATH,  # where clients look that know no path of the resource
            self._metadata.path,
        ):
            return self._metadata.app
        return self._app


async def _gone() -> "Message":
    return {"type": "http.disconnect"}


async def _unheard(message: "Message") -> None:
    """Take an answer that nobody asked for."""


def _known(scope: "Scope", admitted: Admitted) -> "Scope":
    """Return the scope with who calls in it, for us and for ``mcp``."""
    state = cast("dict[str, object]", scope.get("state", {}))
    known = {**scope, "state": {**state, "caller": admitted.caller}}
    if admitted.user is not None:
        from starlette.authentication import AuthCredentials

        known["user"] = admitted.user
        known["auth"] = AuthCredentials([*admitted.user.scopes])
    return known
