"""The tools that an application offers to skills by name, and who may open which."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import Any, Final, cast

from satchel.agent import BaseSkill, Skill
from satchel.catalog import is_tool_allowed
from satchel.errors import DuplicateToolError, ToolError
from satchel.load import STILL_LOADS, wording
from satchel.model import SKILL_FILE, Catalog, Descriptor, Finding, Json
from satchel.tools import Tool, Toolbox, tool_from_function

# The owner of a tool that no skill brought.
APPLICATION: Final = "application"

_FUNCTIONS: Final = (FunctionType, MethodType, BuiltinFunctionType, partial)
# Many frameworks' tool objects can be called too, so `callable` would tell nothing.


@dataclass(frozen=True, slots=True)
class SkillTools:
    """The tools that open with a skill, in order, and what to say of the others."""

    tools: tuple[Tool, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _RegisteredTool:
    tool: Tool
    skill: str | None = None

    @property
    def owner(self) -> str:
        return APPLICATION if self.skill is None else f"skill {self.skill!r}"

    def serves(self, descriptor: Descriptor) -> bool:
        return self.skill in (None, descriptor.id)

    def is_same(self, other: "_RegisteredTool") -> bool:
        """Return whether both are one thing that was offered twice."""
        mine, its = self.tool, other.tool
        if mine.native is not None or its.native is not None:
            return mine.native is its.native
        return mine == its  # one function makes equal tools


class ToolRegistry:
    """Tools by name: those of the application, and those that skills in code bring.

    A tool of the application opens with any skill that names it. One that a skill
    brings opens with that skill alone: another pack that names it would get around what
    a policy says of the skill. Safe across threads.
    """

    def __init__(
        self, offered: Iterable[object] = (), skills: Iterable[Skill] = ()
    ) -> None:
        self._lock = threading.Lock()
        self._offers: Mapping[str, _RegisteredTool] = MappingProxyType({})
        self.add(*offered)
        self._put(
            _RegisteredTool(tool, skill.name)
            for skill in skills
            for tool in skill.tools or ()
        )

    def add(self, *offered: object) -> None:
        """Offer more; all of it or, where an error is raised, nothing."""
        self._put([offer for item in offered for offer in _registered(item)])

    @property
    def version(self) -> object:
        """Something that is another object after each change."""
        return self._offers

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._offers)

    def get(self, name: str) -> Tool | None:
        offer = self._offers.get(name)
        return None if offer is None else offer.tool

    def owner(self, name: str) -> str:
        offer = self._offers.get(name)
        return "" if offer is None else offer.owner

    def tools_of(self, descriptor: Descriptor) -> SkillTools:
        """Return the tools that open with a skill, in the order it names them."""
        tools: list[Tool] = []
        notes: list[str] = []
        # Its own allowed-tools may close some, and never opens one.
        for name, offer in self._named(descriptor):
            if not is_tool_allowed(name, descriptor.allowed_tools):
                notes.append(wording.TOOL_CLOSED.format(name))
            elif offer is None:
                notes.append(wording.TOOL_MISSING.format(name))
            elif not offer.serves(descriptor):
                notes.append(wording.TOOL_OF_OTHER.format(name, offer.owner))
            else:
                tools.append(offer.tool)
        return SkillTools(tuple(tools), tuple(notes))

    def missing(self, catalog: Catalog) -> tuple[Finding, ...]:
        """Return an error for each tool that a skill names and cannot open."""
        loadable = (e for e in catalog.excluded if e.reason in STILL_LOADS)
        excluded = (exclusion.descriptor for exclusion in loadable)
        return tuple(
            _tool_not_offered(descriptor, name, offer)
            for descriptor in (*catalog.entries, *excluded)
            if descriptor.tools
            for name, offer in self._named(descriptor)
            if offer is None or not offer.serves(descriptor)
        )

    def _named(
        self, descriptor: Descriptor
    ) -> list[tuple[str, _RegisteredTool | None]]:
        offers = self._offers  # one snapshot for one answer
        return [(name, offers.get(name)) for name in descriptor.tools]

    def _put(self, more: Iterable[_RegisteredTool]) -> None:
        # A new mapping each time: readers need no lock, and an error changes nothing.
        with self._lock:
            offers = dict(self._offers)
            for offer in more:
                name = offer.tool.name
                there = offers.get(name)
                if there is None:
                    offers[name] = offer
                elif not there.is_same(offer):
                    raise DuplicateToolError(name, there.owner, offer.owner)
                elif offer.skill is None:  # the application offers it to every skill
                    offers[name] = offer
            self._offers = MappingProxyType(offers)


def _registered(item: object) -> Iterator[_RegisteredTool]:
    if isinstance(item, Toolbox):
        yield from (_RegisteredTool(tool) for tool in item)
    elif isinstance(item, Mapping):
        for name, one in cast("Mapping[Any, object]", item).items():
            yield _RegisteredTool(_tool(one, str(name)))
    else:
        yield _RegisteredTool(_tool(item))


def _tool(item: object, name: str | None = None) -> Tool:
    if isinstance(item, Tool):
        return item if name is None else replace(item, name=name)
    if isinstance(item, _FUNCTIONS):
        return tool_from_function(cast("Callable[..., Any]", item), name=name)
    kind = type(item).__name__
    if isinstance(item, (type, Skill, BaseSkill, str)):
        what = f"the class {item.__name__}" if isinstance(item, type) else f"a {kind}"
        raise ToolError(name or kind, f"{what} is no tool")
    own = foreign_name(item)
    if name and own and own != name:
        detail = f"its framework knows it as {own!r}; offer it under that name"
        raise ToolError(name, detail)
    if not (name or own):
        detail = "it has no name; offer a function, a Tool, or {name: tool}"
        raise ToolError(kind, detail)
    return _foreign_tool(item, name or own)


def _tool_not_offered(
    descriptor: Descriptor, name: str, offer: _RegisteredTool | None
) -> Finding:
    why = "nobody offers it" if offer is None else f"it belongs to {offer.owner}"
    return Finding.of(
        "tool-not-offered",
        f"{descriptor.origin.location}/{SKILL_FILE}",
        id=descriptor.id,
        name=name,
        why=why,
        example=name if name.isidentifier() else "...",
    )


# --- A framework's own tool object, as a `Tool` ---------------------------------------

# Attributes that hold a JSON Schema, or a pydantic model of the arguments: of the
# OpenAI Agents SDK, Haystack and Agno, Claude's SDKs, MCP, LangChain and CrewAI.
_SCHEMAS: Final = (
    *("params_json_schema", "parameters", "input_schema", "inputSchema"),
    *("args_schema", "tool_call_schema"),
)


def foreign_name(tool: object) -> str:
    """Return the name of a framework's tool; empty if there is none."""
    # `tool_name` is of Strands, `metadata.name` of LlamaIndex.
    for owner, attribute in (
        (tool, "name"),
        (tool, "tool_name"),
        (_attribute(tool, "metadata"), "name"),
    ):
        name = _attribute(owner, attribute)
        if isinstance(name, str) and name.strip():
            return name
    return ""


def _foreign_tool(tool: object, name: str) -> Tool:
    """Return a tool that represents ``tool``, which its adapter passes on as it is."""

    def handler(**_: object) -> object:
        detail = "it belongs to its framework, which has to call it"
        raise ToolError(name, detail)

    return Tool(name, _description(tool), _parameters(tool), handler, native=tool)


def _description(tool: object) -> str:
    for owner in (tool, _attribute(tool, "metadata")):
        text = _attribute(owner, "description")
        if isinstance(text, str) and text:
            return text
    return ""


def _parameters(tool: object) -> dict[str, Json]:
    for attribute in _SCHEMAS:
        schema = _schema(_attribute(tool, attribute))
        if schema is not None:
            return schema
    return {"type": "object", "properties": {}}


def _schema(value: object) -> dict[str, Json] | None:
    write = _attribute(value, "model_json_schema")
    if isinstance(value, type) and callable(write):
        try:
            value = write()
        except Exception:  # noqa: BLE001 - a framework's own model may raise anything
            return None
    if not isinstance(value, Mapping):
        return None
    schema = cast("Mapping[str, Json]", value)
    return dict(schema) if isinstance(schema.get("properties"), Mapping) else None


def _attribute(owner: object, name: str) -> Any:  # noqa: ANN401 - anything may be there
    """Return an attribute, None if there is none; reading it may run code."""
    try:
        return getattr(owner, name, None)
    except Exception:  # noqa: BLE001 - a framework's own object may raise anything
        return None
