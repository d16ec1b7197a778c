"""What every adapter does with a session, written once.

An adapter translates between its framework and these steps, and decides nothing itself.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Generic, ParamSpec, TypeAlias, TypeVar, Unpack, cast

from satchel.adapters._arguments import check_arguments, reusable
from satchel.errors import ExtraMissingError, ToolError, error_payload
from satchel.load import READ_TOOL, TurnCache
from satchel.model import LOAD_TOOLS, Question, ScriptOutput, SeenMessage
from satchel.runtime import CallApproval, Permit, Satchel, Session, SessionOptions
from satchel.tools import ErrorText, Tool, Toolbox, result_text

# What a model gave: an object, or its JSON text.
Arguments: TypeAlias = Mapping[str, object] | str

# What a framework knows of a run and hands to functions of the application.
Context = TypeVar("Context")

# For whom a run is: a mapping, or a function of the run's context.
Who: TypeAlias = Mapping[str, Any] | Callable[[Context], Mapping[str, Any]] | None

# Which object tools get as ``Run.deps``: a function of the run's context.
Deps: TypeAlias = Callable[[Context], object] | None


# The tools whose results are skills' texts.
LOADS: Final = frozenset({READ_TOOL, *(name for name, _ in LOAD_TOOLS.values())})

Result = TypeVar("Result")
P = ParamSpec("P")


@contextmanager
def framework(title: str, extra: str) -> Iterator[None]:
    """Turn a failing import of a framework into the error that names its extra.

    For adapters, around the imports of their framework, below all others.

    Args:
        title: What the framework is called.
        extra: The extra of Satchel that installs it.

    Raises:
        ExtraMissingError: An import failed; its cause says which.
    """
    try:
        yield
    except ImportError as error:
        raise ExtraMissingError(title, extra) from error


@dataclass(eq=False, slots=True)
class Turn:
    """One run of an agent: what it has read, and what its last model call was offered.

    Where each step of a run opens a session of its own, they share one of these.
    """

    cache: TurnCache = field(default_factory=TurnCache)
    offered: Toolbox | None = None


class SessionFactory(Generic[Context]):
    """The checked arguments of `attach`; opens a session for each conversation.

    Attributes:
        skills: Whose skills.
        who: For whom a run is: a mapping, or a function of the run's context.
        deps: A function of the run's context that returns what tools get as
            ``Run.deps``.
        options: Of every session.
        may_ask: Whether a call may have to wait for the framework's own approval: some
            rule of the policy asks, and there is no ``approve`` to answer it.
        trust_state: Whether only the application can write the saved state.
        requires: Whether tools need skills that a model must have read.
    """

    def __init__(  # noqa: PLR0913 - what adapters differ in, by name
        self,
        skills: Satchel,
        who: Who[Context],
        deps: Deps[Context],
        options: SessionOptions,
        *,
        trust_state: bool = True,
        holds_own_tools: bool = False,
    ) -> None:
        """Check the arguments of `attach`.

        ``holds_own_tools`` says that the agent's own tools wait for a skill that the
        policy requires; where they do not, and one should, a warning is logged.

        Raises:
            TypeError: ``skills`` is not a `Satchel`; an argument is unknown or has the
                wrong type.
            ConfigError: No style has that name.
            SkillNotFoundError: ``only`` or ``always`` names an unknown skill.
        """
        # Each step of a run may open a session: an iterator would be empty by then.
        options = reusable(options)
        check_arguments(skills, who, deps, options)
        self.skills = skills
        self.who = who
        self.deps = deps
        self.options = options
        has_question = any(rule.verdict == "ask" for rule in skills.policy.rules)
        self.may_ask = has_question and options.get("approve") is None
        self.trust_state = trust_state
        self.requires = bool(skills.policy.requirements)
        if self.requires and not holds_own_tools:
            _warn_of_own_tools(skills)

    def who_of(self, context: Context) -> Mapping[str, Any]:
        """Return for whom a run is."""
        return (self.who(context) if callable(self.who) else self.who) or {}

    def check_names(self, own: Iterable[str]) -> None:
        """Check the names of the agent's own tools, where they are known at `attach`.

        Raises:
            DuplicateToolError: One of them is the name of a tool that sessions offer.
        """
        options: SessionOptions = {**self.options, "work": None}
        self.skills.session(**options).tools(own)

    def open(
        self,
        context: Context,
        saved: object = None,
        *,
        deps: object = None,
        agent: str = "",
        turn: Turn | None = None,
    ) -> "Conversation":
        """Open the session of a conversation, or resume it from what was saved.

        Args:
            context: The framework's context of the run.
            saved: What `Conversation.save` returned; None starts a new conversation.
            deps: What tools get as ``Run.deps`` where `attach` was given no function.
            agent: The framework's name of the agent, where the options give none.
            turn: The turn of the run, where an earlier step has begun it.

        Raises:
            SkillError: As for `satchel.Satchel.session`.
        """
        # What the application says in its options comes last, so that it wins.
        options: SessionOptions = {"trust_state": self.trust_state, **self.options}
        if agent:
            options = {"agent": agent, **options}
        if callable(work := options.get("work")):
            options = {**options, "work": work(context)}
        who = self.who_of(context)
        if self.deps is not None:
            deps = self.deps(context)
        resume = cast("Mapping[str, object] | None", saved)
        session = self.skills.session(who=who, deps=deps, resume=resume, **options)
        return Conversation(session, may_ask=self.may_ask, turn=turn)

    async def call_off_loop(
        self, function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs
    ) -> Result:
        """Call what opens a session: in a thread where always-on skills are read."""
        if self.options.get("always"):
            return await asyncio.to_thread(function, *args, **kwargs)
        return function(*args, **kwargs)


def _warn_of_own_tools(skills: Satchel) -> None:
    """Log the requirements for tools that no skill brings: nobody holds these back."""
    brought = {tool for entry in skills.catalog for tool in entry.tools}
    for rule in skills.policy.requirements:
        if not any(map(rule.is_of, brought)):
            logging.getLogger("satchel").warning(
                "%s: no skill brings such a tool, and this adapter does not hold back "
                "an agent's own; wrap its function with Session.requiring",
                rule,
            )


class Conversation:
    """A session in the hands of an adapter, within one turn. Safe across threads.

    ``turn`` is replaced by `begin_turn` where one object serves several runs.
    """

    __slots__ = ("_given", "may_ask", "session", "turn")

    def __init__(
        self, session: Session, *, may_ask: bool, turn: Turn | None = None
    ) -> None:
        self.session = session
        self.may_ask = may_ask
        self.turn = turn or Turn()
        self._given: list[SeenMessage] = []
        session.join(self.turn.cache)

    def begin_turn(self) -> None:
        """Read each file again from now on, and at most once until the next turn."""
        self.session.leave(self.turn.cache)
        self.turn = Turn()
        self.session.join(self.turn.cache)

    def see(self, history: Iterable[SeenMessage], *, is_final: bool = True) -> None:
        """Take in the messages of the next model call; see `satchel.Session.see`."""
        self.session.see(history, is_final=is_final)

    def tools(self, own: Iterable[str] = ()) -> Toolbox:
        """Return the tools that the next model call is offered.

        Raises:
            DuplicateToolError: One has the name of an ``own`` tool of the agent.
        """
        self.turn.offered = self.session.tools(own)
        return self.turn.offered

    def tool(self, name: str) -> Tool | None:
        """Return the tool that a call of this name means; None where there is none."""
        return None if self._is_early(name) else self.session.open_tools.get(name)

    def is_skill_tool(self, name: str) -> bool:
        """Tell whether a name is a skill's id, or a tool of a skill, loaded or not."""
        catalog = self.session.catalog
        return name in catalog or any(name in entry.tools for entry in catalog.entries)

    def question(
        self, name: str, arguments: Arguments, call_id: str = ""
    ) -> Question | None:
        """Return what a person has to approve before a call; None for nothing.

        `satchel.runtime.question_text` writes it for a person. Give the ``call_id``
        where a run may be stored while it waits, and save the state before it is: then
        the answer counts, whatever the policy asks about by then.
        """
        if self._is_early(name) or not (self.may_ask or call_id):
            return None
        return self.session.question(name, arguments, call_id)

    @property
    def asked(self) -> Collection[str]:
        """The ids of calls of this step that have waited; their tools may be gone."""
        return cast("list[str]", self.save()["asked"])

    def call(
        self, name: str, arguments: Arguments, **approval: Unpack[CallApproval]
    ) -> object:
        """Make a call. Never raises: an error is a result.

        Args:
            name: The tool that the model calls; it need not exist.
            arguments: What the model gave.
            approval: ``approved`` is what a person answered to this call. It counts
                once where there is a ``call_id``, which no other call of any
                conversation has.
        """
        return self._early(name) or self.session.call(name, arguments, **approval)

    async def acall(
        self, name: str, arguments: Arguments, **approval: Unpack[CallApproval]
    ) -> object:
        """Do as `call` does; waits for asynchronous tools and approvers."""
        early = self._early(name)
        return early or await self.session.acall(name, arguments, **approval)

    def call_and_wait(self, name: str, arguments: Arguments) -> object:
        """Do as `call` does, for frameworks that wait for no coroutine."""
        tool = self.tool(name)
        if tool is None or not tool.is_async:
            return self._kept(name, arguments, self.call(name, arguments))
        with ThreadPoolExecutor(1) as pool:  # this thread may run an event loop
            coroutine = self.acall(name, arguments)
            # Context variables do not follow into another thread by themselves.
            return pool.submit(copy_context().run, asyncio.run, coroutine).result()

    def hold(self, name: str, arguments: Arguments) -> str | None:
        """Return what one of the agent's own tools answers before its skill was read.

        None: it may be called. Never raises.
        """
        refusal = self.session.required(name, arguments=arguments)
        return self._kept(name, {}, refusal)

    def comes_early(self, name: str, arguments: Arguments) -> bool:
        """Tell whether a call of one of the agent's own tools comes before its skill.

        Where the session answers such a call itself, and does not see any other: that
        is on the record as a call that is made.
        """
        if self.session.waits(name):
            return True
        return self.session.required(name, arguments=arguments) is not None

    def given_in(self, text: str) -> Iterator[SeenMessage]:
        """Yield the loads and refusals of this conversation that a text has, unaltered.

        For frameworks that show a model the results of a step as one text, which does
        not say whose each is. Kept only where the policy requires a skill.
        """
        yield from (given for given in self._given if given.text in text)

    def permit(
        self, name: str, arguments: Arguments, **approval: Unpack[CallApproval]
    ) -> Permit:
        """Return whether a tool of the framework may be called, and with what."""
        if (refusal := self._early(name)) is not None:
            return Permit({}, refusal)
        permit = self.session.permit(name, arguments, **approval)
        self._kept(name, {}, permit.refusal)
        return permit

    async def apermit(
        self, name: str, arguments: Arguments, **approval: Unpack[CallApproval]
    ) -> Permit:
        """Do as `permit` does; waits for an asynchronous approver."""
        if (refusal := self._early(name)) is not None:
            return Permit({}, refusal)
        return await self.session.apermit(name, arguments, **approval)

    def save(self) -> dict[str, object]:
        """Return what the next step or run resumes from, safe for JSON; no text."""
        return self.session.dump()

    async def call_off_loop(
        self, function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs
    ) -> Result:
        """Call what makes instructions: in a thread where that reads files."""
        if self.session.reads_files:
            return await asyncio.to_thread(function, *args, **kwargs)
        return function(*args, **kwargs)

    def _kept(self, name: str, arguments: Arguments, result: Result) -> Result:
        """Return a result; remember it if a model may read instructions in it."""
        if self.session.is_required and result is not None:
            given = arguments if isinstance(arguments, Mapping) else {}
            text = result_text(result).strip()
            if name in LOADS or self.session.needs_skill(name):
                self._given.append(SeenMessage("tool", text, name, given))
        return result

    def _early(self, name: str) -> object | None:
        """Return the result of a call that comes too early; None where it does not."""
        if not self._is_early(name):
            return None
        advice = "its skill was loaded in this very step; call it again now"
        return error_payload(ToolError(name, advice))

    def _is_early(self, name: str) -> bool:
        """Tell whether a tool has opened only since the model call that calls it.

        The model has not seen it, and whether the load comes first is chance where
        calls run side by side.
        """
        offered = self.turn.offered
        # Where nothing was offered in this turn, the model call was made elsewhere.
        if offered is None or offered.get(name) is not None:
            return False
        return self.session.open_tools.get(name) is not None


def outcome_of(result: object) -> dict[str, Any] | None:
    """Return what an application gets of a script's run, as plain data; else None.

    Its keys are the attributes of a `satchel.model.Outcome`.
    """
    if not isinstance(result, ScriptOutput):
        return None
    outcome = replace(result.outcome, limits={**result.outcome.limits})
    return asdict(outcome)


def is_error(result: object) -> bool:
    """Tell whether a result is that of a call that failed, or was not made."""
    if isinstance(result, Mapping):
        return bool(result.get("error"))
    return isinstance(result, ErrorText)
