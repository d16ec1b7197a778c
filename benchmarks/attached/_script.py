"""What the fake models say, and what all agents have."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

BASE: Final = "You are the desk. Answer in one sentence."
DONE: Final = "That is done."

Call: TypeAlias = tuple[str, dict[str, Any]]
"""A tool's name and its arguments."""
Say: TypeAlias = Callable[[str], Awaitable[object]]
"""One run of the agent: the user says something in a conversation."""
Open: TypeAlias = Callable[[], Say]
"""Begins a conversation with an agent."""


@dataclass(slots=True)
class Script:
    """Stands in for a model, at once: `answer` is what it says next.

    ``system``, ``tools`` and ``messages`` are what it was given last, in the
    framework's form.
    """

    calls: int = 0
    system: Any = None
    tools: Any = None
    messages: Any = None
    steps: deque[Call] = field(default_factory=deque[Call])

    def answer(self, system: object, tools: object, messages: object) -> Call | None:
        """Return a tool call, or None for the final text."""
        self.calls += 1
        self.system = system
        self.tools = tools
        self.messages = messages
        return self.steps.popleft() if self.steps else None


@dataclass(frozen=True, slots=True)
class Setup:
    """An agent.

    ``make`` is given the folder of packs and the script; ``load`` returns the call by
    which a model loads a skill of that folder. ``over`` is the set-up without skills
    that this one is measured over, empty for those that are without.
    """

    name: str
    make: Callable[[str, Script], Awaitable[Open]]
    load: Callable[[str, str], Call]
    over: str = "bare"
    lists: bool = True


def own_tools(folder: str) -> list[Callable[..., str]]:
    """Return the tools that every agent has, one of which reads a SKILL.md."""

    def note(text: str) -> str:
        """Note something.

        Args:
            text: What to note.
        """
        return f"noted: {len(text)} characters"

    def read(name: str) -> str:
        """Read a text.

        Args:
            name: The name of the text.
        """
        return Path(folder, name, "SKILL.md").read_text("utf-8")

    return [note, read]


def read_by_tool(_folder: str, name: str) -> Call:
    """Return how an agent without skills comes by the text of one."""
    return "read", {"name": name}


def load_by_satchel(_folder: str, name: str) -> Call:
    """Return the call of Satchel's load tool."""
    return "load_skill", {"skill_id": name}


def load_by(tool: str, parameter: str) -> Callable[[str, str], Call]:
    """Return the call of a tool that is given the skill's name."""

    def load(_folder: str, name: str) -> Call:
        return tool, {parameter: name}

    return load


def open_satchel(folder: str) -> Any:  # noqa: ANN401 - not importable everywhere
    """Return the packs, all listed in full as the frameworks list them."""
    from satchel import Satchel

    return Satchel(folder, budget_tokens=None)


def text_of(tool: Mapping[str, Any]) -> str:
    """Return a tool's name, description and schema as JSON."""
    import json

    return json.dumps(tool, ensure_ascii=False)
