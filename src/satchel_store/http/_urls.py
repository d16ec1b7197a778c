"""The URLs that are fetched: few kinds, and each can be read in one way only."""

import re
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

Origin = tuple[str, str, int]
"""Scheme, host and port."""

_MAX_URL_CHARS: Final = 2_048
_PORTS: Final = {"https": 443, "http": 80}
_FORBIDDEN_CHARS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ud800-\udfff]")
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:.]*:[0-9a-f:.]*")
# What RFC 3986 allows in a path or a query; a percent sign stays as it is written.
_UNQUOTED: Final = "%/:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True)
class Url:
    """One URL with http or https, without user and fragment; ``host`` in lower case."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def origin(self) -> Origin:
        """Scheme, host and port: the server."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Host, and port unless it is the default one, as they are in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query, as a request names them."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        """Return what to show: without the query, which may have a key."""
        return f"{self.scheme}://{self.authority}{self.path}"

    def with_path(self, path: str) -> "Url":
        """Return the URL of another path at the same origin, percent-encoded."""
        return replace(self, path=quote(path, safe=_UNQUOTED), query="")


def parse_url(text: str, base: Url | None = None) -> Url:
    """Return a URL, resolved against ``base`` if it is relative.

    ``ValueError`` if it is not fetched; its message repeats nothing that may be secret.

    Source: RFC 3986, section 5, for relative ones.
    """
    if len(text) > _MAX_URL_CHARS:
        raise ValueError(f"it has more than {_MAX_URL_CHARS:,} characters")
    if _FORBIDDEN_CHARS.search(text):
        raise ValueError("it has a space, a backslash or a control character")
    try:
        # `str` leaves out the query, which an empty reference keeps.
        whole = text if base is None else urljoin(f"{base}?{base.query}", text)
        parts = urlsplit(whole)
        port = parts.port
    except ValueError:
        raise ValueError("it is not a URL") from None
    if parts.scheme not in _PORTS:
        raise ValueError("it does not begin with https:// or http://")
    if "@" in parts.netloc:
        raise ValueError("it has a user name or a password; pass headers= instead")
    # "example.com." is the same host, and one host gets one spelling.
    host = (parts.hostname or "").rstrip(".")
    # Names in other scripts have several encodings, and some look like another name.
    if not _HOST.fullmatch(host):
        raise ValueError("its host is not a name or address in ASCII")
    # Port 0 lets the system choose a port, so it names no server.
    if port == 0:
        raise ValueError("its port is 0")
    return Url(
        parts.scheme,
        host,
        port or _PORTS[parts.scheme],
        quote(parts.path, safe=_UNQUOTED) or "/",
        quote(parts.query, safe=f"{_UNQUOTED}?"),
    )


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Which servers may be asked: origins, and hosts with their port, any scheme."""

    origins: frozenset[Origin] = frozenset()
    named: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def of(cls, names: tuple[str, ...]) -> "AllowedHosts":
        """Return the hosts of these names: ``example.com``, ``example.com:8443``."""
        named: set[tuple[str, int]] = set()
        for name in names:
            try:
                url = parse_url(f"https://{name}")
            except ValueError:
                url = None
            if url is None or url.target != "/" or name.endswith("/"):
                raise ValueError(f"{name[:80]!r} is not a host; expected example.com")
            named.add((url.host, url.port))
            if url.port == _PORTS["https"]:
                named.add((url.host, _PORTS["http"]))
        return cls(named=frozenset(named))

    def including(self, *urls: Url) -> "AllowedHosts":
        """Return these and the origins of ``urls``."""
        return replace(self, origins=self.origins | {url.origin for url in urls})

    def __contains__(self, url: Url) -> bool:
        """Return whether a URL may be fetched."""
        return url.origin in self.origins or (url.host, url.port) in self.named
