"""The one place where a session asks whether something may be done."""

from collections.abc import Mapping
from dataclasses import dataclass

from satchel.model import Action, Decision, Descriptor, Question, Reply
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

    def asking(self, *, approved: Reply | None = None) -> "Asking":
        """Return a policy for one load, which asks where this one says ask."""
        return Asking(self, approved)


@dataclass(frozen=True, slots=True)
class Asking:
    """A policy whose questions have been put when it decides."""

    gate: Gate
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
