"""The index on disk: what one process read of packs, for the next one.

A `Registry` asks it for what `satchel.catalog` calls a `PackIndex`. Programs with few
skills do not wait for SQLite: it is imported where a file is read or written.
"""

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from satchel.catalog import ParseOptions
    from satchel.index._file import IndexFile
    from satchel.index._source_index import DiskSourceIndex
    from satchel.index._stored_catalog import StoredCatalogs
    from satchel.protocols import SkillSource

__all__: list[str] = []

NO_INDEX: Final = "none"

IndexChoice: TypeAlias = "str | os.PathLike[str] | bool | None"
Check: TypeAlias = Literal["files", "folders", "trust"]

# Packs from which on there is an index where nobody asked for one. So many take 115 ms
# to read and 13 ms with it; fewer are not worth a file (docs/decisions/0024).
LARGE_SOURCE: Final = 500
# What a pack takes in an index at the least; those of the public corpus take 1,350.
LEAST_PACK_BYTES: Final = 500


@dataclass(eq=False)
class DiskIndex:
    """An index that is to be used: of packs by source, and of assembled catalogs.

    ``is_ours`` is whether whatever is at the path may be replaced. ``fewest`` is how
    many packs a source has to have.
    """

    path: str
    is_ours: bool = False
    fewest: int = 0
    check: Check = "files"
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _file: "IndexFile | None" = None

    def __post_init__(self) -> None:
        # Of the working folder of now, whatever is the one when the file is opened.
        self._place = os.path.abspath(self.path)  # noqa: PTH100 - text, as for the file

    @property
    def segments(self) -> str:
        """The folder next to the file that search keeps its segments in."""
        return f"{self._place}.d"

    def may_hold_packs(self) -> bool:
        """Tell whether a source may be in the file, so that it is asked before that."""
        try:
            size = os.stat(self._place).st_size  # noqa: PTH116 - one for each scan
        except OSError:
            return False
        return size >= self.fewest * LEAST_PACK_BYTES

    def of_source(
        self, source: "SkillSource", accept: "ParseOptions"
    ) -> "DiskSourceIndex | None":
        """Return what it knows of a source; None if it can know nothing."""
        from satchel.index._source_index import DiskSourceIndex

        return DiskSourceIndex.of(self.file(), self.check, source, accept)

    def of_catalogs(self, rules: object) -> "StoredCatalogs":
        """Return the catalogs that were assembled under some rules."""
        from satchel.index._stored_catalog import StoredCatalogs

        return StoredCatalogs(self.file(), rules)

    def file(self) -> "IndexFile":
        """Return the file, which all sources share; it is opened when it is read."""
        from satchel.index._file import IndexFile

        with self._lock:
            if self._file is None:
                self._file = IndexFile(self._place, is_ours=self.is_ours)
            return self._file

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
