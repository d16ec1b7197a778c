"""Where the index is, and when it is used: what options, files and variables say."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:  # programs with few skills do not wait for SQLite
    import os

    from satchel.index._file import IndexFile

NO_INDEX: Final = "none"

IndexChoice: TypeAlias = "str | os.PathLike[str] | bool | None"
Check: TypeAlias = Literal["files", "folders", "trust"]

# Packs from which on there is an index where nobody asked for one. So many take 115 ms
# to read and 13 ms with it; fewer are not worth a file (docs/decisions/0024).
LARGE_SOURCE: Final = 500


@dataclass(eq=False)
class IndexSettings:
    """An index that is to be used.

    ``is_ours`` is whether whatever is at the path may be replaced. ``fewest`` is how
    many packs a source has to have.
    """

    path: str
    is_ours: bool = False
    fewest: int = 0
    check: Check = "files"
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _file: "IndexFile | None" = None

    def file(self) -> "IndexFile":
        """Return the file, which all sources share; it is opened when it is read."""
        from satchel.index._file import IndexFile

        with self._lock:
            if self._file is None:
                self._file = IndexFile(self.path, is_ours=self.is_ours)
            return self._file

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
