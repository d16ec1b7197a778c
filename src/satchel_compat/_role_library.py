"""The packs of roles: those of one folder, and of plug-ins."""

import threading
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.errors import DuplicateSkillError, SkillError, SourceUnavailableError
from satchel.model import Catalog, Conflict, Finding, Found, Limits, Manifest
from satchel.runtime import Options, Satchel, SystemClock
from satchel.skill_md import Profile
from satchel.sources import SourceWrapper, load_plugin_sources
from satchel_compat._loader import LocalDirSkillSource, duplicate_with_switch

if TYPE_CHECKING:
    from satchel.protocols import SkillSource


@dataclass(frozen=True, slots=True)
class _ReadPack:
    """One pack as it was at the last look.

    ``revision`` counts the edits that the marks do not show. If ``settled`` is true,
    the marks show every later edit.
    """

    marks: Hashable
    revision: int
    settled: bool


class RolePacks(SourceWrapper):
    """The packs of one folder, as of the last `look`; the owner has to lock.

    A pack counts as unchanged if the marks of its files are. Where the source says that
    another edit could leave them as they are, SKILL.md is hashed again.
    """

    def __init__(self, source: LocalDirSkillSource) -> None:
        """Look at nothing yet."""
        super().__init__(source)
        self.parses = 0
        self.root: Final = source.root
        self._found: tuple[Found | Finding, ...] = ()
        self._failure: SourceUnavailableError | None = None
        self._states: dict[str, _ReadPack] = {}
        self._digests: dict[str, str] = {}

    def look(self) -> Hashable:
        """Return a value that changes if a pack may have changed; parse nothing."""
        states: dict[str, _ReadPack] = {}
        results: list[Found | Finding] = []
        try:
            for item in self._source.scan():
                if isinstance(item, Found):
                    state = states[item.key] = self._state(item)
                    stamp = (state.marks, state.revision)
                    results.append(replace(item, stamp=stamp, settled=True))
                else:
                    results.append(item)
        except SourceUnavailableError as error:
            self._failure = error
            return str(error)
        for key in self._states.keys() - states.keys():
            self._digests.pop(key, None)
        self._failure, self._found, self._states = None, tuple(results), states
        return self._found

    def scan(self) -> Iterable[Found | Finding]:
        """Return the packs as of the last look."""
        if self._failure is not None:
            raise self._failure
        return self._found

    def manifest(self, key: str) -> bytes | Manifest:
        """Return the raw SKILL.md, and count that it is parsed."""
        self.parses += 1
        # A read that fails must leave no digest of the earlier bytes.
        self._digests.pop(key, None)
        data = super().manifest(key)
        self._digests[key] = _digest(data)
        return data

    def _state(self, pack: Found) -> _ReadPack:
        marks, settled = pack.stamp, pack.settled
        last = self._states.get(pack.key)
        if last is None or last.marks != marks:
            return _ReadPack(marks, 0, settled)
        if last.settled or self._reread(pack.key) == self._digests.get(pack.key, ""):
            return _ReadPack(marks, last.revision, last.settled or settled)
        return _ReadPack(marks, last.revision + 1, settled)

    def _reread(self, key: str) -> str:
        try:
            return _digest(self._source.manifest(key))
        except SkillError:
            return ""


def _digest(data: bytes | Manifest) -> str:
    return sha256(data).hexdigest() if isinstance(data, bytes) else ""


# Seconds in which plug-ins must answer; only the first prompt waits for them.
DEADLINE_S = 10.0


class RoleLibrary:
    """One current catalog; only packs that changed are parsed again.

    Plug-ins are asked at the first look, and again when the folder changed.
    """

    def __init__(
        self,
        skills: str,
        *,
        include_plugins: bool,
        deny: Collection[str],
        profile: Profile,
        limits: Limits,
    ) -> None:
        """Take the folder of packs, which need not exist; read nothing."""
        self.skills = skills
        self._include_plugins = include_plugins
        self._deny = tuple(deny)
        self._profile: Profile = profile
        self._limits = limits
        self._lock = threading.Lock()
        self._packs = RolePacks(LocalDirSkillSource(skills, limits=limits))
        self._registry: Registry | None = None
        self._seen: Hashable = None
        self._plugins: tuple[SkillSource, ...] = ()
        self._skills: Satchel | None = None
        self._loaded_catalog: Catalog | None = None

    @property
    def parses(self) -> int:
        """How many SKILL.md files of the folder were parsed so far."""
        return self._packs.parses

    @property
    def root(self) -> str:
        """The absolute path of the folder, from when this was made."""
        return self._packs.root

    @property
    def source(self) -> str:
        """The label of the folder's source."""
        return self._packs.label

    def current(self) -> tuple[Catalog, Catalog]:
        """Return the catalog in use, and the newest one with all its findings."""
        with self._lock:
            registry = self._registry or self._open()
            seen = self._packs.look()
            if self._registry is None or seen != self._seen:
                registry.sync()
                # Only after the sync: if it raises, the next call syncs again.
                self._registry, self._seen = registry, seen
            return registry.catalog, registry.latest

    def skills_now(self) -> Satchel:
        """Return a Satchel of the same packs, synced if they changed."""
        _, latest = self.current()
        with self._lock:
            # Not in `__init__`: a program that only makes prompts needs none.
            if self._skills is None:
                self._skills = Satchel(
                    LocalDirSkillSource(self.skills, limits=self._limits),
                    *self._plugins,
                    profile=self._profile,
                    options=Options(limits=self._limits, deadline_s=DEADLINE_S),
                )
            elif latest is not self._loaded_catalog:
                self._skills.sync()
            self._loaded_catalog = latest
            return self._skills

    def duplicate(self, conflict: Conflict) -> DuplicateSkillError:
        """Return the error of a conflict, with a fix that works for roles."""
        fix = "rename one of the two, and its folder with it"
        return duplicate_with_switch(conflict, {self.source}, fix)

    def invalidate(self) -> None:
        """Forget everything that was read; the next look asks the plug-ins again."""
        with self._lock:
            registry, self._registry = self._registry, None
            skills, self._skills = self._skills, None
        # Without the lock: a source that closes slowly delays no other caller.
        for part in (skills, registry):
            if part is not None:
                part.close()

    def _open(self) -> Registry:
        if self._include_plugins:
            self._plugins = tuple(load_plugin_sources(deny=self._deny))
        return Registry(
            (self._packs, *self._plugins),
            accept=ParseOptions(profile=self._profile, limits=self._limits),
            rules=CatalogRules(),
            clock=SystemClock(),
            deadline_s=DEADLINE_S,
        )
