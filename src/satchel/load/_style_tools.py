"""The tools of each style, and the tool that finds skills."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from satchel.errors import SkillError, ToolError, echo
from satchel.load._agent_skills import (
    render_context,
    render_context_error,
    render_context_note,
)
from satchel.load._json_styles import (
    find_matches,
    list_entries,
    packs_result,
    render_descriptor,
    render_reference_error,
)
from satchel.load._tool_call import (
    NO_HOOKS,
    ResultHooks,
    one_call_event,
    report_malformed_call,
)
from satchel.load._wording import DEFAULT_STYLE_OPTIONS, StyleOptions, error_result
from satchel.model import (
    Catalog,
    Descriptor,
    Hit,
    Json,
    Loaded,
    Rendered,
    Request,
    Style,
)
from satchel.text import clean_line, printable
from satchel.tools import Tool, Toolbox, arguments_of

FIND_FROM: Final = 30
"""Skills from which on a list is searched rather than read (R35)."""

_MAX_HITS: Final = 50
_DEFAULT_HITS: Final = 5
_SCHEMA: Final[dict[str, Json]] = {
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

Find = Callable[[str, int], Sequence[Hit]]


def offer_find(catalog: Catalog, rendered: Rendered) -> bool:
    """Tell whether the tool that finds skills is worth its place in a prompt."""
    return len(catalog) >= FIND_FROM or not rendered.complete


def find_tool(find: Find) -> Tool:
    """Return ``find_skills(query, k)``: ids and descriptions, best first."""

    def find_skills(query: str, k: int = _DEFAULT_HITS) -> dict[str, object]:
        hits = find(query, max(1, min(k, _MAX_HITS)))
        return {
            "query": echo(query),
            "skills": [
                {"id": hit.id, "description": clean_line(hit.description)}
                for hit in hits
            ],
        }

    return Tool(
        "find_skills",
        "Find skills by a few words of the task, also those that are not listed.",
        _SCHEMA,
        find_skills,
    )


Load = Callable[[Request], Loaded]

_NAMES: Final = ("name", "skill_id", "skill_name")
_FILES: Final = ("reference", "script", "path")

# Row E28: what models get wrong that call such a tool.
_GUIDANCE: Final = (
    " Pass the {} character for character; it is not the name of a tool. After "
    "loading, go on with the task."
)
_BY_ID: Final = _GUIDANCE.format("id")
_BY_NAME: Final = _GUIDANCE.format("skill's name")


def offer_reader(style: Style, entries: Iterable[Descriptor]) -> bool:
    """Tell whether some of these skills has a file that the style's reader gives."""
    if style == "packs":  # its load_skill gives references and scripts
        return any(entry.assets or entry.others for entry in entries)
    return any(entry.resources for entry in entries)


def tools_for(  # noqa: PLR0913 - by name, and each with a default
    style: Style,
    load: Load,
    *,
    catalog: Callable[[], Catalog],
    find: Find | None = None,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    hooks: ResultHooks = NO_HOOKS,
    even_empty: bool = False,
) -> Toolbox:
    """Return the tools of ``style``, in a stable order; none where nothing is listed.

    Args:
        style: Names, parameters and shape of results.
        load: Reads; its errors become the style's results.
        catalog: Gives the catalog in use; asked at every call, for a toolbox may
            outlive a sync.
        find: Ranks skills for a query; None leaves its tool out.
        options: How what was loaded is written.
        hooks: What a session has to say about the results.
        even_empty: Nothing being listed now does not matter: a prompt that stands
            names the tools.
    """
    if not even_empty and not catalog().entries:
        return Toolbox("satchel")
    box = _StyleTools(load, catalog, options, hooks)
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
class _StyleTools:
    """What the handlers of one toolbox share."""

    load: Load
    catalog: Callable[[], Catalog]
    options: StyleOptions
    hooks: ResultHooks

    def agent_skills(self) -> tuple[Tool, ...]:
        """Return ``load_skill(skill_id)`` and ``read_skill_file(skill_id, path)``."""

        def load_skill(skill_id: str) -> str:
            try:
                loaded = self.load(Request(skill_id, via="tool"))
            except SkillError as error:
                return render_context_error(error, skill_id, self.hooks.misses(error))
            loaded, options = self.hooks.placed(loaded, self.options)
            note = self.hooks.instead(loaded)
            if note is not None:
                return render_context_note(loaded.id, note, *self.hooks.notes(loaded))
            return render_context(loaded, options, self.hooks.notes(loaded))

        tool = Tool(
            "load_skill",
            "Load full SKILL.md instructions by skill_id from the skill registry. "
            f"Use this when a request matches a listed skill.{_BY_ID}",
            _schema(skill_id="The skill, by its id exactly as it is listed."),
            load_skill,
            refused=self._refused,
        )
        return tool, self._reader("skill_id", "one file that belongs to a skill")

    def packs(self) -> tuple[Tool, ...]:
        """Return ``load_skill(name, reference, script)`` and the reader of the rest."""

        def load_skill(
            name: str, reference: str | None = None, script: str | None = None
        ) -> dict[str, object]:
            return packs_result(
                self.load,
                self.catalog(),
                name,
                reference,
                script,
                options=self.options,
                hooks=self.hooks,
            )

        tool = Tool(
            "load_skill",
            "Load a skill's instructions by its name, or the text of one of its "
            "references or scripts. Scripts are returned as text and never run."
            f"{_BY_NAME}",
            _schema(
                ("name",),
                name="The skill, by its name exactly as it is listed.",
                reference="A file of available_references; leave out for the body.",
                script="A file of available_scripts; leave out for the body.",
            ),
            load_skill,
            refused=self._refused,
        )
        what = "a file of a skill that is no reference and no script"
        return tool, self._reader("name", what, rest=True)

    def references(self) -> tuple[Tool, ...]:
        """Return the three tools of the discovery skill."""

        def load_skill_instructions(
            skill_name: str, reference: str | None = None
        ) -> object:
            try:
                loaded = self.load(Request(skill_name, reference, via="tool"))
            except SkillError as error:
                advice = self.hooks.misses(error)
                return render_reference_error(error, skill_name, advice)
            loaded, options = self.hooks.placed(loaded, self.options)
            note = self.hooks.instead(loaded)
            if reference is not None:
                # A mere text would not tell that it comes from another machine.
                far = loaded.descriptor.remote
                plain = note is None and not loaded.is_binary and not far
                return loaded.text if plain else self._file(loaded, note)
            if note is not None:
                bare = replace(loaded, body="", notes=())
                notes = note, *self.hooks.notes(loaded)
                return render_descriptor(bare, notes=notes)
            return render_descriptor(loaded, options, self.hooks.notes(loaded))

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
                f"`reference`, the whole text of that one.{_BY_NAME}",
                _schema(
                    ("skill_name",),
                    skill_name="The skill, by its name exactly as it is listed.",
                    reference="One of the skill's references.",
                ),
                load_skill_instructions,
                refused=self._refused,
            ),
        )

    def _reader(self, key: str, what: str, *, rest: bool = False) -> Tool:
        """Return the tool that reads a file; ``rest`` leaves load_skill its own."""

        def read_skill_file(path: str, **named: str) -> dict[str, object]:
            request = Request(named[key], path, via="tool")
            try:
                loaded = self._load_rest(request) if rest else self.load(request)
            except SkillError as error:
                return error_result(error, self.hooks.misses(error))
            return {key: loaded.id, **self._file(loaded, self.hooks.instead(loaded))}

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
            refused=self._refused,
        )

    def _load_rest(self, request: Request) -> Loaded:
        with one_call_event() as one:
            loaded = self.load(request)
            one.refusal = _not_the_rest(loaded)
        if one.refusal is not None:
            raise one.refusal
        return loaded

    def _refused(self, arguments: object, error: SkillError) -> None:
        """Tell of a call that was refused for its form, as far as it names a skill."""
        given: Mapping[str, object] = {}
        with suppress(ToolError):
            given = arguments_of("", arguments)
        texts = {key: each for key, each in given.items() if isinstance(each, str)}
        name = next((texts[key] for key in _NAMES if key in texts), "")
        file = next((texts[key] for key in _FILES if key in texts), None)
        report_malformed_call(self.load, Request(name, file, via="tool"), error)

    def _file(self, loaded: Loaded, instead: str | None) -> dict[str, object]:
        """Return one file; of a binary one its kind and size, for no model reads it."""
        notes = list(loaded.notes)
        result: dict[str, object] = {
            "path": printable(loaded.file, keep=""),
            "media_type": loaded.media_type,
        }
        if instead is not None:
            result["content"] = ""
            notes = [instead]
        elif loaded.is_binary:
            result |= {"content": None, "size_bytes": len(loaded.data)}
        else:
            result["content"] = loaded.text
        notes += self.hooks.notes(loaded)
        if notes:
            result["notes"] = [printable(note, keep="") for note in notes]
        return result


def _not_the_rest(loaded: Loaded) -> ToolError | None:
    """Return the error for what the parameters of ``load_skill`` give (R14)."""
    for parameter, paths in (
        ("reference", loaded.descriptor.references),
        ("script", loaded.descriptor.scripts),
    ):
        if loaded.file in paths:
            file = printable(loaded.file, keep="")
            detail = f"{file!r} is a {parameter}: load_skill gives it"
            return ToolError("read_skill_file", detail)
    return None


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
