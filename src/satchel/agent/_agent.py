"""A small agent with skills: one loop that can be read in a minute."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

from satchel.agent._skill import SkillLike, check_skill, compose
from satchel.tools import Run, Tool, Toolbox, Turn, result_text

# Calls of the model in one run.
MAX_STEPS: Final = 10

Role: TypeAlias = Literal["user", "assistant", "tool"]

StopReason: TypeAlias = Literal["answered", "max-steps", "model-error"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a model asks for; ``id`` ties the result to it."""

    id: str
    name: str
    arguments: Mapping[str, object] = field(
        default_factory=dict[str, object], hash=False
    )


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; the system prompt is none.

    ``calls`` belong to the role assistant. ``call_id`` and ``tool`` belong to the role
    tool, and say whose result the text is.
    """

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    tool: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return what `from_dict` takes, fit for JSON where the arguments are."""
        values: dict[str, Any] = {"role": self.role, "text": self.text}
        if self.calls:
            values["calls"] = [
                {"id": call.id, "name": call.name, "arguments": _plain(call.arguments)}
                for call in self.calls
            ]
        if self.role == "tool":
            values |= {"call_id": self.call_id, "tool": self.tool}
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Message":
        """Return the message that `to_dict` was called on.

        Raises:
            KeyError: A member is missing.
        """
        calls = tuple(
            Call(call["id"], call["name"], call["arguments"])
            for call in values.get("calls", ())
        )
        role = cast("Role", values["role"])
        call_id, tool = values.get("call_id", ""), values.get("tool", "")
        return cls(role, values["text"], calls, call_id, tool)


def _plain(arguments: object) -> object:
    """Return arguments for JSON; a model may have given no object at all."""
    if not isinstance(arguments, Mapping):
        return arguments
    return dict(cast("Mapping[str, object]", arguments))


class Model(Protocol):
    """A language model, or whatever plays one."""

    async def complete(
        self, system: str, messages: Sequence[Message], tools: Toolbox
    ) -> Message:
        """Return the next message, of the role assistant.

        One without calls ends the run. Whatever is raised ends it, too, and is kept in
        its `Result`.
        """
        ...


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What came of a run; a partial one unless ``stopped`` is ``answered``.

    ``text`` is the model's last, ``messages`` the whole transcript, beginning with the
    history. Every call in it has its result, so that it can be the next run's history.
    """

    text: str
    messages: tuple[Message, ...] = field(repr=False)
    stopped: StopReason
    steps: int
    error: Exception | None = None


class Agent:
    """A model, a system prompt, tools, and skills.

    One agent can serve many runs at once: a run keeps what it knows to itself.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        model: Model,
        system: str = "",
        *,
        name: str = "agent",
        skills: Iterable[SkillLike] = (),
        tools: Iterable[Tool | Callable[..., Any]] = (),
        toolboxes: Iterable[Toolbox] = (),
        max_steps: int = MAX_STEPS,
        on_step: Callable[[tuple[Message, ...]], object] | None = None,
    ) -> None:
        """Make an agent.

        Args:
            model: What it asks.
            system: Its own prompt; instructions of skills follow it.
            name: Whose the loose tools are; tools that take a `Run` see it, too.
            skills: Its skills, in order.
            tools: Its own tools, which are first.
            toolboxes: More of its own tools, which are next.
            max_steps: Calls of the model in one run.
            on_step: Called after each step with what it added: the model's message and
                the results. What it raises is dropped.

        Raises:
            DuplicateToolError: Two of the loose tools share a name.
            TypeError: One of the skills lacks one of the three members; names it.
        """
        self.name = name
        self.skills: tuple[SkillLike, ...] = ()
        for skill in skills:
            self.add_skill(skill)
        self.max_steps = max_steps
        self._model = model
        self._system = system
        self._toolboxes = (Toolbox.of(name, tools), *toolboxes)
        self._on_step = on_step

    def add_skill(self, skill: SkillLike) -> None:
        """Add one more skill, after the others, from the next run on.

        Raises:
            TypeError: It lacks one of the three members; names it.
        """
        check_skill(skill)
        self.skills = (*self.skills, skill)

    def run(
        self, text: str, *, history: Iterable[Message] = (), context: Run | None = None
    ) -> AgentResult:
        """Do as `arun` does, where no event loop is running."""
        import asyncio

        return asyncio.run(self.arun(text, history=history, context=context))

    async def arun(
        self, text: str, *, history: Iterable[Message] = (), context: Run | None = None
    ) -> AgentResult:
        """Ask the model, make its calls one by one, and ask again.

        An unknown tool, wrong arguments and a handler that raises are results, which
        the model sees. The calls of the last step are made, too. One run is one
        turn: what tools keep for a turn ends with it.

        Args:
            text: What the user says.
            history: The messages of earlier runs.
            context: What tools with a `Run` parameter are given.

        Raises:
            DuplicateToolError: Two tools share a name; names both owners.
        """
        # One that is added meanwhile counts from the next run on.
        skills = self.skills
        messages = [*history, Message("user", text)]
        # A run is a turn of its own, also where one context is handed in twice.
        context = replace(context or Run(agent=self.name), turn=Turn())
        text_so_far = ""
        for step in range(1, self.max_steps + 1):
            # For each step again: a skill may change what it gives while a run goes on.
            given = compose(self._system, skills, toolboxes=self._toolboxes)
            try:
                reply = await self._model.complete(
                    given.instructions, tuple(messages), given.toolbox
                )
            except Exception as error:  # noqa: BLE001 - a plug-in's
                return AgentResult(
                    text_so_far, tuple(messages), "model-error", step, error
                )
            text_so_far = reply.text
            added = [reply]
            # In the last step too, so that every call of the transcript has its result.
            for call in reply.calls:
                result = await given.toolbox.acall(call.name, call.arguments, context)
                answer = result_text(result)
                added.append(Message("tool", answer, (), call.id, call.name))
            messages += added
            if self._on_step is not None:
                with suppress(Exception):  # a plug-in's, and it only looks
                    self._on_step(tuple(added))
            if not reply.calls:
                return AgentResult(text_so_far, tuple(messages), "answered", step)
        return AgentResult(text_so_far, tuple(messages), "max-steps", self.max_steps)
