"""The one place where a session asks whether something may be done."""

from collections.abc import Mapping
from dataclasses import dataclass

from satchel.errors import ApprovalDeclinedError, ApprovalNeededError, DeniedError
from satchel.model import Action, Decision, Descriptor, Question
from satchel.policy import Policy
from satchel.session.approvals import Approvals

__all__ = ["Asking", "Gate"]


@dataclass(frozen=True, slots=True)
class Gate:
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

    def permit(
        self,
        skill: Descriptor,
        tool: str,
        arguments: Mapping[str, object],
        *,
        approved: bool | None,
    ) -> None:
        """Return where a skill's tool may be called; ask first if the policy says so.

        ``approved`` is what a framework's own approval brought; None asks here.

        Raises:
            DeniedError: The policy says no.
            ApprovalNeededError: There is nobody to ask.
            ApprovalDeclinedError: Somebody said no.
        """
        if approved is False:
            raise ApprovalDeclinedError("tool", skill.id, tool)
        decision, question = self.ask("tool", skill, tool, arguments)
        if decision.verdict == "deny":
            raise DeniedError("tool", skill.id, tool, decision.reason)
        if decision.verdict == "ask":
            self.approvals.settle(question, approved)

    def asking(self, *, approved: bool | None = None) -> "Asking":
        """Return a policy for one load, which asks where this one says ask."""
        return Asking(self, approved)

    async def settle(
        self, decision: Decision, question: Question, *, approved: bool | None
    ) -> bool | None:
        """Ask ahead of a call, on the caller's own event loop; return the answer.

        None means that there was nothing to ask, or nobody.
        """
        if decision.verdict != "ask" or approved is not None:
            return approved
        try:
            await self.approvals.asettle(question)
        except ApprovalNeededError:
            return None
        except DeniedError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Asking:
    """A policy whose questions have been put when it decides."""

    gate: Gate
    approved: bool | None

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
        if self.approved is False:
            raise ApprovalDeclinedError(action, skill, tool)
        gate = self.gate
        decision = gate.policy.decide(action, skill, who, tool=tool, raw=raw)
        if decision.verdict != "ask":
            return decision
        question = Question(action, skill, tool, {}, who, gate.agent, decision.reason)
        if not gate.approvals.is_granted(question):
            gate.approvals.settle(question, self.approved)
        return Decision("allow", "approved")
