"""Who may do what with which skill: allow, ask or deny, by pattern.

::

    Policy(deny("payments-*", unless=lambda who: "payments" in who["groups"]),
           ask("refunds", tool="refund"))

The first rule that matches decides. Without one, running a script is denied, so is a
tool of a skill that calls itself raw, and everything else is allowed.
"""

import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias, TypedDict, Unpack, cast, get_args

from satchel.model import Action, Decision, Finding, Verdict

Condition: TypeAlias = Callable[[Mapping[str, Any]], object]
"""Is given ``who``; what it returns is taken as true or false."""

Actions: TypeAlias = Action | Iterable[Action]
"""One action, or several; none are all of them."""

_ACTIONS: Final = frozenset(get_args(Action))
_WHAT_IS_ASKED: Final[dict[str, str]] = {
    "load": "this skill is loaded",
    "read": "a file of this skill is read",
    "tool": "this tool is called",
    "script": "a script of this skill is run",
}
# What stands between the parts of a name that a framework or client has put together,
# such as `mcp__payments__refund`.
_SEPARATOR: Final = re.compile(r"__|[./:]")
# What is done without a call that could wait, so that nobody can be asked.
_SILENT: Final = frozenset({"list", "find"})


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One line of a policy; made by `allow`, `ask` and `deny`.

    ``pattern`` is a shell pattern (``*``, ``?``, ``[...]``) over skill ids, and
    ``tool`` one over tool names, which limits the rule to tools. No ``actions`` are
    all of them. ``when`` has to hold for the rule to match and ``unless`` not to.
    ``reason`` says why, for the person who is asked and for the operator. A rule that
    names no skill or tool is reported, unless ``missing_ok``.

    Raises:
        TypeError: A pattern or the reason is no text.
        ValueError: There is no such action, or the rule could never match.
    """

    verdict: Verdict
    pattern: str = "*"
    actions: frozenset[Action] = frozenset()
    tool: str | None = None
    when: Condition | None = None
    unless: Condition | None = None
    reason: str = ""
    missing_ok: bool = False

    def __post_init__(self) -> None:
        # A rule that never matches would let be done what it was meant to deny.
        for pattern in (self.pattern, self.tool or ""):
            if type(cast("object", pattern)) is not str:
                raise TypeError(f"expected a shell pattern; got {pattern!r}")
        if type(cast("object", self.reason)) is not str:
            raise TypeError(f"the reason of a rule is a text, not {self.reason!r}")
        unknown = self.actions - _ACTIONS
        if unknown:
            actions = ", ".join(sorted(_ACTIONS))
            raise ValueError(f"no such action: {sorted(unknown)}; known: {actions}")
        if self.tool is not None and self.actions and "tool" not in self.actions:
            raise ValueError(f"{self} never matches: tool= is about the action 'tool'")
        if self.verdict == "ask" and self.actions and self.actions <= _SILENT:
            raise ValueError(f"{self} never matches: nobody is asked to list or find")

    def __str__(self) -> str:
        parts = [repr(self.pattern)]
        if self.actions:
            parts.append(f"action={sorted(self.actions)}")
        if self.tool is not None:
            parts.append(f"tool={self.tool!r}")
        return f"{self.verdict}({', '.join(parts)})"

    def matches(
        self, action: Action, skill: str, who: Mapping[str, Any], tool: str
    ) -> bool:
        """Return whether the rule applies; what a condition raises goes on.

        A question cannot be put about listing and finding, so ``ask`` has no say there.
        """
        if self.actions and action not in self.actions:
            return False
        if self.tool is not None and not (
            action == "tool" and fnmatchcase(tool, self.tool)
        ):
            return False
        if self.verdict == "ask" and action in _SILENT:
            return False
        if not fnmatchcase(skill, self.pattern):
            return False
        if self.when is not None and not _holds(self.when, who):
            return False
        return self.unless is None or not _holds(self.unless, who)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A skill that a model must have read before it calls a tool; made by `require`.

    ``skill`` is an id, and ``tool`` a shell pattern over the names of all tools of an
    agent, of skills or not.
    """

    skill: str
    tool: str

    def __post_init__(self) -> None:
        for text in (self.skill, self.tool):
            if type(cast("object", text)) is not str or not text:
                raise TypeError(f"expected an id and a tool's name; got {text!r}")

    def __str__(self) -> str:
        return f"require({self.skill!r}, tool={self.tool!r})"

    def is_of(self, tool: str) -> bool:
        """Return whether a tool is meant, also under the name that others make of it.

        Such as ``mcp__payments__refund`` or ``Refund`` for ``refund``.
        """
        pattern = self.tool.casefold().replace("-", "_")
        names = (name.casefold().replace("-", "_") for name in (tool, bare_name(tool)))
        return any(fnmatchcase(name, pattern) for name in names)


def bare_name(tool: str) -> str:
    """Return the last part of a name that a framework or client has put together."""
    return _SEPARATOR.split(tool)[-1]


class Policy:
    """Rules in order; the first that matches decides, and one that raises denies.

    Requirements are no part of that order: each holds whatever a rule allows.

    Raises:
        TypeError: Something else than a rule is among them.
    """

    def __init__(self, *rules: PolicyRule | Requirement) -> None:
        for rule in rules:
            if not isinstance(cast("object", rule), PolicyRule | Requirement):
                made_by = "allow, ask, deny, require"
                raise TypeError(f"expected rules ({made_by}); got {rule!r}")
        self._rules = tuple(one for one in rules if isinstance(one, PolicyRule))
        self.requirements = tuple(one for one in rules if isinstance(one, Requirement))
        """The skills that tools need."""
        self._problems: dict[tuple[int, str], Finding] = {}

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """The rules, the first to be asked first."""
        return self._rules

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The rules that raised when they were asked, and so denied.

        Each is told once for every class of error, in the order of the rules; no value
        of ``who`` is in it.
        """
        return tuple(finding for _, finding in sorted([*self._problems.items()]))

    def __repr__(self) -> str:
        rules = (*self.requirements, *self._rules)
        return f"Policy({', '.join(map(str, rules))})"

    def decide(
        self,
        action: Action,
        skill: str,
        who: Mapping[str, Any],
        *,
        tool: str = "",
        raw: bool = False,
    ) -> Decision:
        """Return what holds for one action on one skill.

        ``raw`` is whether the skill calls itself raw: its tools are denied unless a
        rule says otherwise.
        """
        for number, rule in enumerate(self._rules, 1):
            try:
                if rule.matches(action, skill, who, tool):
                    reason = _reason(rule, number, action)
                    return Decision(rule.verdict, reason, True, action)  # noqa: FBT003
            # To go on would let through what this rule may forbid.
            except Exception as error:  # noqa: BLE001 - a condition is a plug-in
                kind = type(error).__name__
                finding = Finding.of("rule-raised", number=number, rule=rule, kind=kind)
                # One step, since several threads may ask at the same time.
                self._problems.setdefault((number, kind), finding)
                reason = f"rule {number} raised {kind}"
                return Decision("deny", reason, True, action)  # noqa: FBT003
        if action == "script":
            reason = "scripts are denied unless a rule allows them"
            return Decision("deny", reason, action=action)
        if raw and action == "tool":
            reason = "a raw skill's tools need a rule that allows them"
            return Decision("deny", reason, action=action)
        return Decision("allow", action=action)


OPEN_POLICY: Final = Policy()
"""No rules: the defaults alone."""


class RuleOptions(TypedDict, total=False):
    """What a rule can say besides its pattern and actions; see `PolicyRule`."""

    tool: str | None
    when: Condition | None
    unless: Condition | None
    reason: str
    missing_ok: bool


def allow(
    pattern: str = "*", action: Actions = (), **options: Unpack[RuleOptions]
) -> PolicyRule:
    """Return a rule that lets it be done."""
    return _rule("allow", pattern, action, options)


def ask(
    pattern: str = "*", action: Actions = (), **options: Unpack[RuleOptions]
) -> PolicyRule:
    """Return a rule by which somebody is asked first.

    ``reason`` is what they read; by default that the policy asks.
    """
    return _rule("ask", pattern, action, options)


def deny(
    pattern: str = "*", action: Actions = (), **options: Unpack[RuleOptions]
) -> PolicyRule:
    """Return a rule by which it is not done."""
    return _rule("deny", pattern, action, options)


def require(skill: str, *, tool: str) -> Requirement:
    """Return a rule by which a tool waits until the model has read a skill.

    A call that comes too early is not made; its result has the skill's instructions.
    """
    return Requirement(skill, tool)


def _rule(
    verdict: Verdict, pattern: str, action: Actions, options: RuleOptions
) -> PolicyRule:
    actions = frozenset((action,) if isinstance(action, str) else action)
    return PolicyRule(verdict, pattern, actions, **options)


def _reason(rule: PolicyRule, number: int, action: Action) -> str:
    """Say why, for the person who is asked; and which rule it was, for the operator."""
    if rule.verdict == "ask":
        return rule.reason or f"the policy asks before {_WHAT_IS_ASKED[action]}"
    return f"rule {number}" + (f": {rule.reason}" if rule.reason else "")


def _holds(condition: Condition, who: Mapping[str, Any]) -> bool:
    """Return what a condition says of ``who``; TypeError if it is async."""
    answer = condition(who)
    if isinstance(answer, Coroutine):
        # A coroutine would count as true.
        answer.close()
        raise TypeError("a condition of a policy cannot be async")
    return bool(answer)
