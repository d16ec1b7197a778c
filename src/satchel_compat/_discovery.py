"""`find-skills`: an always-on skill through which all others are found."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from satchel.agent import BaseSkill
from satchel.errors import ReferenceUnreadableError
from satchel.load import (
    ToolBackend,
    TurnCache,
    find_matches,
    list_entries,
    render_descriptor,
    tools_for,
)
from satchel.model import Catalog, Loaded, Request
from satchel.runtime import Satchel
from satchel.tools import Run, Toolbox, Turn
from satchel_compat._registry import SkillRegistry, default_registry

# The turn that a call belongs to, for all discovery skills.
# A context variable goes along into the threads of `asyncio.to_thread`.
_turn: Final[ContextVar[object]] = ContextVar("satchel_turn", default=None)


class SkillDiscoverySkill(BaseSkill):
    """Lists skills, searches them, and loads them and their references.

    Its instructions state the two steps, discover and then load, and what references
    are for. One serves many runs, also at the same time, all of them for one ``who``;
    `satchel.Satchel.session` remembers more, and asks for approval.

    Within one turn a file is read once, and the next turn reads it again. A turn is one
    run of a `satchel.agent.Agent`, one turn of a session that has this skill, or what
    `turn` bounds; calls outside of any read each time.
    """

    name = "find-skills"
    description = "Use when a task may need know-how that some skill holds."
    instructions = (
        "Skills hold know-how for special tasks. First discover: call `list_skills`, "
        "or `search_skills` with a word of the task. Then load: call "
        "`load_skill_instructions` with the skill's name, exactly as listed, and "
        "follow what it says. A skill lists its references. Load one with "
        "`load_skill_instructions(skill_name, reference)` only when you need it: for "
        "guidance on the domain, to recover from an error that it covers, or for "
        "operational notes such as environment variables."
    )

    def __init__(
        self,
        skills: Satchel | SkillRegistry | None = None,
        *,
        who: Mapping[str, Any] | None = None,
    ) -> None:
        """Make the skill that finds these skills.

        Args:
            skills: A `satchel.Satchel`, or a registry. None is
                `satchel.default_registry`, made and read at the first use.
            who: For whom skills are listed and loaded; the policy is given it.

        Raises:
            TypeError: It is something else.
        """
        if isinstance(skills, SkillRegistry):
            skills = Satchel(skills)
        if not isinstance(cast("object", skills), Satchel | None):
            kind = type(skills).__name__
            raise TypeError(f"expected a Satchel or a SkillRegistry; got a {kind}")
        self._backend = _DiscoveryBackend(skills, dict(who or {}))
        self._toolbox = tools_for("references", self._backend, even_empty=True)

    @property
    def tools(self) -> Toolbox:
        """The three tools of the style ``references``; none where nothing is listed."""
        is_empty = not self._backend.catalog.entries
        return Toolbox(self._toolbox.name) if is_empty else self._toolbox

    @contextmanager
    def turn(self) -> Generator[TurnCache]:
        """Bound one turn of an agent that does not say itself when it ends.

        It holds for what is called inside, in threads of ``asyncio.to_thread`` as well.
        What it yields counts ``reads`` and ``hits``.
        """
        turn = Turn()
        token = _turn.set(turn)
        try:
            yield self._backend.cache_of(turn)
        finally:
            _turn.reset(token)

    def list_skills(self) -> dict[str, object]:
        """Return ``{"skills": [...]}``, as that tool does."""
        return list_entries(self._backend.catalog)

    def search_skills(self, query: str) -> dict[str, object]:
        """Return ``{"query": ..., "matches": [...]}``, as that tool does."""
        return find_matches(self._backend.catalog, query)

    def load_skill_instructions(
        self, skill_name: str, reference: str | None = None
    ) -> str | dict[str, object]:
        """Return the text of a reference; without one what is known of the skill.

        That is a dict with ``name``, ``instructions``, ``tools`` and ``references``.
        Unlike the tool of this name, for which an error is a result, it raises.

        Args:
            skill_name: The skill, exactly as it is listed.
            reference: A listed path, or a short name that only one of them has.

        Raises:
            SkillNotFoundError: No skill of exactly this name.
            ReferenceNotAllowedError: The file is not listed, in any way it is written.
            ReferenceNotFoundError: It is listed, and missing.
            ReferenceUnreadableError: It is no text.
            SkillError: As for `satchel.Satchel.load`.
        """
        loaded = self._backend.load_for(Request(skill_name, reference), Run())
        if reference is None:
            return render_descriptor(loaded)
        if loaded.is_binary:
            detail = f"it is not text: {len(loaded.data):,} bytes"
            raise ReferenceUnreadableError(loaded.id, loaded.file, detail=detail)
        return loaded.text


class _DiscoveryBackend(ToolBackend):
    """Loads for one user, each file once a turn."""

    def __init__(self, skills: Satchel | None, who: Mapping[str, Any]) -> None:
        self._named = skills
        self._who = who
        self._lock = threading.Lock()
        # A turn's cache goes when the turn does.
        self._caches: WeakKeyDictionary[object, TurnCache] = WeakKeyDictionary()

    @property
    def _skills(self) -> Satchel:
        return default_registry() if self._named is None else self._named

    @property
    def catalog(self) -> Catalog:
        catalog, policy = self._skills.catalog, self._skills.policy
        entries = tuple(
            entry
            for entry in catalog.entries
            if policy.decide("list", entry.id, self._who).verdict == "allow"
        )
        is_all = entries == catalog.entries
        return catalog if is_all else replace(catalog, entries=entries)

    def load_for(self, request: Request, run: Run) -> Loaded:
        turn = _turn.get() if run.turn is None else run.turn
        cache = None if turn is None else self.cache_of(turn)
        return self._skills.load(
            request.id, request.file, who=self._who, via="tool", turn=cache
        )

    def cache_of(self, turn: object) -> TurnCache:
        # Calls of one turn may come at the same time, and must share one cache.
        with self._lock:
            return self._caches.setdefault(turn, TurnCache())
