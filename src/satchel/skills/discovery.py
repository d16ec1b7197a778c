"""``find-skills``: a skill that is worn, and through which all others are found."""

from typing import Protocol

from satchel.load import TurnCache, tools_for
from satchel.model import Catalog, Loaded, Request
from satchel.skill import BaseSkill
from satchel.tools import Toolbox

__all__ = ["Shelf", "SkillDiscoverySkill"]


class Shelf(Protocol):
    """What discovery needs of a `satchel.Satchel`."""

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        ...

    def load(
        self,
        skill_id: str,
        file: str | None = None,
        *,
        via: str = "python",
        turn: TurnCache | None = None,
    ) -> Loaded:
        """Load a skill or one file of it."""
        ...


class SkillDiscoverySkill(BaseSkill):
    """Lists skills, searches them, and loads them and their references.

    Its instructions state the two steps, discover and then load, and what references
    are for.
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

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    @property
    def tools(self) -> Toolbox:
        """The three tools of the style ``references``; none where nothing is listed."""
        return tools_for("references", self._load, catalog=lambda: self._shelf.catalog)

    def _load(self, request: Request) -> Loaded:
        return self._shelf.load(request.id, request.file, via="tool")
