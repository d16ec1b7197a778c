"""The tools of each style; every one calls the same load."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from satchel.errors import SkillError
from satchel.load.agent_skills import render_context, render_context_error
from satchel.load.options import DEFAULT_STYLE_OPTIONS, StyleOptions
from satchel.load.packs import packs_result
from satchel.load.references import (
    find_matches,
    list_entries,
    render_descriptor,
    render_reference_error,
)
from satchel.load.telling import error_result
from satchel.model import Catalog, Hit, Json, Loaded, Rendered, Request, Style
from satchel.text import clean_line
from satchel.tools import Tool, Toolbox

__all__ = ["FIND_TOOL", "offer_find", "tools_for"]

FIND_TOOL: Final = "find_skills"
FIND_FROM: Final = 30
"""Skills from which on a list is searched rather than read (R35)."""

_MAX_HITS: Final = 50
_DEFAULT_HITS: Final = 5

Load = Callable[[Request], Loaded]
Find = Callable[[str, int], Sequence[Hit]]


def offer_find(catalog: Catalog, rendered: Rendered) -> bool:
    """Tell whether the tool that finds skills is worth its place in a prompt."""
    return len(catalog) >= FIND_FROM or not rendered.complete


def tools_for(
    style: Style,
    load: Load,
    *,
    catalog: Callable[[], Catalog],
    find: Find | None = None,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
) -> Toolbox:
    """Return the tools of ``style``, in a stable order; none where nothing is listed.

    Args:
        style: Names, parameters and shape of results.
        load: Reads; its errors become the style's results.
        catalog: Gives the catalog in use; asked at every call, for a toolbox may
            outlive a sync.
        find: Ranks skills for a query; None leaves its tool out.
        options: How what was loaded is written.
    """
    if not catalog().entries:
        return Toolbox("satchel")
    box = _Box(load, catalog, options)
    match style:
        case "agent-skills":
            tools = box.agent_skills()
        case "packs":
            tools = box.packs()
        case "references":
            tools = box.references()
    if find is not None:
        tools += (_find_tool(find),)
    return Toolbox("satchel", tools)


@dataclass(frozen=True, slots=True)
class _Box:
    """What the handlers of one toolbox share."""

    load: Load
    catalog: Callable[[], Catalog]
    options: StyleOptions

    def agent_skills(self) -> tuple[Tool, ...]:
        """Return ``load_skill(skill_id)`` and ``read_skill_file(skill_id, path)``."""

        def load_skill(skill_id: str) -> str:
            try:
                loaded = self.load(Request(skill_id, via="tool"))
            except SkillError as error:
                return render_context_error(error, skill_id)
            return render_context(loaded, self.options)

        return (
            Tool(
                "load_skill",
                "Load full SKILL.md instructions by skill_id from the skill registry. "
                "Use this when a request matches a listed skill.",
                _schema(skill_id="The id of the skill, exactly as it is listed."),
                load_skill,
            ),
            self._reader("skill_id"),
        )

    def packs(self) -> tuple[Tool, ...]:
        """Return ``load_skill(name, reference, script)`` and the reader of the rest."""

        def load_skill(
            name: str, reference: str | None = None, script: str | None = None
        ) -> dict[str, object]:
            return packs_result(
                self.load, self.catalog(), name, reference, script, options=self.options
            )

        return (
            Tool(
                "load_skill",
                "Load a skill's instructions by its name, or the text of one of its "
                "references or scripts. Scripts are returned as text and never run.",
                _schema(
                    ("name",),
                    name="The name of the skill, exactly as it is listed.",
                    reference="A file of available_references; leave out for the body.",
                    script="A file of available_scripts; leave out for the body.",
                ),
                load_skill,
            ),
            self._reader("name"),
        )

    def references(self) -> tuple[Tool, ...]:
        """Return the three tools of the discovery skill."""

        def load_skill_instructions(
            skill_name: str, reference: str | None = None
        ) -> object:
            try:
                loaded = self.load(Request(skill_name, reference, via="tool"))
            except SkillError as error:
                return render_reference_error(error, skill_name)
            if reference is None:
                return render_descriptor(loaded)
            return loaded.text if not loaded.is_binary else _file(loaded)

        return (
            Tool(
                "list_skills",
                "List every skill with its description and its references.",
                _schema(),
                lambda: list_entries(self.catalog()),
            ),
            Tool(
                "search_skills",
                "Find the skills whose name, description or references hold a text.",
                _schema(query="The text to look for; upper and lower case are alike."),
                lambda query: find_matches(self.catalog(), query),
            ),
            Tool(
                "load_skill_instructions",
                "Load a skill's instructions and the names of its references; with "
                "`reference`, the whole text of that one.",
                _schema(
                    ("skill_name",),
                    skill_name="The name of the skill, exactly as it is listed.",
                    reference="One of the skill's references.",
                ),
                load_skill_instructions,
            ),
        )

    def _reader(self, key: str) -> Tool:
        def read_skill_file(path: str, **named: str) -> dict[str, object]:
            try:
                loaded = self.load(Request(named[key], path, via="tool"))
            except SkillError as error:
                return error_result(error)
            return {key: loaded.id, **_file(loaded)}

        return Tool(
            "read_skill_file",
            "Read one file that belongs to a skill, whole and as it is.",
            _schema(
                **{
                    key: f"The {key} of the skill, exactly as it is listed.",
                    "path": "The file, as the skill names it.",
                }
            ),
            read_skill_file,
        )


def _file(loaded: Loaded) -> dict[str, object]:
    """Return one file; of a binary one its kind and size, for no model reads it."""
    result: dict[str, object] = {"path": loaded.file, "media_type": loaded.media_type}
    if loaded.is_binary:
        result |= {"content": None, "size_bytes": len(loaded.data)}
    else:
        result["content"] = loaded.text
    if loaded.notes:
        result["notes"] = list(loaded.notes)
    return result


def _find_tool(find: Find) -> Tool:
    def find_skills(query: str, k: int = _DEFAULT_HITS) -> dict[str, object]:
        hits = find(query, max(1, min(k, _MAX_HITS)))
        return {
            "query": query,
            "skills": [
                {"id": hit.id, "description": clean_line(hit.description)}
                for hit in hits
            ],
        }

    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "A few words of the task."},
            "k": {
                "type": "integer",
                "description": "How many skills at most.",
                "minimum": 1,
                "maximum": _MAX_HITS,
                "default": _DEFAULT_HITS,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    return Tool(
        FIND_TOOL,
        "Find skills by a few words of the task, also those that are not listed.",
        schema,
        find_skills,
    )


def _schema(required: Sequence[str] | None = None, **strings: str) -> dict[str, Json]:
    """Return a schema of string parameters; all are required unless some are named.

    One that is not required may be null too: models write it for "none".
    """
    wanted: list[Json] = [*(strings if required is None else required)]
    nullable: list[Json] = ["string", "null"]
    properties: dict[str, Json] = {
        name: {
            "type": "string" if name in wanted else nullable,
            "description": description,
        }
        for name, description in strings.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": wanted,
        "additionalProperties": False,
    }
