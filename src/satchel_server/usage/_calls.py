"""The id that a client gives to a call, so that one that it sends again counts once."""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from satchel.model import UsageEvent
from satchel.usage import DeferredEvent, Event, make_event

# draft-ietf-httpapi-idempotency-key-header; the value is any text of the client's.
CALL_HEADER: Final = "idempotency-key"
_PLAIN: Final = re.compile(r"[!-~]{1,128}")
# What this thread, or this request, answers.
CALL: Final[ContextVar[str]] = ContextVar("satchel_call", default="")


def enter_call(headers: Any) -> None:  # noqa: ANN401 - of a request, or None
    """Note the id of the call that is answered from here on."""
    call = headers.get(CALL_HEADER, "") if headers is not None else ""
    # It is in logs and files: a long one, or one with odd characters, by its digest.
    is_plain = not call or _PLAIN.fullmatch(call)
    CALL.set(call if is_plain else sha256(call.encode()).hexdigest())


def with_call(deferred: DeferredEvent) -> DeferredEvent:
    """Return the event with the id of the call of this thread, if it has one."""
    call = CALL.get()
    return (_make, call, deferred) if call else deferred


def _make(call: str, deferred: DeferredEvent) -> Event:
    event: Event = make_event(deferred)
    return replace(event, call=call) if isinstance(event, UsageEvent) else event


def call_of_line(value: Mapping[str, Any]) -> str:
    """Return the key of the call of a line of JSON; empty if it has none."""
    call, caller, name, file = map(value.get, ("call", "caller", "name", "file"))
    if not call:
        return ""
    return call_key(str(caller or ""), str(call), str(name), str(file or ""))


def call_key(caller: str, call: str, name: str, file: str | None) -> str:
    """Return what a load of a call is stored by: of several servers one counts it."""
    return sha256("\n".join((caller, call, name, file or "")).encode()).hexdigest()
