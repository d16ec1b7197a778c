"""Sessions of the page: what a cookie holds, and whether a server signed it.

No server remembers a session. Its cookie names the caller and when it ends, and is
signed with a key that comes from the caller's token: each replica that has the token
accepts it, and it ends with the token. A token is in no cookie.
"""

import hmac
import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_bytes
from typing import Any, Final, cast

# A working day. No request makes a session longer.
SESSION_S: Final = 8 * 3600
COOKIE: Final = "satchel_session"
# Where the page is; the cookie is sent nowhere else.
PAGE_PATH: Final = "/ui"
# What browsers store of a cookie at the least (RFC 6265, section 6.1), less its name.
_MAX_BYTES: Final = 3_800
_PURPOSE: Final = b"session of the page, version 1"
# Signs sessions of OAuth tokens where replicas have no key in common.
PROCESS_KEY: Final = token_bytes(32)


@dataclass(frozen=True, slots=True)
class PageSession:
    """A session that begins: the value of its cookie, and its seconds."""

    value: str
    seconds: int


def new_session(
    about: Mapping[str, object], secret: bytes, most_s: float = SESSION_S
) -> PageSession | None:
    """Return a session; None if no browser would store so large a cookie."""
    seconds = int(max(1, min(most_s, SESSION_S)))
    fields = {**about, "until": int(time.time()) + seconds}
    payload = json.dumps(fields, separators=(",", ":")).encode()
    value = f"{_text(payload)}.{_text(_signature(payload, secret))}"
    return PageSession(value, seconds) if len(value) <= _MAX_BYTES else None


@dataclass(frozen=True, slots=True)
class SentSession:
    """What a cookie says; nothing of it is true before `is_signed_by` says so."""

    about: Mapping[str, Any]
    payload: bytes
    signature: bytes

    def is_signed_by(self, secret: bytes) -> bool:
        """Return whether it was signed with this secret, and has not ended."""
        signed = hmac.compare_digest(self.signature, _signature(self.payload, secret))
        until = self.about.get("until")
        return signed and isinstance(until, int) and until > time.time()


def sent_session(headers: list[bytes]) -> SentSession | None:
    """Return what the cookies of a request say of a session; None for nothing."""
    prefix = f"{COOKIE}=".encode()
    parts = (part.strip() for header in headers for part in header.split(b";"))
    values = [part.removeprefix(prefix) for part in parts if part.startswith(prefix)]
    # Another page of this host may set a second one; none of two is believed.
    if len(values) != 1 or len(values[0]) > _MAX_BYTES:
        return None
    try:
        payload, signature = map(_bytes, values[0].split(b"."))
        about: Any = json.loads(payload)
    except (ValueError, Base64Error, RecursionError):
        return None
    if not isinstance(about, dict):
        return None
    return SentSession(cast("dict[str, Any]", about), payload, signature)


def session_secret(key: bytes, token_digest: bytes) -> bytes:
    """Return what signs the sessions of a token; ``key`` may be empty."""
    return hmac.digest(key + _PURPOSE, token_digest, "sha256")


def _signature(payload: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, payload, "sha256")


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: bytes) -> bytes:
    return urlsafe_b64decode(text + b"=" * (-len(text) % 4))


def wants_page(path: str, accepts: Callable[[], list[bytes]]) -> bool:
    """Return whether a browser asks for the page: below `PAGE_PATH`, or for ``/``."""
    if path == PAGE_PATH or path.startswith(f"{PAGE_PATH}/"):
        return True
    return path == "/" and any(b"text/html" in value for value in accepts())
