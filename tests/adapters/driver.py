"""What the shared suite asks of a framework's driver.

A driver builds a real agent of its framework around a fake model, and tells what that
model saw. The fake model is one function, `Model`: it is given what one call of the
model saw and returns what the model says. It is pure, so that one agent object can
serve many conversations at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from satchel import Satchel
from satchel.model import Reply

Mode: TypeAlias = Literal["sync", "async", "stream"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the fake model makes; its ``id`` is the driver's if empty."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    id: str = field(default="", compare=False)


Say: TypeAlias = str | Sequence[Call]
"""One step of the model: a final text, or tool calls made side by side."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message that the model saw, as text; calls are ``name(arguments)``."""

    role: Literal["user", "assistant", "tool", "other"]
    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one call of the model saw.

    ``system`` is every instruction, joined; ``tools`` the names in the order in which
    they were offered; ``schemas`` their JSON Schemas by name; ``messages`` the rest,
    in order.
    """

    system: str
    tools: tuple[str, ...]
    schemas: Mapping[str, Any]
    messages: tuple[Message, ...]

    @property
    def results(self) -> list[str]:
        """The texts of the tool results, in order."""
        return [m.text for m in self.messages if m.role == "tool"]

    @property
    def last_user(self) -> str:
        """The text of the last message of the user."""
        return next(m.text for m in reversed(self.messages) if m.role == "user")

    @property
    def since_user(self) -> int:
        """How many steps the model has made since the user last spoke."""
        count = 0
        for message in reversed(self.messages):
            if message.role == "user":
                break
            count += message.role == "assistant"
        return count


Model: TypeAlias = Callable[[Seen], Say]


@dataclass(frozen=True, slots=True)
class Paused:
    """A run that waits for approval; ``state`` can be sent to another process.

    ``question`` is the text that a person is shown; empty where there is none.
    """

    tool: str
    arguments: Mapping[str, object]
    state: Any
    question: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the suite asks a driver to build."""

    skills: Satchel
    model: Model
    base: str = "You are the desk."
    own_tools: tuple[Callable[..., object], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Passed on to ``attach``: always, only, approve, style ... But ``work`` is a
    function of for whom a run is."""

    def options_of(self, who_of: Callable[[Any], Mapping[str, Any]]) -> dict[str, Any]:
        """Return the options, with a ``work`` that takes the framework's run."""
        options = dict(self.options)
        if (work := options.get("work")) is not None:
            options["work"] = lambda run: work(who_of(run))
        return options


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered: words go with a no, other arguments with a yes."""

    approve: bool
    words: str = ""
    arguments: Mapping[str, object] | None = None

    def reply(self) -> Reply:
        """Return it as Satchel's own loops take it."""
        return Reply("yes_once" if self.approve else "no", self.words, self.arguments)


class Rig(Protocol):
    """One agent object of the framework, with skills attached by the adapter.

    A conversation is named by ``chat``; its history is kept by whatever means the
    framework's users use. ``who`` reaches the adapter the framework's own way (context,
    deps, state ...), through the ``who`` that the driver gives to ``attach``.
    """

    @property
    def seen(self) -> list[Seen]:
        """What each call of the model saw, in order, over all conversations."""
        ...

    async def say(
        self,
        text: str,
        *,
        chat: str = "one",
        who: Mapping[str, Any] | None = None,
        mode: Mode = "async",
    ) -> str | Paused:
        """Say something as the user; return the final text, or a paused run."""
        ...

    async def decide(
        self,
        paused: Paused,
        *,
        approve: bool,
        words: str = "",
        arguments: Mapping[str, object] | None = None,
    ) -> str | Paused:
        """Answer a paused run and go on with it.

        ``words`` go with a no, ``arguments`` in the place of the model's with a yes.
        """
        ...

    def save(self, chat: str = "one") -> str:
        """Return a conversation as text: history and state, as users would store it."""
        ...

    def restore(self, saved: str, chat: str = "one") -> None:
        """Take a stored conversation up; the rig may be another one."""
        ...

    def trim(self, chat: str = "one") -> None:
        """Drop all messages of a conversation's history, as compaction would."""
        ...

    def keep_instead(self, state: object, chat: str = "one") -> None:
        """Put something in the place of what the adapter keeps; None takes it away.

        The messages stay. Nothing happens where the adapter keeps nothing else.
        """
        ...


class BaseRig(ABC):
    """What rigs share: a pause asks about one call after the other, then goes on."""

    def __init__(self, seen: list[Seen]) -> None:
        self.seen = seen

    async def say(
        self,
        text: str,
        *,
        chat: str = "one",
        who: Mapping[str, Any] | None = None,
        mode: Mode = "async",
    ) -> str | Paused:
        return await self.run(text, chat, dict(who or {}), mode)

    async def decide(
        self,
        paused: Paused,
        *,
        approve: bool,
        words: str = "",
        arguments: Mapping[str, object] | None = None,
    ) -> str | Paused:
        state = paused.state
        answer = [approve, words, arguments]
        answers = {**state["answers"], state["waiting"][0][0]: answer}
        if waiting := state["waiting"][1:]:
            return self.paused(state["of"], waiting, answers)
        given = {key: Answer(*each) for key, each in answers.items()}
        return await self.resume(state["of"], given)

    def paused(
        self, of: Any, waiting: Any, answers: Mapping[str, Any] | None = None
    ) -> Paused:
        """Return a pause; ``waiting`` are ids, tools, arguments and questions."""
        state = {"of": of, "waiting": waiting, "answers": answers or {}}
        _, tool, arguments, question = waiting[0]
        return Paused(tool, arguments, state, question)

    @abstractmethod
    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | Paused:
        """Say something as the user."""

    async def resume(self, of: Any, answers: dict[str, Answer]) -> str | Paused:
        """Go on with a paused run, all of whose calls are answered."""
        raise NotImplementedError

    @abstractmethod
    def save(self, chat: str = "one") -> str: ...
    @abstractmethod
    def restore(self, saved: str, chat: str = "one") -> None: ...
    @abstractmethod
    def trim(self, chat: str = "one") -> None: ...
    @abstractmethod
    def keep_instead(self, state: object, chat: str = "one") -> None: ...


class Driver(Protocol):
    """Builds agents of one framework; ``DRIVER`` of ``tests/adapters/<name>.py``."""

    name: str
    """The adapter's module name."""
    distribution: str
    """What to install; its version is told in the table."""
    limits: Mapping[str, str]
    """Test name to reason: what the framework itself cannot do. Such a test must fail,
    and the reason is in the table. ``lacks``, where a driver has it, is the same by
    capability."""

    def build(self, setup: Setup) -> Rig:
        """Return a real agent with a fake model."""
        ...

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        """Return a rig whose first agent hands over to the second, the framework's way.

        The first agent's model calls whatever tool the framework offers for that; the
        name of it is the only tool in ``seen`` that starts with ``transfer`` or
        ``handoff`` or ``delegate``.
        """
        ...

    async def attach_twice(self, setup: Setup, /) -> None:
        """Attach skills to one agent twice; if that is not refused yet, run it."""
        ...

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        """Return the framework's own tool object around a function."""
        ...
