"""A folder of packs that is looked at on every call, and read only where it changed."""

import os
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from satchel.errors import SkillError, SourceUnavailableError
from satchel.model import SKILL_FILE, Finding, Found, Manifest
from satchel.sources import LocalDirSkillSource
from satchel.sources.wrap import Wrapped

__all__ = ["Tree"]

GRANULARITY_NS: Final = 2_000_000_000
"""Nanoseconds in which a second edit may bear the time of the first: FAT's two
seconds, the coarsest of the common file systems."""


@dataclass(frozen=True, slots=True)
class _Known:
    """One pack as it was at the last look.

    ``marks`` are path, size, time of change and inode of every file. ``edition`` counts
    the edits that the marks do not show. ``settled`` says that an edit after that look
    cannot fail to show in them.
    """

    marks: Hashable
    edition: int
    settled: bool


class Tree(Wrapped):
    """The packs of one folder, as of the last `look`.

    A pack is taken for unchanged where each of its files has the path, size,
    modification time and inode that it had. SKILL.md's time of status change counts,
    too, so that an edit shows whose modification time was put back. Where SKILL.md was
    changed so lately that another edit of equal size could bear the same time, its
    bytes decide: it is hashed again, until enough time has passed.

    Not safe across threads: whoever has it takes care of that.
    """

    def __init__(
        self,
        source: LocalDirSkillSource,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Look at nothing yet; ``clock_ns`` tells nanoseconds since the epoch."""
        super().__init__(source)
        self.parses = 0
        self.root: Final = source.root
        self._clock_ns = clock_ns
        self._found: tuple[Found | Finding, ...] = ()
        self._failure: SourceUnavailableError | None = None
        self._known: dict[str, _Known] = {}
        self._digests: dict[str, str] = {}

    def look(self) -> Hashable:
        """Look at the folder; return what differs whenever some pack may have changed.

        Nothing is parsed. A folder that cannot be listed is a state like any other.
        """
        now = self._clock_ns()
        known: dict[str, _Known] = {}
        found: list[Found | Finding] = []
        try:
            for item in self._source.scan():
                if isinstance(item, Found):
                    state = known[item.key] = self._state(item, now)
                    stamp = (state.marks, state.edition)
                    found.append(replace(item, stamp=stamp, settled=True))
                else:
                    found.append(item)
        except SourceUnavailableError as error:
            self._failure = error
            return str(error)
        for key in self._known.keys() - known.keys():
            self._digests.pop(key, None)
        self._failure, self._found, self._known = None, tuple(found), known
        return self._found

    def scan(self) -> Iterable[Found | Finding]:
        """Return what the last look saw."""
        if self._failure is not None:
            raise self._failure
        return self._found

    def manifest(self, key: str) -> bytes | Manifest:
        """Return the raw SKILL.md to whoever parses it, and count that."""
        self.parses += 1
        self._digests.pop(key, None)
        data = super().manifest(key)
        self._digests[key] = _digest(data)
        return data

    def _state(self, found: Found, now_ns: int) -> _Known:
        skill = next(file for file in found.files or () if file.path == SKILL_FILE)
        changed_ns = self._changed_ns(found.key)
        marks = (found.stamp, changed_ns)
        times = (changed_ns, *(n for n in _numbers(skill.mark)))
        settled = max(times) < now_ns - GRANULARITY_NS
        last = self._known.get(found.key)
        if last is None or last.marks != marks:
            return _Known(marks, 0, settled)
        if last.settled or self._reread(found.key) == self._digests.get(found.key, ""):
            return _Known(marks, last.edition, last.settled or settled)
        return _Known(marks, last.edition + 1, settled)

    def _changed_ns(self, key: str) -> int:
        path = os.path.join(self.root, key, SKILL_FILE)  # noqa: PTH118 - for each pack
        try:
            return os.lstat(path).st_ctime_ns
        except OSError:
            return 0

    def _reread(self, key: str) -> str:
        try:
            return _digest(self._source.manifest(key))
        except SkillError:
            return ""


def _digest(data: bytes | Manifest) -> str:
    return sha256(data).hexdigest() if isinstance(data, bytes) else ""


def _numbers(mark: Hashable) -> Iterable[int]:
    """Return the modification time of a local file's mark."""
    return (mark[0],) if isinstance(mark, tuple) and isinstance(mark[0], int) else ()
