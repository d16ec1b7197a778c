"""Which headers a user may set; `_client` says which request gets them."""

from collections.abc import Mapping
from typing import Final

# Ours to say, or such that they would change where a message ends.
_OURS: Final = frozenset(
    """
    accept-encoding connection content-length host if-none-match keep-alive
    proxy-authorization te trailer transfer-encoding upgrade
    """.split()  # noqa: SIM905 - a list would be a column of words
)


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers that can be sent; an error names one, and never its value."""
    for name, value in headers.items():
        plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
        if not plain or name.lower() in _OURS:
            raise ValueError(f"the header {name[:80]!r} cannot be set")
        if not (value.isascii() and value.isprintable() and value == value.strip()):
            raise ValueError(f"the header {name!r}: its value cannot be sent")
    return dict(headers)
