"""One trial: a query put to a model with our prompt and tools, and what it loads."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from satchel.errors import ToolError
from satchel.evals._case import EvalCase
from satchel.evals._model import ChatRequest
from satchel.evals._trial_answers import Answer
from satchel.model import Catalog, Descriptor, SeenMessage, Style
from satchel.runtime import LOAD_TOOLS, READ_TOOL, Satchel
from satchel.tools import Tool, arguments_of

# The first member of what is digested: another form of trials gets other answers.
_FORMAT: Final = "satchel trial 1"
PROMPT: Final = "You are a helpful assistant."

Act: TypeAlias = Literal["load", "unknown", "other", "text"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One request to the model. Equal ones have one ``key``, and so one answer."""

    case: EvalCase
    style: Style
    run: int
    key: str
    request: ChatRequest
    tools: Mapping[str, Tool]


class FirstCall(NamedTuple):
    """What a reply does first, and with what: a skill's id, or one of our tools."""

    act: Act
    name: str = ""


def plan_trials(  # noqa: PLR0913 - what an answer depends on
    satchel: Satchel,
    cases: Sequence[EvalCase],
    styles: Sequence[Style],
    runs: int,
    *,
    identity: str,
    prompt: str,
) -> Iterator[Trial]:
    """Yield every trial: by case, style and run, in this order."""
    for case in cases:
        for style in styles:
            # A session of its own, as a user would have who asks this first.
            session = satchel.session(style=style)
            session.see([SeenMessage("user", case.query)])
            toolbox = session.tools()
            request = ChatRequest(
                (
                    {"role": "system", "content": session.instructions(prompt)},
                    {"role": "user", "content": case.query},
                ),
                tuple(_function(tool) for tool in toolbox),
            )
            tools = {tool.name: tool for tool in toolbox}
            asked = [_FORMAT, identity, request.messages, request.tools]
            digest = sha256(json.dumps(asked, sort_keys=True).encode())
            for run in range(runs):
                key = digest.copy()
                key.update(f" {run}".encode())
                yield Trial(case, style, run, key.hexdigest(), request, tools)


def _function(tool: Tool) -> dict[str, Any]:
    about = {"name": tool.name, "description": tool.description}
    return {
        "type": "function",
        "function": {**about, "parameters": dict(tool.parameters)},
    }


def first_call(answer: Answer, trial: Trial, catalog: Catalog) -> FirstCall:
    """Return what the first tool call of an answer does; later calls do not count.

    Source: the reference runner, which takes a skill as triggered if the first tool
    that is called loads it, or reads one of its files.
    """
    if not answer.tool:
        return FirstCall("text")
    load_tool, parameter = LOAD_TOOLS[trial.style]
    tool = trial.tools.get(answer.tool)
    if tool is None or tool.name not in {load_tool, READ_TOOL}:
        return FirstCall("other", tool.name if tool else "")
    try:
        arguments = arguments_of(tool.name, answer.arguments)
    except ToolError:
        return FirstCall("unknown")
    names = [parameter, *(alias for alias, of in tool.aliases if of == parameter)]
    skill = next((arguments[name] for name in names if name in arguments), None)
    entry = catalog.get(skill)
    return FirstCall("load", entry.id) if entry else FirstCall("unknown")


def is_named(names: Sequence[str], entry: Descriptor) -> bool:
    """Return whether a skill is one of these, by its id or its name."""
    return entry.id in names or entry.name in names


def judge(
    case: EvalCase, call: FirstCall, catalog: Catalog
) -> Literal["right", "wrong", ""]:
    """Return whether a skill was loaded that should be, or one that should not."""
    entry = catalog.get(call.name) if call.act == "load" else None
    if entry is None:
        return ""
    if case.expected:
        return "right" if is_named(case.expected, entry) else "wrong"
    is_forbidden = not case.forbidden or is_named(case.forbidden, entry)
    return "wrong" if is_forbidden else ""
