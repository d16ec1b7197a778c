"""Where the index is, and when it is used: what options, files and variables say."""

import os
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:  # programs with few skills do not wait for SQLite
    from satchel.index._file import IndexFile

NAME: Final = "index.db"
NO_INDEX: Final = "none"

IndexChoice: TypeAlias = "str | os.PathLike[str] | bool | None"
Check: TypeAlias = Literal["files", "folders", "trust"]

# Packs from which on there is an index where nobody asked for one. So many take 100 ms
# to read and 20 ms with it; fewer are not worth a file that nobody asked for.
LARGE_SOURCE: Final = 500


@dataclass(eq=False)
class IndexSettings:
    """An index that is to be used.

    ``path`` empty is the file in the user's cache folder. ``fewest`` is how many packs
    a source has to have; with 0 the index is asked before the source is looked at.
    """

    path: str = ""
    fewest: int = 0
    check: Check = "files"
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _file: "IndexFile | None" = None

    def file(self) -> "IndexFile":
        """Return the file, which all sources share; it is opened when it is read."""
        with self._lock:
            if self._file is None:
                self._file = self._find()
            return self._file

    @property
    def is_there(self) -> bool:
        """Whether there is a file; without one nothing is imported to read it."""
        return os.path.exists(self.path or _default_path())  # noqa: PTH110

    def _find(self) -> "IndexFile":
        from satchel.index._file import IndexFile

        return IndexFile(self.path or _default_path(), is_ours=not self.path)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()


def _default_path() -> str:
    """Return the path of the file in the user's cache folder."""
    if sys.platform in {"win32", "darwin"}:
        import platformdirs

        folder: str = platformdirs.user_cache_dir("satchel", appauthor=False)
    else:
        # As platformdirs finds it, which brings modules that no start needs.
        caches = os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
        folder = f"{os.path.expanduser(caches)}/satchel"  # noqa: PTH111
    return os.path.join(folder, NAME)  # noqa: PTH118
