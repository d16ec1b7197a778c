"""What the messages of one model call show: which skills and files are in them."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Final, cast

from satchel.load import READ_TOOL, render_context, skill_of
from satchel.model import LOAD_TOOLS, SKILL_FILE, Action, Loaded, SeenMessage, Style
from satchel.skill_md import plain_path

_FILES: Final = frozenset({"reference", "script"})
_ID: Final = re.compile(r'\s*<skill_context id="([^"]*)">')
_CONTEXT: Final = re.compile(
    r'^<skill_context id="([^"\n]*)">\n.*?^</skill_context>$', re.DOTALL | re.MULTILINE
)
_LEAN: Final = re.compile(
    r"^Skill: (.*)(?:\n(?!Skill: |</skill_context>$).*)*", re.MULTILINE
)
_LEAN_HEADS: Final = ("Skill: ", "File: ")


@dataclass(frozen=True, slots=True)
class VisibleMessages:
    """What one model call sees.

    ``results`` are those of the style's own tools; ``loaded`` the ids whose
    instructions are among them, with that result, in the order in which they were
    loaded;
    ``invoked`` the ids that user messages begin with, as a user calls a skill. ``last``
    is the role of the last message but for the system's, ``message`` the user's last,
    and ``end`` differs where messages end otherwise.
    """

    results: tuple[SeenMessage, ...] = ()
    loaded: tuple[tuple[str, SeenMessage], ...] = ()
    invoked: frozenset[str] = frozenset()
    last: str = ""
    message: str = ""
    end: str = ""

    @property
    def ids(self) -> frozenset[str]:
        """The skills whose instructions can be read."""
        return self.invoked.union(id for id, _ in self.loaded)

    def shows(self, style: Style, loaded: Loaded) -> bool:
        """Return whether a result of the style's own tools is this file, unaltered."""
        return any(_is_given(style, result, loaded) for result in self.results)

    def shows_other(self, style: Style, loaded: Loaded) -> bool:
        """Return whether the newest load of this skill gave another text."""
        message = dict(self.loaded).get(loaded.id)
        # Without arguments nobody knows whether it is a load at all.
        if message is None or not message.arguments:
            return False
        return not _is_given(style, message, loaded)


def read_history(style: Style, messages: Iterable[SeenMessage]) -> VisibleMessages:
    results: list[SeenMessage] = []
    loaded: dict[str, SeenMessage] = {}
    invoked: set[str] = set()
    last = message_of_user = end = ""
    tool, parameter = LOAD_TOOLS[style]
    for at, message in enumerate(messages):
        end = f"{at} {message.text}"
        role = message.role
        if role != "system":
            last = role
        if role == "user":
            message_of_user = message.text or message_of_user
            invoked.update(_in_context(style, message.text))
        if role != "tool":
            continue
        # The result of any other tool may be made to look like a load.
        if message.tool not in (tool, READ_TOOL):
            continue
        results.append(message)
        for id in _loaded_by(style, parameter, message):
            loaded.pop(id, None)  # the latest load decides the order
            loaded[id] = message
    return VisibleMessages(
        *(tuple(results), tuple(loaded.items()), frozenset(invoked)),
        *(last, message_of_user, end),
    )


def _is_given(style: Style, result: SeenMessage, loaded: Loaded) -> bool:
    """Return whether a result gives a file as it is now.

    A text that only quotes it is another one: it may say anything of what it quotes.
    """
    access = requested_access(style, result.tool, result.arguments)
    if access is None or access[1] != loaded.id:
        return False  # of another skill, or nobody knows of which
    texts = {text.strip() for text in (loaded.text, loaded.body)} - {""}
    text = result.text
    value = _json(text)
    if isinstance(value, str):  # a framework may hand a text on as JSON
        text, value = value, _json(value)
    text = text.strip()
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value).values()
        return any(isinstance(one, str) and one.strip() in texts for one in fields)
    if style == "lean":
        head, _, text = text.partition("\n\n")
        return text in texts and head.startswith(_LEAN_HEADS)
    if style == "agent-skills":  # with other notes, behind the instructions
        begin = render_context(loaded).rpartition("\n  <execution_directive>")[0]
        return text.startswith(begin) and text.endswith("</skill_context>")
    return text in texts  # in the style `references` a file is its mere text


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
    value = _json(text)
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _json(text: str) -> object:
    """Return the object or the text that a text is as JSON; None if it is not."""
    if not text.lstrip().startswith(("{", '"')):
        return None
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return None


def requested_access(
    style: Style, name: str, arguments: Mapping[str, object]
) -> tuple[tuple[Action, ...], str] | None:
    """Return what a tool call does with which skill; None where it is about none.

    To read SKILL.md as a file is to load the skill, however it is written.
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
    if not files or any(map(_may_be_instructions, files)):
        actions.append("load")
    return tuple(actions), skill_id


def _may_be_instructions(file: object) -> bool:
    path = plain_path(file) if isinstance(file, str) else ""
    return path.rpartition("/")[2].casefold() == SKILL_FILE.casefold()
