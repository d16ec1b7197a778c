"""``find-skills``: a skill that is worn, and through which all others are found."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from satchel.load import tools_for
from satchel.model import Catalog, Loaded, Request
from satchel.policy import Policy
from satchel.skill import BaseSkill
from satchel.tools import Toolbox

__all__ = ["Shelf", "SkillDiscoverySkill"]


class Shelf(Protocol):
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
    ) -> Loaded:
        """Load a skill or one file of it."""
        ...


class SkillDiscoverySkill(BaseSkill):
    """Lists skills, searches them, and loads them and their references.

    Its instructions state the two steps, discover and then load, and what references
    are for. It keeps nothing between calls, so that one serves many runs, all of them
    for one ``who``; `satchel.Satchel.session` remembers, and asks for approval.
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

    def __init__(self, shelf: Shelf, *, who: Mapping[str, Any] | None = None) -> None:
        """Make the skill for the skills of ``shelf``.

        Args:
            shelf: A `satchel.Satchel`.
            who: For whom skills are listed and loaded; the policy is given it.
        """
        self._shelf = shelf
        self._who = dict(who or {})

    @property
    def tools(self) -> Toolbox:
        """The three tools of the style ``references``; none where nothing is listed."""
        return tools_for("references", self._load, catalog=self._listed)

    def _listed(self) -> Catalog:
        catalog, policy = self._shelf.catalog, self._shelf.policy
        kept = tuple(
            entry
            for entry in catalog.entries
            if policy.decide("list", entry.id, self._who).verdict == "allow"
        )
        return catalog if kept == catalog.entries else replace(catalog, entries=kept)

    def _load(self, request: Request) -> Loaded:
        return self._shelf.load(request.id, request.file, who=self._who, via="tool")
