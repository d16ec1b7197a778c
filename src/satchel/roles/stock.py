"""The packs that roles are looked up in: those of one folder, and of plug-ins."""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from satchel.catalog import Registry
from satchel.catalog.assemble import Rules
from satchel.catalog.entry import Acceptance
from satchel.errors import DuplicateSkillError
from satchel.model import Catalog, Conflict, Limits
from satchel.roles.tree import Tree
from satchel.runtime import Satchel
from satchel.runtime.loader import duplicate_with_switch
from satchel.runtime.time import SystemClock
from satchel.sources import LocalDirSkillSource, load_plugin_sources
from satchel.spec import Profile

if TYPE_CHECKING:
    from collections.abc import Hashable

    from satchel.protocols import SkillSource

__all__ = ["Stock", "StockOptions"]

DEADLINE_S = 10.0
"""Seconds that plug-ins have for an answer; a spawn waits for them once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockOptions:
    """What decides which packs there are, beside the folder."""

    include_plugins: bool
    deny: tuple[str, ...]
    profile: Profile
    limits: Limits


class Stock:
    """One catalog, kept current: parsed again only where a pack changed.

    Plug-ins are asked when the folder is first looked at, and again when it changed.
    Safe across threads.
    """

    def __init__(self, skills: str, options: StockOptions) -> None:
        """Take the folder of packs, which need not be there; look at nothing."""
        self.skills = skills
        self._options = options
        self._lock = threading.Lock()
        self._tree = Tree(LocalDirSkillSource(skills, limits=options.limits))
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
                    limits=options.limits,
                    deadline_s=DEADLINE_S,
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
        for each in (skills, registry):
            if each is not None:
                each.close()

    def _open(self) -> Registry:
        options = self._options
        wanted = options.include_plugins
        self._plugins = tuple(load_plugin_sources(deny=options.deny) if wanted else ())
        return Registry(
            (self._tree, *self._plugins),
            accept=Acceptance(profile=options.profile, limits=options.limits),
            rules=Rules(),
            clock=SystemClock(),
            deadline_s=DEADLINE_S,
        )
