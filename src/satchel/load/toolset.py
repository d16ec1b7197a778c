"""The tools of each style; every one calls the same load."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from satchel.errors import SkillError, ToolError
from satchel.load.agent_skills import render_context, render_context_error
from satchel.load.find_tool import Find, find_tool
from satchel.load.options import DEFAULT_STYLE_OPTIONS, StyleOptions
from satchel.load.packs import packs_result
from satchel.load.references import (
    find_matches,
    list_entries,
    render_descriptor,
    render_reference_error,
)
from satchel.load.telling import error_result
from satchel.model import Catalog, Json, Loaded, Request, Style
from satchel.tools import Tool, Toolbox

__all__ = ["tools_for"]

Load = Callable[[Request], Loaded]


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
        tools += (find_tool(find),)
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
                _schema(skill_id="The skill, by its id exactly as it is listed."),
                load_skill,
            ),
            self._reader("skill_id", "one file that belongs to a skill"),
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
                    name="The skill, by its name exactly as it is listed.",
                    reference="A file of available_references; leave out for the body.",
                    script="A file of available_scripts; leave out for the body.",
                ),
                load_skill,
            ),
            self._reader(
                "name",
                "a file of a skill that is no reference and no script",
                rest=True,
            ),
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

        def list_skills() -> dict[str, object]:
            return list_entries(self.catalog())

        def search_skills(query: str) -> dict[str, object]:
            return find_matches(self.catalog(), query)

        return (
            Tool(
                "list_skills",
                "List every skill with its description and its references.",
                _schema(),
                list_skills,
            ),
            Tool(
                "search_skills",
                "Find the skills whose name, description or references hold a text.",
                _schema(query="The text to look for; upper and lower case are alike."),
                search_skills,
            ),
            Tool(
                "load_skill_instructions",
                "Load a skill's instructions and the names of its references; with "
                "`reference`, the whole text of that one.",
                _schema(
                    ("skill_name",),
                    skill_name="The skill, by its name exactly as it is listed.",
                    reference="One of the skill's references.",
                ),
                load_skill_instructions,
            ),
        )

    def _reader(self, key: str, what: str, *, rest: bool = False) -> Tool:
        """Return the tool that reads a file; ``rest`` leaves load_skill its own."""

        def read_skill_file(path: str, **named: str) -> dict[str, object]:
            try:
                loaded = self.load(Request(named[key], path, via="tool"))
                if rest:
                    _check_is_rest(loaded)
            except SkillError as error:
                return error_result(error)
            return {key: loaded.id, **_file(loaded)}

        return Tool(
            "read_skill_file",
            f"Read {what}, whole and as it is.",
            _schema(
                **{
                    key: "The skill, exactly as it is listed.",
                    "path": "The file, as the skill names it.",
                }
            ),
            read_skill_file,
        )


def _check_is_rest(loaded: Loaded) -> None:
    """Let pass what the parameters of ``load_skill`` do not give (R14)."""
    for parameter, paths in (
        ("reference", loaded.descriptor.references),
        ("script", loaded.descriptor.scripts),
    ):
        if loaded.file in paths:
            detail = f"{loaded.file!r} is a {parameter}: load_skill gives it"
            raise ToolError("read_skill_file", detail)


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
