"""What a file hides, looked for once for the same bytes."""

from typing import Final

from satchel.model import Finding
from satchel.text import find_doubts

__all__ = ["doubts_of"]

MOST: Final = 16_384
"""Digests that are remembered. With more, all are looked at anew."""

_cleared: set[str] = set()


def doubts_of(data: bytes, digest: str, path: str) -> tuple[Finding, ...]:
    """Return what `find_doubts` does; ``digest`` is that of the data.

    To look through a text is a good part of what a load costs, and most texts are
    loaded again and again as they are. Those that were cleared are remembered by
    digest.
    """
    if digest in _cleared:
        return ()
    found = find_doubts(data, path)
    if not found:
        if len(_cleared) >= MOST:
            _cleared.clear()
        _cleared.add(digest)
    return found
