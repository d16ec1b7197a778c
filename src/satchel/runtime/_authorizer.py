"""Whether something may be done: the one place that asks the policy."""

from collections.abc import Mapping

from satchel.errors import SkillError
from satchel.load import ALLOWED, resolve
from satchel.model import (
    SKILL_FILE,
    Action,
    Decision,
    Descriptor,
    Question,
    Reply,
    Request,
)
from satchel.policy import Policy
from satchel.runtime._approvals import Approvals


class Authorizer:
    """Asks the policy for one user, and a person where the policy says ask.

    ``asks`` says whether any rule asks somebody, ``has_rules`` whether there are any.
    """

    def __init__(
        self,
        policy: Policy,
        who: Mapping[str, object],
        *,
        agent: str = "",
        approvals: Approvals | None = None,
    ) -> None:
        """Take the policy, and who may be asked; None is no one."""
        self.who = who
        self.approvals = approvals or Approvals()
        self.has_rules = bool(policy.rules)
        self.asks = any(rule.verdict == "ask" for rule in policy.rules)
        self._policy = policy
        self._agent = agent

    def decide(self, action: Action, skill: Descriptor, tool: str = "") -> Decision:
        """Return what holds now; a yes for the session counts. No person is asked."""
        decision = self._policy.decide(
            action, skill.id, self.who, tool=tool, raw=skill.category == "raw"
        )
        if decision.verdict == "ask" and self.approvals.is_granted(
            self.question(decision, skill, tool)
        ):
            return Decision("allow", "granted for this session", action=action)
        return decision

    def may(self, action: Action, skill: Descriptor, tool: str = "") -> bool:
        """Return whether it is not denied outright."""
        return self.decide(action, skill, tool).verdict != "deny"

    def question(
        self,
        decision: Decision,
        skill: Descriptor,
        tool: str = "",
        arguments: Mapping[str, object] | None = None,
    ) -> Question:
        """Return what somebody is asked where this is the decision."""
        return Question(
            decision.action,
            skill.id,
            tool,
            dict(arguments or {}),
            self.who,
            self._agent,
            decision.reason,
        )

    def decide_load(
        self,
        entry: Descriptor | None,
        request: Request,
        approved: Reply | None = None,
        answered: dict[Action, Decision] | None = None,
    ) -> Decision:
        """Return what holds for one load; where the policy says ask, a person is asked.

        ``entry`` is what `satchel.load.find_loadable` finds. A request for what is not
        there is allowed: `satchel.load.load` says what is wrong with it. ``approved``
        is the answer of a framework's own approval, and
        ``answered`` what was decided for an earlier attempt of the same load:
        no question is put twice.

        Raises:
            ApprovalNeededError: There is no one to ask.
            ApprovalDeclinedError: Somebody said no.
        """
        if entry is None:
            return ALLOWED
        if request.file is None:
            return self._settle("load", entry, approved, answered)
        # SKILL.md can be asked for as a file; then both actions have to be allowed.
        decision = self._settle("read", entry, approved, answered)
        if decision.verdict == "allow":
            try:
                file = resolve(entry, request.file)
            except SkillError:
                return ALLOWED
            if file == SKILL_FILE:
                return self._settle("load", entry, approved, answered)
        return decision

    def _settle(
        self,
        action: Action,
        entry: Descriptor,
        approved: Reply | None,
        answered: dict[Action, Decision] | None,
    ) -> Decision:
        if answered and action in answered:
            return answered[action]
        decision = self.decide(action, entry)
        # A person's no counts even where the policy asks no one about this action.
        is_no = approved is not None and not approved.is_yes
        if decision.verdict != "ask" and not is_no:
            return decision
        self.approvals.settle(self.question(decision, entry), approved)
        decision = Decision("allow", "approved", action=action)
        if answered is not None:
            answered[action] = decision
        return decision
