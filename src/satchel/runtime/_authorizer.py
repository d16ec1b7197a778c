"""Whether something may be done in a session: the policy, approvals, tool calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeGuard

from satchel.errors import (
    ApprovalDeclinedError,
    ApprovalNeededError,
    ApprovalUsedError,
    DeniedError,
    SkillError,
    ToolError,
)
from satchel.load import error_result
from satchel.model import Action, Decision, Descriptor, Question, Reply, Style
from satchel.policy import Policy
from satchel.protocols import Approval
from satchel.runtime._approvals import Approvals, reply_of
from satchel.runtime._history import requested_access
from satchel.tools import Tool, arguments_of

if TYPE_CHECKING:
    from satchel.runtime._access import SkillAccess
    from satchel.runtime._session_tools import OwnedTool


@dataclass(frozen=True, slots=True)
class Authorizer:
    """A policy and the approvals of one session, for one ``who``."""

    policy: Policy
    approvals: Approvals
    who: Mapping[str, object]
    agent: str = ""

    def ask(
        self,
        action: Action,
        skill: Descriptor,
        tool: str = "",
        arguments: Mapping[str, object] | None = None,
    ) -> tuple[Decision, Question]:
        """Return what holds now, grants counted, and the question that it raises."""
        decision = self.policy.decide(
            action, skill.id, self.who, tool=tool, raw=skill.category == "raw"
        )
        question = Question(
            action,
            skill.id,
            tool,
            dict(arguments or {}),
            self.who,
            self.agent,
            decision.reason,
        )
        if decision.verdict == "ask" and self.approvals.is_granted(question):
            return Decision("allow", "granted for this session"), question
        return decision, question

    def asking(self, *, approved: Reply | None = None) -> "LoadAuthorizer":
        """Return a policy for one load, which asks where this one says ask."""
        return LoadAuthorizer(self, approved)


@dataclass(frozen=True, slots=True)
class LoadAuthorizer:
    """A policy whose questions have been put when it decides."""

    gate: Authorizer
    approved: Reply | None

    def decide(
        self,
        action: Action,
        skill: str,
        who: Mapping[str, object],
        *,
        tool: str = "",
        raw: bool = False,
    ) -> Decision:
        """Return what holds now.

        Raises:
            ApprovalNeededError: There is nobody to ask.
            ApprovalDeclinedError: Somebody said no.
        """
        gate = self.gate
        decision = gate.policy.decide(action, skill, who, tool=tool, raw=raw)
        no = self.approved is not None and not self.approved.is_yes
        if decision.verdict != "ask" and not no:
            return decision
        question = Question(action, skill, tool, {}, who, gate.agent, decision.reason)
        if no or not gate.approvals.is_granted(question):
            gate.approvals.settle(question, self.approved)
        return Decision("allow", "approved")


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether a tool may be called, and with which arguments.

    ``refusal`` is the result that takes the place of the call, None where it may be
    made. ``arguments`` are those to call it with; ``is_edited`` tells that a person
    put them in the place of the model's.
    """

    arguments: Mapping[str, object]
    refusal: object | None = None
    tool: Tool | None = None
    is_edited: bool = False


class FindTool(Protocol):
    """Finds a tool by its name."""

    def __call__(self, name: str, *, approved: Reply | None = None) -> "OwnedTool":
        """Return the tool and who carries it, or raise a `ToolError`."""
        ...


@dataclass(frozen=True, slots=True)
class CallAuthorizer:
    """Decides about the tool calls of one session. No method raises.

    ``asks`` tells whether any rule asks somebody. ``use`` notes that an approval is
    used, and tells whether it is so for the first time; it may write to disk.
    """

    style: Style
    gate: Authorizer
    reading: "SkillAccess"
    find: FindTool
    asks: bool
    use: Callable[[str], bool]

    def decide(self, name: object, arguments: object) -> Decision:
        """Return what the policy says of a call; what cannot be called is allowed."""
        asked = self._asked(name, arguments)
        return asked[0] if asked else Decision("allow")

    def question(self, name: object, arguments: object) -> Question | None:
        """Return what somebody has to be asked before a call; None for nothing."""
        if not self.asks:
            return None
        asked = self._asked(name, arguments)
        return asked[1] if asked and asked[0].verdict == "ask" else None

    def permit(
        self, name: object, arguments: object, approved: Approval | None, call_id: str
    ) -> Permit:
        """Ask where somebody has to be asked, and return whether it may be called."""
        question = self.question(name, arguments)
        reply = None if approved is None else reply_of(approved)
        if question is not None:
            try:
                reply = _once(self.gate.approvals.settle(question, approved))
            except ApprovalNeededError:
                reply = None
            except ApprovalDeclinedError as error:
                reply = Reply("no", error.words)
        permit = self._permit(name, arguments, reply)
        if permit.tool is not None and _counts(question, approved, call_id):
            return self._used(permit, question, call_id)
        return permit

    async def apermit(
        self, name: object, arguments: object, approved: Approval | None, call_id: str
    ) -> Permit:
        """Do as `permit` does, on the caller's own event loop."""
        question = self.question(name, arguments)
        reply = None if approved is None else reply_of(approved)
        if question is not None:
            try:
                reply = _once(await self.gate.approvals.asettle(question, approved))
            except ApprovalNeededError:
                reply = None
            except ApprovalDeclinedError as error:
                reply = Reply("no", error.words)
        permit = self._permit(name, arguments, reply)
        if permit.tool is not None and _counts(question, approved, call_id):
            import asyncio

            return await asyncio.to_thread(self._used, permit, question, call_id)
        return permit

    def _used(self, permit: Permit, question: Question, call_id: str) -> Permit:
        """Note that an approval is used now; refuse one that was used before."""
        from satchel.runtime._used_approvals import approval_key

        tool, skill = question.tool, question.skill
        key = approval_key(call_id, question.agent, tool, question.arguments)
        try:
            if self.use(key):
                return permit
            error: SkillError = ApprovalUsedError("tool", skill, tool)
        except Exception as problem:  # noqa: BLE001 - a store is a plug-in
            kind = type(problem).__name__
            import logging  # nobody pays for it before something is wrong

            log = logging.getLogger("satchel")
            log.warning(
                "the approved call of %r is not made: the approval cannot be noted as "
                "used (%s)",
                tool,
                kind,
            )
            error = ApprovalNeededError("tool", skill, tool, f"not noted: {kind}")
        return Permit({}, error_result(error))

    def _permit(self, name: object, arguments: object, reply: Reply | None) -> Permit:
        """Return whether a tool may be called with this answer to its question."""
        try:
            known = _name(name)
            owner, tool = self.find(known, approved=reply)
            given = _given(tool, arguments)
            edited = reply.arguments if reply is not None and reply.is_yes else None
            given = given if edited is None else dict(edited)
            if owner is not None:
                self._permit_skill(owner, tool, given, reply)
            elif reply is not None and not reply.is_yes:
                return Permit(given, self._declined(tool, given, reply))
        except SkillError as error:
            return Permit({}, error_result(error))
        return Permit(given, tool=tool, is_edited=edited is not None)

    def _declined(self, tool: Tool, arguments: dict[str, object], no: Reply) -> object:
        """Return the result of a call of the style's tools to which somebody said no.

        A load that is declined has a result of its own in each style.
        """
        if requested_access(self.style, tool.name, arguments) is not None:
            return tool.call(arguments)
        return error_result(ApprovalDeclinedError("tool", "", tool.name, "", no.words))

    def _permit_skill(
        self,
        owner: Descriptor,
        tool: Tool,
        arguments: Mapping[str, object],
        reply: Reply | None,
    ) -> None:
        """Return where a skill's tool may be called.

        Raises:
            SkillError: The policy or a person says no, or nobody answered.
        """
        decision, _ = self.gate.ask("tool", owner, tool.name, arguments)
        if decision.verdict == "deny":
            raise DeniedError("tool", owner.id, tool.name, decision.reason)
        if reply is not None and not reply.is_yes:
            raise ApprovalDeclinedError("tool", owner.id, tool.name, "", reply.words)
        if decision.verdict == "ask":
            _check(tool, arguments)
            if reply is None:
                raise ApprovalNeededError("tool", owner.id, tool.name, decision.reason)

    def _asked(
        self, name: object, arguments: object
    ) -> tuple[Decision, Question] | None:
        """Return what the policy says of a call, with the question that it raises.

        None for a call that cannot be made: nobody is asked about it.
        """
        try:
            known = _name(name)
            given = arguments_of(known, arguments)
            wish = requested_access(self.style, known, given)
            if wish is None:
                owner, tool = self.find(known)
                if owner is None:
                    return None
                asked = self.gate.ask("tool", owner, known, given)
                if asked[0].verdict == "ask":
                    _check(tool, given)
                return asked
        except SkillError:
            return None
        actions, skill_id = wish
        entry = self.reading.descriptor(skill_id)
        if entry is None:
            return None
        each = [self.gate.ask(action, entry) for action in actions]
        return next((one for one in each if one[0].verdict != "allow"), each[0])


def _counts(
    question: Question | None, approved: Approval | None, call_id: str
) -> TypeGuard[Question]:
    """Tell whether an approval is a framework's for one call, and so used by it."""
    is_theirs = approved is not None and bool(call_id)
    return is_theirs and question is not None and question.action == "tool"


def _once(reply: Reply) -> Reply:
    """Return a yes as one for this call: a longer one is kept by now."""
    return replace(reply, answer="yes_once")


def _check(tool: Tool, arguments: Mapping[str, object]) -> None:
    """Let arguments pass that the tool takes; a framework's own tool checks its own.

    Raises:
        ToolError: It would refuse them, so that nobody has to be asked.
    """
    if tool.native is None:
        tool.check(arguments)


def _name(name: object) -> str:
    """Return a tool's name; a model may write any JSON.

    Raises:
        ToolError: It is no text.
    """
    if isinstance(name, str):
        return name
    kind = type(name).__name__
    raise ToolError("tool call", f"the name of a tool is a text, not a {kind}")


def _given(tool: Tool, arguments: object) -> dict[str, object]:
    """Return the arguments of a call; the tool is told where they are none.

    Raises:
        ToolError: They are no object.
    """
    try:
        return arguments_of(tool.name, arguments)
    except ToolError as error:
        if tool.refused is not None:
            tool.refused(arguments, error)
        raise
