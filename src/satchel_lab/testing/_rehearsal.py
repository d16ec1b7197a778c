"""Play an agent offline: a model that follows a script, with real skills and tools.

    played = rehearse(skills, call("load_skill", skill_id="refunds"), call("refund"))
    assert played.results[1] == "refunded"

Nothing is sent anywhere. What the agent does is what `satchel.agent` does, so that a
test shows what a model would read, be offered and be answered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, Unpack

from satchel.agent import Agent, Call, Message, StopReason
from satchel.model import SeenMessage
from satchel.runtime import Satchel, SessionOptions, SessionSkill
from satchel.text import EstimateCounter

if TYPE_CHECKING:
    from satchel.runtime import Session, SkillInputs
    from satchel.tools import Toolbox


_FIRST: Final = "Begin."
_LAST: Final = "Done."


@dataclass(frozen=True, slots=True)
class UserLine:
    """Something that the user says, which begins a new turn."""

    text: str


# One line of a script: what the model says, calls (a list: side by side), or what the
# user says next.
ScriptLine: TypeAlias = str | Call | Sequence[Call] | UserLine


@dataclass(frozen=True, slots=True)
class RehearsalTokens:
    """What a rehearsal would have cost, by the estimate that measures sections.

    ``prompts`` are the system prompts of all model calls, ``results`` the results of
    tools, each counted once.
    """

    prompts: int
    results: int


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What the agent read and what it did.

    ``results`` are the texts of the calls of the script, in order. ``prompts`` and
    ``tools`` are those of each model call: the system prompt, and the names of the
    tools in their order. ``loaded`` are the skills in use at the end.
    """

    text: str
    results: tuple[str, ...]
    prompts: tuple[str, ...] = field(repr=False)
    tools: tuple[tuple[str, ...], ...]
    loaded: tuple[str, ...]
    messages: tuple[Message, ...] = field(repr=False)
    stopped: StopReason
    tokens: RehearsalTokens
    session: "Session" = field(repr=False)


def call(name: str, /, **arguments: object) -> Call:
    """Return a call of a tool, for a script."""
    return Call("", name, arguments)


def user(text: str) -> UserLine:
    """Return what the user says next, for a script."""
    return UserLine(text)


def rehearse(
    skills: "Satchel | SkillInputs",
    *script: ScriptLine,
    prompt: str = "",
    who: Mapping[str, object] | None = None,
    deps: object = None,
    **options: Unpack[SessionOptions],
) -> Rehearsal:
    """Play an agent whose model follows a script.

    Args:
        skills: A `satchel.Satchel`, or what one is made of: a folder, skills.
        script: What the model says and calls, line by line. A text ends the turn; so
            does the end of the script.
        prompt: The agent's own system prompt.
        who: For whom it runs.
        deps: Handed to tools that take a `satchel.Run`.
        options: As for `satchel.Satchel.session`: agent, always, only, style, approve
            (what a person answers), stage, reinject_tokens.

    Raises:
        SkillError: No session can be opened: a conflict, a skill that is not there.
    """
    opened = skills if isinstance(skills, Satchel) else Satchel(skills)
    session = opened.session(who=who, deps=deps, **options)
    run = _RehearsalRun(session, prompt)
    for turn in _turns(script):
        run.play(*turn)
    return run.result()


class _RehearsalRun:
    """The agent of a rehearsal, and the model that follows the script."""

    def __init__(self, session: "Session", prompt: str) -> None:
        self._session = session
        self._prompt = prompt
        self._messages: list[Message] = []
        self._prompts: list[str] = []
        self._tools: list[tuple[str, ...]] = []
        self._script: list[Message] = []
        self._last: tuple[str, StopReason] = "", "answered"

    def play(self, text: str, lines: Sequence[Message]) -> None:
        self._script = [*lines]
        history = tuple(self._messages)
        self._messages.append(Message("user", text))
        self._see()
        agent = Agent(
            self,
            self._prompt,
            skills=[SessionSkill("skills", self._session)],
            max_steps=len(lines),
            on_step=self._on_step,
        )
        with self._session.turn():
            result = agent.run(text, history=history)
        if result.error is not None:
            raise result.error
        self._last = result.text, result.stopped

    async def complete(
        self, system: str, messages: Sequence[Message], tools: "Toolbox"
    ) -> Message:
        del messages
        self._prompts.append(system)
        self._tools.append(tuple(tool.name for tool in tools))
        return self._script.pop(0)

    def result(self) -> Rehearsal:
        results = tuple(m.text for m in self._messages if m.role == "tool")
        count = EstimateCounter().count
        return Rehearsal(
            self._last[0],
            results,
            tuple(self._prompts),
            tuple(self._tools),
            tuple(use.id for use in self._session.activations),
            tuple(self._messages),
            self._last[1],
            RehearsalTokens(sum(map(count, self._prompts)), sum(map(count, results))),
            self._session,
        )

    def _on_step(self, added: tuple[Message, ...]) -> None:
        self._messages += added
        self._see()

    def _see(self) -> None:
        calls = {call.id: call for m in self._messages for call in m.calls}
        nothing = Call("", "")
        self._session.see(
            SeenMessage(m.role, m.text, m.tool, calls.get(m.call_id, nothing).arguments)
            for m in self._messages
        )


def _turns(script: Iterable[ScriptLine]) -> list[tuple[str, list[Message]]]:
    turns: list[tuple[str, list[Message]]] = []
    number = 0
    for line in script:
        if isinstance(line, UserLine) or not turns:
            text = line.text if isinstance(line, UserLine) else _FIRST
            turns.append((text, []))
        if isinstance(line, str):
            turns[-1][1].append(Message("assistant", line))
        elif not isinstance(line, UserLine):
            calls = [line] if isinstance(line, Call) else line
            numbered = tuple(
                Call(f"call-{number + at}", made.name, made.arguments)
                for at, made in enumerate(calls)
            )
            number += len(numbered)
            turns[-1][1].append(Message("assistant", "", numbered))
    for _, lines in turns or [(_FIRST, [])]:
        # The agent's loop goes on until the model answers without a call.
        if not lines or lines[-1].calls:
            lines.append(Message("assistant", _LAST))
    return turns or [(_FIRST, [Message("assistant", _LAST)])]
