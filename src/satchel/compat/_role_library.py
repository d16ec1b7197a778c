"""The packs that roles are looked up in: those of one folder, and of plug-ins."""

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.compat._loader import LocalDirSkillSource, duplicate_with_switch
from satchel.errors import DuplicateSkillError, SkillError, SourceUnavailableError
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Conflict,
    Finding,
    Found,
    Limits,
    Manifest,
)
from satchel.runtime import Options, Satchel, SystemClock
from satchel.skill_md import Profile
from satchel.sources import SourceWrapper, load_plugin_sources

if TYPE_CHECKING:
    from satchel.protocols import SkillSource


GRANULARITY_NS: Final = 2_000_000_000
"""Nanoseconds in which a second edit may bear the time of the first: FAT's two
seconds, the coarsest of the common file systems."""


@dataclass(frozen=True, slots=True)
class _ReadPack:
    """One pack as it was at the last look.

    ``marks`` are path, size, time of change and inode of every file. ``edition`` counts
    the edits that the marks do not show. ``settled`` says that an edit after that look
    cannot fail to show in them.
    """

    marks: Hashable
    edition: int
    settled: bool


class RolePacks(SourceWrapper):
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
        self._known: dict[str, _ReadPack] = {}
        self._digests: dict[str, str] = {}

    def look(self) -> Hashable:
        """Look at the folder; return what differs whenever some pack may have changed.

        Nothing is parsed. A folder that cannot be listed is a state like any other.
        """
        now = self._clock_ns()
        states: dict[str, _ReadPack] = {}
        results: list[Found | Finding] = []
        try:
            for item in self._source.scan():
                if isinstance(item, Found):
                    state = states[item.key] = self._state(item, now)
                    stamp = (state.marks, state.edition)
                    results.append(replace(item, stamp=stamp, settled=True))
                else:
                    results.append(item)
        except SourceUnavailableError as error:
            self._failure = error
            return str(error)
        for key in self._known.keys() - states.keys():
            self._digests.pop(key, None)
        self._failure, self._found, self._known = None, tuple(results), states
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

    def _state(self, pack: Found, now_ns: int) -> _ReadPack:
        skill = next(file for file in pack.files or () if file.path == SKILL_FILE)
        changed_ns = self._changed_ns(pack.key)
        marks = (pack.stamp, changed_ns)
        times = (changed_ns, *(n for n in _numbers(skill.mark)))
        settled = max(times) < now_ns - GRANULARITY_NS
        last = self._known.get(pack.key)
        if last is None or last.marks != marks:
            return _ReadPack(marks, 0, settled)
        if last.settled or self._reread(pack.key) == self._digests.get(pack.key, ""):
            return _ReadPack(marks, last.edition, last.settled or settled)
        return _ReadPack(marks, last.edition + 1, settled)

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


DEADLINE_S = 10.0
"""Seconds that plug-ins have for an answer; a spawn waits for them once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleLibraryOptions:
    """What decides which packs there are, beside the folder."""

    include_plugins: bool
    deny: tuple[str, ...]
    profile: Profile
    limits: Limits


class RoleLibrary:
    """One catalog, kept current: parsed again only where a pack changed.

    Plug-ins are asked when the folder is first looked at, and again when it changed.
    Safe across threads.
    """

    def __init__(self, skills: str, options: RoleLibraryOptions) -> None:
        """Take the folder of packs, which need not be there; look at nothing."""
        self.skills = skills
        self._options = options
        self._lock = threading.Lock()
        self._tree = RolePacks(LocalDirSkillSource(skills, limits=options.limits))
        self._registry: Registry | None = None
        self._seen: Hashable = None
        self._plugins: tuple[SkillSource, ...] = ()
        self._skills: Satchel | None = None
        self._of: Catalog | None = None

    @property
    def parses(self) -> int:
        """How many SKILL.md files of the folder were parsed so far."""
        return self._tree.parses

    @property
    def root(self) -> str:
        """Where the folder is, wherever the working folder is now."""
        return self._tree.root

    @property
    def source(self) -> str:
        """The label of the folder's source."""
        return self._tree.label

    def current(self) -> tuple[Catalog, Catalog]:
        """Return the catalog in use, and the newest with all that is wrong in it."""
        with self._lock:
            registry = self._registry or self._open()
            seen = self._tree.look()
            if self._registry is None or seen != self._seen:
                registry.sync()
                self._registry, self._seen = registry, seen
            return registry.catalog, registry.latest

    def skills_now(self) -> Satchel:
        """Return the same packs for loads, synced where they changed since the last.

        Made when it is first asked for: a program that only makes prompts needs none.
        """
        _, latest = self.current()
        with self._lock:
            if self._skills is None:
                options = self._options
                self._skills = Satchel(
                    LocalDirSkillSource(self.skills, limits=options.limits),
                    *self._plugins,
                    profile=options.profile,
                    options=Options(limits=options.limits, deadline_s=DEADLINE_S),
                )
            elif latest is not self._of:
                self._skills.sync()
            self._of = latest
            return self._skills

    def duplicate(self, conflict: Conflict) -> DuplicateSkillError:
        """Return the error of a conflict, with a way out that there is for roles."""
        error = duplicate_with_switch(conflict, {self.source})
        if any(owner.source != self.source for owner in conflict.owners):
            return error
        fix = "rename one, and its folder with it"
        return DuplicateSkillError(
            error.skill_name, error.first_origin, error.second_origin, fix
        )

    def invalidate(self) -> None:
        """Forget all that was read; plug-ins are enumerated again at the next look."""
        with self._lock:
            registry, self._registry = self._registry, None
            skills, self._skills = self._skills, None
        for part in (skills, registry):
            if part is not None:
                part.close()

    def _open(self) -> Registry:
        options = self._options
        wanted = options.include_plugins
        self._plugins = tuple(load_plugin_sources(deny=options.deny) if wanted else ())
        return Registry(
            (self._tree, *self._plugins),
            accept=ParseOptions(profile=options.profile, limits=options.limits),
            rules=CatalogRules(),
            clock=SystemClock(),
            deadline_s=DEADLINE_S,
        )
