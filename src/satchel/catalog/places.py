"""What reads the files of a source elsewhere that has no places of its own."""

from collections.abc import Iterable

from satchel.model import FileStat
from satchel.places import Places
from satchel.protocols import Clock, SkillSource

__all__ = ["Placed", "reader_of"]


class Placed:
    """A source whose reads have places; in all else it is the source itself."""

    def __init__(self, source: SkillSource, label: str, clock: Clock) -> None:
        """Take the source; ``label`` is what the catalog calls it."""
        self._source = source
        self._places = Places(label, clock.monotonic)

    def __getattr__(self, name: str) -> object:
        """Return what only the source knows."""
        if name.startswith("_"):  # not set yet, as while a copy is being made
            raise AttributeError(name)
        found: object = getattr(self._source, name)
        return found

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes; see `satchel.protocols.SkillSource.read`."""
        with self._places.hold():
            return self._source.read(key, path, limit_bytes)

    def files(self, key: str) -> Iterable[FileStat]:
        """Return what the pack holds; see `satchel.protocols.SkillSource.files`."""
        with self._places.hold():
            return tuple(self._source.files(key))


def reader_of(source: SkillSource, label: str, clock: Clock) -> SkillSource | Placed:
    """Return what reads files of a source.

    One of this machine (``near``) needs no places. One that keeps some of what it has
    fetched gives itself places for what it has to fetch (``has_places``).
    """
    own = getattr(source, "near", False) or getattr(source, "has_places", False)
    return source if own else Placed(source, label, clock)
