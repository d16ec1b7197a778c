"""One tool call of a model: who is asked about it, and what it is made with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict, cast

from satchel.errors import (
    ApprovalDeclinedError,
    ApprovalNeededError,
    ApprovalUsedError,
    DeniedError,
    SkillError,
    ToolError,
)
from satchel.load import ALLOWED, wording
from satchel.model import Decision, Descriptor, Question, Reply
from satchel.protocols import Approval
from satchel.runtime._access import Access
from satchel.runtime._authorizer import Authorizer
from satchel.runtime._session_state import SessionState
from satchel.runtime._session_tools import SessionTools
from satchel.tools import Run, Tool, arguments_of, result_text, with_text

if TYPE_CHECKING:
    from satchel.runtime._acts import Acts, Needs
    from satchel.runtime._components import Components
    from satchel.runtime._scripts import ScriptCall

# What a model gives to a tool: an object, or its JSON text.
Arguments: TypeAlias = Mapping[str, object] | str


class CallApproval(TypedDict, total=False):
    """What a framework's own approval says of one call.

    ``approved`` is what somebody answered to the call's question, for this call alone.
    ``call_id`` is the framework's id of the call, or its position, unique in its step:
    with one, ``approved`` counts once, so that a run that is resumed twice, or again
    after a crash, does not make the call again. Before the first `Session.see`, and in
    a state that an earlier release saved, it has to be unique for all conversations.
    """

    approved: Approval | None
    call_id: str


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether a tool may be called, and with which arguments.

    ``refusal`` is the result that takes the place of the call, None where it may be
    made. ``arguments`` are those to call it with; ``is_edited`` says that a person
    put them in the place of the model's. ``approved`` is what somebody answered.
    ``script`` and ``basis``, the yes or the rule that decided, are for the record.
    """

    arguments: Mapping[str, object]
    refusal: object | None = None
    tool: Tool | None = None
    is_edited: bool = False
    approved: Reply | None = None
    script: "ScriptCall | None" = None
    basis: str = ""


class ToolCalls:
    """What a session says of a tool call before it is made. No method raises."""

    _components: "Components"
    _authorizer: Authorizer
    _access: Access
    _state: SessionState
    _acts: "Acts | None"
    _tools: SessionTools

    def required(self, tool: str, *, arguments: Arguments | None = None) -> str | None:
        """Return the result of a call that comes before its skill; None for any other.

        For tools that are not the session's: it asks about those itself. The result has
        the skill's instructions, and loads it. None is on the record as a call that is
        made, with a digest of the ``arguments``. Never raises.
        """
        needs, refusal = self._needs(tool, arguments)
        acts = self._acts
        if acts is None or not needs or refusal is not None:
            return refusal
        # The session's own tools are on record with their permit.
        if all(one.name != tool for _, one in self._tools.offered()):
            acts.note(tool, needs, arguments, "allowed")
        return None

    async def arequired(
        self, tool: str, *, arguments: Arguments | None = None
    ) -> str | None:
        """Do as `required` does; what loads a skill does so in a thread."""
        if not self.needs_skill(tool):
            return None
        import asyncio

        return await asyncio.to_thread(self.required, tool, arguments=arguments)

    def _needs(
        self, tool: str, arguments: Arguments | None
    ) -> "tuple[Needs, str | None]":
        state = self._state
        if state.requirements is None:
            return (), None
        return state.requirements.ruling(tool, arguments, state.saved.ready, self._acts)

    @property
    def is_required(self) -> bool:
        """Whether the policy requires a skill for any tool."""
        return self._state.requirements is not None

    def waits(self, tool: str) -> bool:
        """Return whether a call of a tool comes before its skill; loads nothing.

        Then `required` has the result of the call.
        """
        required = self._state.requirements
        return required is not None and required.waits(tool, self._state.saved.ready)

    def needs_skill(self, tool: str) -> bool:
        """Return whether a policy requires a skill for a tool of this name."""
        required = self._state.requirements
        return required is not None and any(required.of(tool))

    def decide(self, name: str, arguments: Arguments) -> Decision:
        """Return what the policy says of a call, for a framework's own approval.

        A call that is about no skill, or one that is not there, is allowed: it fails
        by itself.
        """
        answer = self._ask_policy(name, arguments)
        return answer[0] if answer else ALLOWED

    def question(
        self, name: str, arguments: Arguments, call_id: str = ""
    ) -> Question | None:
        """Return what somebody has to be asked before a call; None for nothing.

        For a framework's own approval; `satchel.runtime.question_text` writes it for
        a person. With a ``call_id`` the state says that it was asked about: then it is
        again, where a run goes on under another policy. Never raises.
        """
        # A call that comes too early is not made, whatever a person would say.
        if self.waits(name):
            return None
        # Asked before means asked: what was answered counts, whatever the policy says
        # by now.
        was_asked = call_id in self._state.saved.asked
        # Where there is an approver, no framework has to wait.
        asks = self._access.asks if call_id else self._authorizer.asks
        if not (was_asked or asks):
            return None
        answer = self._ask_policy(name, arguments)
        if answer is None or not (was_asked or answer[0].verdict == "ask"):
            return None
        if call_id:
            self._state.ask(call_id)
        return answer[1]

    def permit(
        self,
        name: str,
        arguments: Arguments,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> Permit:
        """Return whether a tool may be called, and with which arguments.

        For a framework's own tool objects (`Tool.native`), which adapters call. Asks
        and answers as `Session.call` does. Never raises.
        """
        needs, refusal = self._needs(name, arguments)
        if refusal is not None:
            return Permit({}, refusal)
        # Looked at before the call of `question`, for most policies ask nobody.
        question = self.question(name, arguments) if self._authorizer.asks else None
        reply = _reply_of(approved)
        if question is not None:
            approvals = self._authorizer.approvals
            try:
                reply = _once(approvals.require_yes(question, approved))
            except (ApprovalNeededError, ApprovalDeclinedError) as error:
                reply = _no_of(error)
        permit = self._permit(name, arguments, reply)
        if approved is not None and _counts(permit, reply, call_id):
            permit = self._use(permit, name, arguments, call_id)
        return self._recorded(permit, name, needs, arguments)

    async def apermit(
        self,
        name: str,
        arguments: Arguments,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> Permit:
        """Do as `permit` does; waits for an asynchronous approver."""
        import asyncio

        needs: Needs = ()
        if self.needs_skill(name):
            needs, refusal = await asyncio.to_thread(self._needs, name, arguments)
            if refusal is not None:
                return Permit({}, refusal)
        question = self.question(name, arguments)
        reply = _reply_of(approved)
        if question is not None:
            approvals = self._authorizer.approvals
            try:
                reply = _once(await approvals.arequire_yes(question, approved))
            except (ApprovalNeededError, ApprovalDeclinedError) as error:
                reply = _no_of(error)
        permit = self._permit(name, arguments, reply)
        if approved is not None and _counts(permit, reply, call_id):
            of = permit, name, arguments, call_id
            permit = await asyncio.to_thread(self._use, *of)
        return self._recorded(permit, name, needs, arguments)

    def _recorded(
        self, permit: Permit, name: str, needs: "Needs", arguments: Arguments
    ) -> Permit:
        if self._acts is None:
            return permit
        given = permit.arguments if permit.tool else arguments
        about = name, needs, given, permit.basis, permit.script
        return replace(permit, tool=self._acts.permitted(permit.tool, *about))

    def _use(
        self, permit: Permit, name: object, arguments: object, call_id: str
    ) -> Permit:
        """Note that a framework's approval is used now; refuse one that was before."""
        answer = self._ask_policy(name, arguments)
        if answer is None or not answer[1].tool:
            return permit
        question = answer[1]
        tool, skill = question.tool, question.skill
        try:
            key = self._state.use_approval(question, call_id)
            if key is not None and self._components.used_approvals.use(key):
                return permit
            error: SkillError = ApprovalUsedError("tool", skill, tool)
        except ApprovalNeededError as old:
            error = old
        # What cannot be noted is not done: it could be done twice.
        except Exception as problem:  # noqa: BLE001 - a store is a plug-in
            import logging  # its cost only where something is wrong

            kind = type(problem).__name__
            logging.getLogger("satchel").warning(
                "the approved call of %r is not made: the approval cannot be noted as "
                "used (%s)",
                tool,
                kind,
            )
            error = ApprovalNeededError("tool", skill, tool, f"not noted: {kind}")
        return Permit({}, _result_of(error), script=permit.script, basis=error.code)

    def _permit(self, name: object, arguments: object, reply: Reply | None) -> Permit:
        """Return whether a tool may be called with this answer to its question."""
        script, basis = None, ""
        try:
            owner, tool = self._tools.find_tool(name)
            try:
                given = arguments_of(tool.name, arguments)
            except ToolError as error:
                if tool.refused is not None:
                    tool.refused(arguments, error)
                raise
            # A person may have put other arguments in the place of the model's.
            edited = reply.arguments if reply is not None and reply.is_yes else None
            given = given if edited is None else dict(edited)
            scripts = self._tools.scripts
            if scripts is not None and tool is scripts.tool:
                script = scripts.prepare(given)
                if reply is not None and reply.is_yes:
                    shown = self._state.take_shown(script_key(arguments))
                    if shown not in (None, script.version):
                        raise ToolError(tool.name, wording.SCRIPT_CHANGED)
                owner, tool = script.owner, scripts.bound(script)
            if owner is not None:
                basis = self._permit_skill(owner, tool, given, reply, script)
            elif reply is not None and not reply.is_yes:
                return Permit(given, self._declined(tool, given, reply))
        except SkillError as error:
            return Permit({}, _result_of(error), script=script, basis=error.code)
        answered, is_edited = None if owner else reply, edited is not None
        return Permit(given, None, tool, is_edited, answered, script, basis)

    def _declined(self, tool: Tool, arguments: dict[str, object], no: Reply) -> object:
        """Return the result of a call of the style's tools that a person declined."""
        from satchel.runtime._history import requested_access

        # Each style has its own result for a load that is declined.
        style = self._tools.settings.style
        if requested_access(style, tool.name, arguments) is not None:
            return tool.call(arguments, Run(approved=no))
        return _result_of(ApprovalDeclinedError("tool", "", tool.name, "", no.words))

    def _permit_skill(
        self,
        owner: Descriptor,
        tool: Tool,
        arguments: Mapping[str, object],
        reply: Reply | None,
        script: "ScriptCall | None",
    ) -> str:
        """Return the yes or the rule; raise where one says no, or nobody answered."""
        decision = self._decide(owner, tool.name, script)
        # The rule before the person: nobody can allow what the policy denies.
        action = decision.action
        if decision.verdict == "deny":
            raise DeniedError(action, owner.id, tool.name, decision.reason)
        if reply is not None and not reply.is_yes:
            raise ApprovalDeclinedError(action, owner.id, tool.name, "", reply.words)
        if decision.verdict == "ask":
            _check(tool, arguments)
            if reply is None:
                raise ApprovalNeededError(action, owner.id, tool.name, decision.reason)
            return reply.answer
        return decision.reason

    def _decide(
        self, owner: Descriptor, tool: str, script: "ScriptCall | None"
    ) -> Decision:
        if script is None:
            return self._authorizer.decide("tool", owner, tool)
        return self._authorizer.decide("script", owner, tool, script.identity)

    def _ask_policy(
        self, name: object, arguments: object
    ) -> tuple[Decision, Question] | None:
        """Return what the policy says of a call, and its question, or None."""
        from satchel.runtime._history import requested_access

        # A call that fails by itself raises no question: no one is asked for nothing.
        try:
            text = name if isinstance(name, str) else ""
            given = arguments_of(text, arguments)
            access = requested_access(self._tools.settings.style, text, given)
            if access is None:
                owner, tool = self._tools.find_tool(name)
                scripts, script = self._tools.scripts, None
                if scripts is not None and tool is scripts.tool:
                    script = scripts.prepare(given)
                    owner = script.owner
                if owner is None:
                    return None
                decision = self._decide(owner, text, script)
                if decision.verdict == "ask":
                    _check(tool, given)
                if script is not None:
                    if decision.verdict == "ask":
                        self._state.show_script(script_key(arguments), script.version)
                    return decision, script.question(self._authorizer, decision)
                question = self._authorizer.question(decision, owner, text, given)
                return decision, question
        except SkillError:
            return None
        actions, skill_id = access
        entry = self._access.get(skill_id)
        if entry is None:
            return None
        decisions = [self._authorizer.decide(action, entry) for action in actions]
        open_ones = [one for one in decisions if one.verdict != "allow"]
        decision = (open_ones or decisions)[0]
        return decision, self._authorizer.question(decision, entry)


def script_key(arguments: object) -> str:
    """Return what names a call of a script among those of its step."""
    from hashlib import sha256

    from satchel.runtime._used_approvals import fingerprint

    given = arguments_of("", arguments)
    return f"script-{sha256(fingerprint(given).encode()).hexdigest()[:16]}"


def with_note(result: object, note: str) -> object:
    """Return the result of a tool with a sentence for the model behind it.

    Objects that are no plain data, which frameworks may show in ways of their own, are
    left as they are.
    """
    if not note:
        return result
    if isinstance(result, str):
        return with_text(result, f"{result}\n\n{note}")  # an error stays one
    if isinstance(result, Mapping):
        return {**cast("Mapping[str, object]", result), "note": note}
    if result is None or isinstance(result, (bool, int, float, list, tuple)):
        return f"{result_text(cast('object', result))}\n\n{note}"
    return result


def _result_of(error: SkillError) -> object:
    from satchel.load import error_result

    return error_result(error)


def _reply_of(approved: Approval | None) -> Reply | None:
    if approved is None:
        return None
    from satchel.runtime._approvals import reply_of

    return reply_of(approved)


def _counts(permit: Permit, reply: Reply | None, call_id: str) -> bool:
    """Return whether a yes is for this one call, also where nobody asks any more."""
    is_once = reply is not None and reply.answer == "yes_once"
    return bool(call_id) and is_once and permit.tool is not None


def _once(reply: Reply) -> Reply:
    """Return a yes as one for this call: a longer one is remembered by now."""
    return replace(reply, answer="yes_once")


def _no_of(error: DeniedError) -> Reply | None:
    if isinstance(error, ApprovalDeclinedError):
        return Reply("no", error.words)
    return None


def _check(tool: Tool, arguments: Mapping[str, object]) -> None:
    """Refuse arguments that the tool would refuse, so that no one has to be asked."""
    if tool.native is None:  # a framework's own tool checks its own
        tool.check(arguments)
