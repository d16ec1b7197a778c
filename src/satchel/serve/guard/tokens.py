"""Bearer tokens: what is kept of one, and how one that is shown is looked up."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from satchel.errors import ConfigError
from satchel.serve.caller import Caller

__all__ = ["MIN_CHARS", "FixedTokens", "JoinedTokens", "Token", "Tokens", "digest_of"]

MIN_CHARS: Final = 16
"""A shorter token could be found by trying; `secrets.token_urlsafe` gives 43."""
_MAX_CHARS: Final = 4096
# RFC 6750, section 2.1: b64token.
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True, slots=True)
class Token:
    """Whom a token lets in, and the SHA-256 of it; the token itself is not kept."""

    caller: Caller
    digest: bytes = field(repr=False)


class Tokens(Protocol):
    """Knows tokens; asked for each request, on the thread of the event loop."""

    def find(self, digest: bytes) -> Caller | None:
        """Return whom the token of this digest lets in, in the time of any other."""
        ...


class FixedTokens:
    """Tokens that stay as they are."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self.tokens = tuple(tokens)

    def find(self, digest: bytes) -> Caller | None:
        """Compare with every token, found or not: time tells nothing."""
        found = None
        for token in self.tokens:
            if hmac.compare_digest(token.digest, digest):
                found = token.caller
        return found


class JoinedTokens:
    """The tokens of several places; every place is asked each time."""

    def __init__(self, places: Iterable[Tokens]) -> None:
        self._places = tuple(places)

    def find(self, digest: bytes) -> Caller | None:
        """Return what the last place says that knows it."""
        found = None
        for place in self._places:
            found = place.find(digest) or found
        return found


def digest_of(secret: str, where: str = "") -> bytes:
    """Return the SHA-256 of a token.

    ``where`` names the place of one that an operator gives: it has to be long enough
    and of the characters that a header can carry. A caller may show anything.

    Raises:
        ConfigError: It is not fit to be a token; the message does not repeat it.
    """
    if where and not (
        MIN_CHARS <= len(secret) <= _MAX_CHARS and _TOKEN.fullmatch(secret)
    ):
        raise ConfigError(
            where,
            f"want one token of {MIN_CHARS} to {_MAX_CHARS} characters out of A-Z, "
            "a-z, 0-9 and ._~+/- in it; to make one: "
            "python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
