"""What the messages of one model call show: which skills and files are in them."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Final, cast

from satchel.load import skill_of
from satchel.model import SKILL_FILE, Action, SeenMessage, Style

# By style: the tool that loads a skill, and its parameter for the id.
LOAD_TOOLS: Final[dict[Style, tuple[str, str]]] = {
    "lean": ("load_skill", "skill_id"),
    "agent-skills": ("load_skill", "skill_id"),
    "packs": ("load_skill", "name"),
    "references": ("load_skill_instructions", "skill_name"),
}

# The tool that reads one file, in the styles that have one.
READ_TOOL: Final = "read_skill_file"

_FILES: Final = frozenset({"reference", "script"})
_ID: Final = re.compile(r'\s*<skill_context id="([^"]*)">')
_CONTEXT: Final = re.compile(
    r'^<skill_context id="([^"\n]*)">\n.*?^</skill_context>$', re.DOTALL | re.MULTILINE
)
_LEAN: Final = re.compile(r"^Skill: (.*)(?:\n(?!Skill: ).*)*", re.MULTILINE)
# A text that is shorter than this costs no more than the note in its place.
SHORTEST_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class VisibleMessages:
    """What one model call sees.

    ``loaded`` are the ids whose instructions are among the ``results`` of tools, with
    that text, in the order in which they were loaded; ``invoked`` the ids that user
    messages begin with, as a user calls a skill. ``message`` is the last of the user.
    """

    results: tuple[str, ...] = ()
    loaded: tuple[tuple[str, str], ...] = ()
    invoked: frozenset[str] = frozenset()
    after_user: bool = False
    message: str = ""

    @property
    def ids(self) -> frozenset[str]:
        """The skills whose instructions can be read."""
        return self.invoked.union(id for id, _ in self.loaded)

    def shows(self, text: str) -> bool:
        """Return whether this very text is in a tool result, plain or as JSON."""
        text = text.strip()
        if len(text) < SHORTEST_CHARS:
            return False
        # A framework may hand a result on as JSON, with or without plain Unicode.
        forms = {text, _as_json(text, ascii=False), _as_json(text, ascii=True)}
        return any(form in result for result in self.results for form in forms)


def read_history(style: Style, messages: Iterable[SeenMessage]) -> VisibleMessages:
    results: list[str] = []
    loaded: dict[str, str] = {}
    invoked: set[str] = set()
    last = message_of_user = ""
    tool, parameter = LOAD_TOOLS[style]
    for message in messages:
        role = message.role
        if role != "system":
            last = role
        if role == "user":
            message_of_user = message.text or message_of_user
            invoked.update(_in_context(style, message.text))
        if role != "tool":
            continue
        results.append(message.text)
        # The result of any other tool may be made to look like a load.
        if message.tool not in (tool, READ_TOOL):
            continue
        for id in _loaded_by(style, parameter, message):
            loaded.pop(id, None)  # the latest load decides the order
            loaded[id] = message.text
    return VisibleMessages(
        *(tuple(results), tuple(loaded.items()), frozenset(invoked)),
        *(last == "user", message_of_user),
    )


def _loaded_by(style: Style, parameter: str, message: SeenMessage) -> Iterator[str]:
    """Yield the id of the skill whose instructions this result of its load gives."""
    if style == "lean":
        if (skill_id := skill_of(message.text)) is not None:
            yield skill_id
        return
    if message.tool == READ_TOOL:
        result = _parsed(message.text)
        id = result.get(parameter)
        if result.get("path") == SKILL_FILE and result.get("content"):
            yield from (id,) if isinstance(id, str) else ()
        return
    # A file of a skill is no instructions.
    if any(message.arguments.get(name) for name in _FILES):
        return
    if style == "agent-skills":
        yield from _in_context(style, message.text)
        return
    result = _parsed(message.text)
    text = result.get("body" if style == "packs" else "instructions")
    id = result.get("name") or message.arguments.get(parameter)
    if isinstance(id, str) and isinstance(text, str) and text:
        yield id


def _in_context(style: Style, text: str) -> Iterator[str]:
    """Yield the id in the envelope that a text begins with, if it has instructions."""
    # At its beginning: a text may quote an envelope anywhere.
    if style == "lean":
        if (skill_id := skill_of(text, in_element=True)) is not None:
            yield skill_id
        return
    match = _ID.match(text)
    if match is not None and "<instructions>" in text:
        yield unescape(match[1])


def loads_in_text(
    style: Style, text: str, in_use: Collection[str]
) -> Iterator[SeenMessage]:
    """Yield the loads in a text that has the results of several calls.

    For frameworks that show a model the results of a step as one text. Any call may
    bring what looks like a load; so only skills that are in use count.
    """
    tool, _ = LOAD_TOOLS[style]
    loads: Iterable[tuple[object, str]]
    if style == "lean":
        loads = ((match[1], match[0]) for match in _LEAN.finditer(text))
    elif style == "agent-skills":
        loads = ((unescape(match[1]), match[0]) for match in _CONTEXT.finditer(text))
    else:
        loads = ((_parsed(line).get("name"), line) for line in text.splitlines())
    yield from (SeenMessage("tool", load, tool) for id, load in loads if id in in_use)


def _parsed(text: str) -> dict[str, object]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value: object = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _as_json(text: str, *, ascii: bool) -> str:  # noqa: A002 - as json names it
    return json.dumps(text, ensure_ascii=ascii)[1:-1]


def requested_access(
    style: Style, name: str, arguments: Mapping[str, object]
) -> tuple[tuple[Action, ...], str] | None:
    """Return what a tool call does with which skill; None where it is about none.

    To read SKILL.md as a file is to load the skill.
    """
    tool, parameter = LOAD_TOOLS[style]
    skill_id = arguments.get(parameter)
    if style == "lean" and parameter not in arguments:
        skill_id = arguments.get("name")  # the tools understand it as well
    if name not in (tool, READ_TOOL) or not isinstance(skill_id, str):
        return None
    names = ("path",) if name == READ_TOOL else _FILES
    files = [file for key in names if (file := arguments.get(key))]
    actions: list[Action] = ["read"] if files else []
    if SKILL_FILE in files or not files:
        actions.append("load")
    return tuple(actions), skill_id
