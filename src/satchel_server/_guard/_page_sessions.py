"""Sessions of the page: what a cookie holds, and whether a server signed it.

No server remembers a session. Its cookie names the caller and when it ends, and is
signed with a key that comes from the caller's token: each replica that has the token
accepts it, and it ends with the token. A token is in no cookie.
"""

import hmac
import time
from collections.abc import Mapping
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from jwt.types import Options

# A working day. No request makes a session longer.
SESSION_S: Final = 8 * 3600
COOKIE: Final = "satchel_session"
# Where the page is; the cookie is sent nowhere else.
PAGE_PATH: Final = "/ui"
# What browsers store of a cookie at the least (RFC 6265, section 6.1), less its name.
_MAX_BYTES: Final = 3_800
_PURPOSE: Final = b"session of the page, version 2"
_ALGORITHM: Final = "HS256"
# Signs sessions of OAuth tokens where replicas have no key in common.
PROCESS_KEY: Final = token_bytes(32)


class PageSession(NamedTuple):
    """A session that begins: the value of its cookie, and its seconds."""

    value: str
    seconds: int


def new_session(
    about: Mapping[str, object], secret: bytes, most_s: float = SESSION_S
) -> PageSession | None:
    """Return a session; None if no browser would store so large a cookie."""
    import jwt

    seconds = int(max(1, min(most_s, SESSION_S)))
    fields = {**about, "exp": int(time.time()) + seconds}
    value = jwt.encode(fields, secret, _ALGORITHM)
    return PageSession(value, seconds) if len(value) <= _MAX_BYTES else None


def sent_session(headers: list[bytes]) -> bytes:
    """Return the session among the cookies of a request; empty for none."""
    prefix = f"{COOKIE}=".encode()
    parts = (part.strip() for header in headers for part in header.split(b";"))
    values = [part.removeprefix(prefix) for part in parts if part.startswith(prefix)]
    # Another page of this host may set a second one; none of two is believed.
    is_one = len(values) == 1 and len(values[0]) <= _MAX_BYTES
    return values[0] if is_one else b""


def read_session(session: bytes, secret: bytes | None) -> dict[str, Any]:
    """Return what a session says if this secret signed it, and it has not ended.

    With None as the secret that is not checked, and nothing of it is true.
    """
    import jwt

    options: Options = {"verify_signature": secret is not None, "require": ["exp"]}
    try:
        return jwt.decode(session, secret or b"", [_ALGORITHM], options)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        return {}


def session_secret(key: bytes, about: bytes) -> bytes:
    """Return what signs sessions: of a token by its digest; ``key`` may be empty."""
    return hmac.digest(key + _PURPOSE, about, "sha256")
