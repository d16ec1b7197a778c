"""Who may do what with which skill: allow, ask or deny, by pattern.

    Policy(
        deny("payments-*", unless=lambda who: "payments" in who["groups"]),
        ask("refunds", tool="refund"),
    )

The first rule that matches decides. Without one, running a script is denied, so is a
tool of a skill that calls itself raw, and everything else is allowed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from satchel.model import Action, Decision, Verdict

__all__ = ["OPEN_POLICY", "Policy", "Rule", "allow", "ask", "deny"]

Condition = Callable[[Mapping[str, object]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a policy; made by `allow`, `ask` and `deny`.

    ``pattern`` is a shell pattern (``*``, ``?``, ``[...]``) over skill ids, and
    ``tool`` one over tool names, which limits the rule to tools. No ``actions`` are
    all of them. ``when`` has to hold for the rule to match and ``unless`` not to.
    """

    verdict: Verdict
    pattern: str = "*"
    actions: frozenset[Action] = frozenset()
    tool: str | None = None
    when: Condition | None = None
    unless: Condition | None = None

    def matches(
        self, action: Action, skill: str, who: Mapping[str, object], tool: str
    ) -> bool:
        """Tell whether the rule has something to say; what a condition raises goes on.

        A question cannot be put about listing and finding, so ``ask`` has no say there.
        """
        if self.actions and action not in self.actions:
            return False
        if self.tool is not None and not (
            action == "tool" and fnmatchcase(tool, self.tool)
        ):
            return False
        if self.verdict == "ask" and action in ("list", "find"):
            return False
        if not fnmatchcase(skill, self.pattern):
            return False
        if self.when is not None and not self.when(who):
            return False
        return self.unless is None or not self.unless(who)


class Policy:
    """Rules in order; the first that matches decides, and one that raises denies."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def decide(
        self,
        action: Action,
        skill: str,
        who: Mapping[str, object],
        *,
        tool: str = "",
        raw: bool = False,
    ) -> Decision:
        """Return what holds for one action on one skill.

        ``raw`` is whether the skill calls itself raw: its tools are denied unless a
        rule says otherwise (E18).
        """
        for number, rule in enumerate(self.rules, 1):
            try:
                if rule.matches(action, skill, who, tool):
                    return Decision(rule.verdict, f"rule {number}", by_rule=True)
            except Exception as error:  # noqa: BLE001 - a condition is a plug-in: R20
                reason = f"rule {number} raised {type(error).__name__}"
                return Decision("deny", reason, by_rule=True)
        if action == "script":
            return Decision("deny", "scripts are denied unless a rule allows them")
        if raw and action == "tool":
            return Decision("deny", "a raw skill's tools need a rule that allows them")
        return Decision("allow")


OPEN_POLICY: Final = Policy()
"""No rules: the defaults alone."""


def allow(
    pattern: str = "*",
    *,
    action: Action | Iterable[Action] = (),
    tool: str | None = None,
    when: Condition | None = None,
    unless: Condition | None = None,
) -> Rule:
    """Return a rule that lets it be done."""
    return Rule("allow", pattern, _actions(action), tool, when, unless)


def ask(
    pattern: str = "*",
    *,
    action: Action | Iterable[Action] = (),
    tool: str | None = None,
    when: Condition | None = None,
    unless: Condition | None = None,
) -> Rule:
    """Return a rule by which somebody is asked first."""
    return Rule("ask", pattern, _actions(action), tool, when, unless)


def deny(
    pattern: str = "*",
    *,
    action: Action | Iterable[Action] = (),
    tool: str | None = None,
    when: Condition | None = None,
    unless: Condition | None = None,
) -> Rule:
    """Return a rule by which it is not done."""
    return Rule("deny", pattern, _actions(action), tool, when, unless)


def _actions(action: Action | Iterable[Action]) -> frozenset[Action]:
    return frozenset((action,) if isinstance(action, str) else action)
