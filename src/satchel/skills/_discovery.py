"""`find-skills`: an always-on skill through which all others are found."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from satchel.agent import BaseSkill
from satchel.errors import ReferenceUnreadableError
from satchel.load import (
    TurnCache,
    find_matches,
    list_entries,
    render_descriptor,
    tools_for,
)
from satchel.model import Catalog, Loaded, Request
from satchel.policy import Policy
from satchel.tools import Run, Tool, Toolbox, Turn

_turn: Final[ContextVar[object]] = ContextVar("satchel_turn", default=None)
"""The turn that a call belongs to, for all discovery skills."""


class SatchelLike(Protocol):
    """What discovery needs of a `satchel.Satchel`."""

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        ...

    @property
    def policy(self) -> Policy:
        """Who may list and load what; loads ask it themselves."""
        ...

    def load(
        self,
        skill_id: str,
        file: str | None = None,
        *,
        who: Mapping[str, object] | None = None,
        via: str = "python",
        turn: TurnCache | None = None,
    ) -> Loaded:
        """Load a skill or one file of it."""
        ...


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
        self, shelf: SatchelLike, *, who: Mapping[str, Any] | None = None
    ) -> None:
        """Make the skill for the skills of ``shelf``.

        Args:
            shelf: A `satchel.Satchel`.
            who: For whom skills are listed and loaded; the policy is given it.

        Raises:
            TypeError: ``shelf`` is none; a registry, say, is a source of one.
        """
        if not hasattr(shelf, "catalog"):
            kind = type(shelf).__name__
            raise TypeError(
                f"want a Satchel, got a {kind}; write Satchel(...) round it"
            )
        self._shelf = shelf
        self._who = dict(who or {})
        self._lock = threading.Lock()
        self._read: WeakKeyDictionary[object, TurnCache] = WeakKeyDictionary()
        box = tools_for("references", self._load, catalog=self._listed, even_empty=True)
        self._box = Toolbox(box.name, tuple(map(_in_turn, box)))

    @property
    def tools(self) -> Toolbox:
        """The three tools of the style ``references``; none where nothing is listed."""
        return self._box if self._listed().entries else Toolbox(self._box.name)

    @contextmanager
    def turn(self) -> Generator[TurnCache]:
        """Bound one turn of an agent that does not say itself when it ends.

        It holds for what is called inside, in threads of ``asyncio.to_thread`` as well.
        What it yields counts ``reads`` and ``hits``.
        """
        turn = Turn()
        with _within(turn):
            yield self._kept(turn)

    def list_skills(self) -> dict[str, object]:
        """Return ``{"skills": [...]}``, as that tool does."""
        return list_entries(self._listed())

    def search_skills(self, query: str) -> dict[str, object]:
        """Return ``{"query": ..., "matches": [...]}``, as that tool does."""
        return find_matches(self._listed(), query)

    def load_skill_instructions(
        self, skill_name: str, reference: str | None = None
    ) -> str | dict[str, object]:
        """Return the text of a reference; without one what is known of the skill.

        That is a dict with ``name``, ``instructions``, ``tools`` and ``references``.
        Unlike the tool of this name, for which an error is a result, it raises.

        Args:
            skill_name: The skill, exactly as it is listed.
            reference: A listed path, or a short name that only one of them bears.

        Raises:
            SkillNotFoundError: No skill of exactly this name.
            ReferenceNotAllowedError: The file is not listed, in any way it is written.
            ReferenceNotFoundError: It is listed, and missing.
            ReferenceUnreadableError: It is no text.
            SkillError: Else, as for `satchel.Satchel.load`.
        """
        loaded = self._load(Request(skill_name, reference, via="tool"))
        if reference is None:
            return render_descriptor(loaded)
        if loaded.is_binary:
            detail = f"it is no text: {len(loaded.data):,} bytes"
            raise ReferenceUnreadableError(loaded.id, loaded.file, detail=detail)
        return loaded.text

    def _listed(self) -> Catalog:
        catalog, policy = self._shelf.catalog, self._shelf.policy
        kept = tuple(
            entry
            for entry in catalog.entries
            if policy.decide("list", entry.id, self._who).verdict == "allow"
        )
        return catalog if kept == catalog.entries else replace(catalog, entries=kept)

    def _load(self, request: Request) -> Loaded:
        turn = _turn.get()
        kept = None if turn is None else self._kept(turn)
        return self._shelf.load(
            request.id, request.file, who=self._who, via="tool", turn=kept
        )

    def _kept(self, turn: object) -> TurnCache:
        """Return what this skill has read in a turn; it goes when the turn does."""
        with self._lock:
            return self._read.setdefault(turn, TurnCache())


@contextmanager
def _within(turn: object) -> Generator[None]:
    """Let calls inside belong to a turn; None leaves the one there is."""
    token = _turn.set(_turn.get() if turn is None else turn)
    try:
        yield
    finally:
        _turn.reset(token)


def _in_turn(tool: Tool) -> Tool:
    """Return a tool whose calls belong to the turn of the run that makes them."""

    def handler(run: Run, **arguments: object) -> object:
        with _within(run.turn):
            return tool.handler(**arguments)

    return replace(tool, handler=handler, run_parameter="run")
