"""Whether a load, a read or a call may happen: the policy first, then a person."""

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

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
from satchel.protocols import Approver

if TYPE_CHECKING:
    from satchel.runtime._approvals import Approvals, Grant


class Authorizer:
    """Asks the policy for one user, and a person where the policy says ask."""

    def __init__(
        self,
        policy: Policy,
        who: Mapping[str, object],
        *,
        agent: str = "",
        approve: Approver | None = None,
        grants: "Iterable[Grant]" = (),
    ) -> None:
        """Take who asks; ``grants`` are what was approved in the session before."""
        self.who = who
        self.has_rules = bool(policy.rules)
        self.asks = any(rule.verdict == "ask" for rule in policy.rules)
        self._policy = policy
        self._agent = agent
        self._approve = approve
        self._grants = grants
        self._lock = threading.Lock()
        self._approvals: Approvals | None = None

    @property
    def approvals(self) -> "Approvals":
        """What was answered, and who is asked next."""
        # One for all threads of a session: with two, an answer would be lost.
        with self._lock:
            if self._approvals is None:
                # Most policies ask nobody, and wait for none of it.
                from satchel.runtime._approvals import Approvals

                self._approvals = Approvals(self._approve, self._grants)
            return self._approvals

    def decide(
        self, action: Action, skill: Descriptor, tool: str = "", identity: str = ""
    ) -> Decision:
        """Return what holds now; a yes for the session counts. No person is asked."""
        decision = self._policy.decide(
            action, skill.id, self.who, tool=tool, raw=skill.category == "raw"
        )
        # A denial is never looked up: no grant of a person opens what a rule closes.
        if decision.verdict == "ask" and self.approvals.is_granted(
            self.question(decision, skill, tool, identity=identity)
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
        identity: str = "",
    ) -> Question:
        return Question(
            decision.action,
            skill.id,
            tool,
            dict(arguments or {}),
            self.who,
            self._agent,
            decision.reason,
            identity,
        )

    def decide_load(
        self,
        entry: Descriptor | None,
        request: Request,
        reply: Reply | None = None,
        answered: dict[Action, Decision] | None = None,
    ) -> Decision:
        """Return what holds for one load; where the policy says ask, a person is asked.

        A request for what is not there is allowed: `satchel.load.load` says what is
        wrong with it. ``reply`` is the answer of a framework's own approval, a yes or a
        no; ``answered`` is what was decided for an earlier attempt of the same load.
        """
        if entry is None:
            return ALLOWED
        if request.file is None:
            return self._require("load", entry, reply, answered)
        # SKILL.md can be asked for as a file; then both actions have to be allowed.
        decision = self._require("read", entry, reply, answered)
        if decision.verdict == "allow":
            try:
                file = resolve(entry, request.file)
            except SkillError:
                return ALLOWED  # `load` raises it again
            if file == SKILL_FILE:
                return self._require("load", entry, reply, answered)
        return decision

    def _require(
        self,
        action: Action,
        entry: Descriptor,
        reply: Reply | None,
        answered: dict[Action, Decision] | None,
    ) -> Decision:
        # A pack that was edited is loaded again: no question is put twice.
        if answered and action in answered:
            return answered[action]
        decision = self.decide(action, entry)
        # A person's no counts even where the policy asks no one about this action.
        is_no = reply is not None and not reply.is_yes
        if decision.verdict != "ask" and not is_no:
            return decision
        self.approvals.require_yes(self.question(decision, entry), reply)
        decision = Decision("allow", "approved", action=action)
        if answered is not None:
            answered[action] = decision
        return decision
