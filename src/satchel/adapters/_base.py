"""What every adapter does with a session, written once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast, get_args

from satchel.errors import SkillError, ToolError, error_payload
from satchel.load import TurnCache
from satchel.model import Question, SeenMessage, Style
from satchel.protocols import Approval
from satchel.runtime import (
    Permit,
    Satchel,
    Session,
    SessionOptions,
    check_approve,
    check_choice,
    check_only,
    check_who,
    patterns_of,
)
from satchel.tools import Tool, Toolbox

Arguments: TypeAlias = Mapping[str, object] | str
"""What a model gave: an object, or its JSON text."""

Native = TypeVar("Native")
"""What a framework tells of a run: its context."""

_NAMED: Final = ("who", "deps", "state", "resume", "to", "tools")
"""Arguments that `attach` of some adapter has besides the options of a session."""


@dataclass(eq=False, slots=True)
class Turn:
    """One run of an agent: what it has read, and what its last model call was offered.

    Where each step of a run opens a session of its own, they share one of these.
    """

    cache: TurnCache = field(default_factory=TurnCache)
    offered: Toolbox | None = None


class SessionFactory(Generic[Native]):
    """What `attach` was told, checked at once; opens a session for each conversation.

    Attributes:
        skills: Whose skills.
        who: For whom a run is, or how its context tells.
        deps: How its context tells what tools get as ``Run.deps``.
        options: Of every session.
        asks: Whether a call may have to wait for the framework's own approval: some
            rule of the policy asks, and there is no ``approve`` to answer it.
        trusts: Whether nobody but the application can write the state.
    """

    def __init__(
        self,
        skills: Satchel,
        who: "Mapping[str, Any] | Callable[[Native], Mapping[str, Any]] | None",
        deps: "Callable[[Native], object] | None",
        options: SessionOptions,
        *,
        trusts: bool = True,
    ) -> None:
        """Take the arguments of `attach`.

        Raises:
            TypeError: ``skills`` is no `Satchel`; an option is not known, or of another
                type.
            ConfigError: No style has that name.
            SkillNotFoundError: ``only`` or ``always`` names a skill that is not there.
        """
        options = _kept(options)  # it may be read for many sessions
        _check(skills, who, options)
        self.skills = skills
        self.who = who
        self.deps = deps
        self.options = options
        may_ask = any(rule.verdict == "ask" for rule in skills.policy.rules)
        self.asks = may_ask and options.get("approve") is None
        self.trusts = trusts

    def whose(self, native: Native) -> Mapping[str, Any]:
        """Return for whom a run is."""
        return (self.who(native) if callable(self.who) else self.who) or {}

    def open(
        self,
        native: Native,
        kept: object = None,
        *,
        deps: object = None,
        agent: str = "",
        turn: Turn | None = None,
    ) -> "Conversation":
        """Open the session of a conversation, or take it up from what was kept.

        Args:
            native: The framework's context of the run.
            kept: What `Conversation.keep` gave; None starts a new one.
            deps: What tools get as ``Run.deps`` where `attach` was given no function.
            agent: The framework's name of the agent, where the options give none.
            turn: That of the run, where an earlier step has begun it.

        Raises:
            SkillError: As for `satchel.Satchel.session`.
        """
        given: SessionOptions = {"trust_state": self.trusts, **self.options}
        if agent:
            given = {"agent": agent, **given}
        who = self.whose(native)
        if self.deps is not None:
            deps = self.deps(native)
        resume = cast("Mapping[str, object] | None", kept)
        session = self.skills.session(who=who, deps=deps, resume=resume, **given)
        return Conversation(session, asks=self.asks, turn=turn)


class Conversation:
    """A session in the hands of an adapter, within one turn. Safe across threads.

    ``turn`` is replaced by `begin_turn` where one object serves several runs.
    """

    __slots__ = ("asks", "session", "turn")

    def __init__(
        self, session: Session, *, asks: bool, turn: Turn | None = None
    ) -> None:
        self.session = session
        self.asks = asks
        self.turn = turn or Turn()
        session.join(self.turn.cache)

    def begin_turn(self) -> None:
        """Read each file again from now on, and at most once until the next turn."""
        self.session.leave(self.turn.cache)
        self.turn = Turn()
        self.session.join(self.turn.cache)

    def see(self, history: Iterable[SeenMessage]) -> None:
        """Take the messages of the next model call; see `satchel.Session.see`."""
        self.session.see(history)

    def tools(self, beside: Iterable[str] = ()) -> Toolbox:
        """Return the tools that the next model call is offered.

        Raises:
            DuplicateToolError: A name of ``beside``, the agent's own, is among them.
        """
        offered = self.turn.offered = self.session.tools(beside)
        return offered

    def tool(self, name: str) -> Tool | None:
        """Return the tool that a call of this name means; None where there is none."""
        if self._is_early(name):
            return None
        return self.session.tools().get(name)

    def asked(self, name: str, arguments: Arguments) -> Question | None:
        """Return what somebody has to approve before a call; None where nobody has to.

        `satchel.runtime.question_text` writes it for a person.
        """
        if not self.asks or self._is_early(name):
            return None
        return self.session.question(name, arguments)

    def answer(
        self,
        name: str,
        arguments: Arguments,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> object:
        """Make a call of a skill's tool, or answer one of a tool that nobody has.

        Never raises: an error is a result. ``approved`` is what somebody said to this
        very call, and counts once where there is an id that no other call has.
        """
        if self._is_early(name):
            return error_payload(_early(name))
        return self.session.call(name, arguments, approved=approved, call_id=call_id)

    async def aanswer(
        self,
        name: str,
        arguments: Arguments,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> object:
        """Do as `answer` does; waits for asynchronous tools and approvers."""
        if self._is_early(name):
            return error_payload(_early(name))
        return await self.session.acall(
            name, arguments, approved=approved, call_id=call_id
        )

    def permit(
        self,
        name: str,
        arguments: Arguments,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> Permit:
        """Return whether a tool of the framework may be called, and with what."""
        if self._is_early(name):
            return Permit({}, error_payload(_early(name)))
        return self.session.permit(name, arguments, approved=approved, call_id=call_id)

    async def apermit(
        self,
        name: str,
        arguments: Arguments,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> Permit:
        """Do as `permit` does; waits for an asynchronous approver."""
        if self._is_early(name):
            return Permit({}, error_payload(_early(name)))
        return await self.session.apermit(
            name, arguments, approved=approved, call_id=call_id
        )

    def refusal(
        self, name: str, arguments: Arguments, *, approved: Approval | None = None
    ) -> object | None:
        """Return why a tool of the framework is not to be called; None where it may.

        For frameworks that call it with the model's arguments, whatever was answered.
        """
        if self._is_early(name):
            return error_payload(_early(name))
        return self.session.refusal(name, arguments, approved=approved)

    async def arefusal(
        self, name: str, arguments: Arguments, *, approved: Approval | None = None
    ) -> object | None:
        """Do as `refusal` does; waits for an asynchronous approver."""
        if self._is_early(name):
            return error_payload(_early(name))
        return await self.session.arefusal(name, arguments, approved=approved)

    def keep(self) -> dict[str, object]:
        """Return what the next step or run resumes from, safe for JSON; no text."""
        return self.session.dump()

    def _is_early(self, name: str) -> bool:
        """Tell whether a tool has opened only since the model call that calls it.

        The model has not seen it, and whether the load comes first is chance where
        calls run side by side.
        """
        offered = self.turn.offered
        if offered is None or offered.get(name) is not None:
            return False
        return self.session.tools().get(name) is not None


def is_error(result: object) -> bool:
    """Tell whether a result is that of a call that failed, or was not made."""
    return isinstance(result, Mapping) and bool(result.get("error"))


def _early(name: str) -> SkillError:
    return ToolError(name, "its skill was loaded in this very step; call it again now")


def _kept(options: SessionOptions) -> SessionOptions:
    """Return the options with lists in place of what can be read only once."""
    kept: SessionOptions = {**options}
    if (only := options.get("only")) is not None:
        kept["only"] = patterns_of(only)
    if (always := options.get("always")) is not None:
        kept["always"] = tuple(always)
    return kept


def _check(skills: object, who: object, options: SessionOptions) -> None:
    """Refuse what no session could be opened with, in the words of `attach`."""
    if not isinstance(skills, Satchel):
        hint = f": attach(Satchel({skills!r}))" if isinstance(skills, str) else ""
        raise TypeError(f"attach takes a Satchel, not {_kind(skills)}{hint}")
    known = [*SessionOptions.__annotations__]
    for name in options:
        if name not in known:
            raise TypeError(_unknown("option of attach", name, [*known, *_NAMED]))
    if not callable(who):
        check_who(who)
    check_choice("style", options.get("style"), get_args(Style))
    check_approve(options.get("approve"))
    for given in (options.get("only"), options.get("always")):
        names = [each for each in given or () if isinstance(each, str)]
        if names:
            check_only(names, skills.catalog, skills.registry.may_exist)


def _unknown(what: str, name: str, known: list[str]) -> str:
    from satchel.text import nearest

    close = nearest(name, known, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    return f"no {what} is called {name!r}; {hint}"


def _kind(value: object) -> str:
    return type(value).__name__


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
        from satchel.errors import ExtraMissingError

        raise ExtraMissingError(title, extra) from error
