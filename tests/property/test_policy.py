"""Any policy, any question."""

from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st

from satchel.model import Action, Verdict
from satchel.policy import Policy, PolicyRule, allow, ask, deny

pytestmark = pytest.mark.property

PERMISSIVE = {"deny": 0, "ask": 1, "allow": 2}


def raising(who: Mapping[str, Any]) -> object:
    return who["nobody"]


def admin(who: Mapping[str, Any]) -> object:
    return who.get("admin")


actions = st.sampled_from(get_args(Action))
names = st.sampled_from(["a", "a-b", "b", "pay-1", "[x]"])
patterns = st.sampled_from(["*", "a", "a*", "?", "pay-*", "[ab]", "[!a]*", "[x]", ""])
conditions = st.sampled_from([None, raising, admin])
whos = st.sampled_from([{}, {"admin": True}, {"admin": False}])


@st.composite
def rules(draw: st.DrawFn, make: Callable[..., PolicyRule] | None = None) -> PolicyRule:
    """Draw a rule that can match."""
    make = make or draw(st.sampled_from([allow, ask, deny]))
    tool = draw(st.none() | patterns)
    said = draw(st.sets(actions))
    if tool is not None and said:
        said.add("tool")
    if make is ask and said:
        said.add("load")
    return make(
        draw(patterns),
        action=said,
        tool=tool,
        when=draw(conditions),
        unless=draw(conditions),
    )


questions = st.fixed_dictionaries(
    {"action": actions, "skill": names, "who": whos, "tool": names}
    | {"raw": st.booleans()}
)
many = st.lists(rules(), max_size=5)


def verdict(rules: list[PolicyRule], question: dict[str, Any]) -> Verdict:
    return Policy(*rules).decide(**question).verdict


@given(many, rules(deny), questions)
def test_a_denial_in_front_never_lets_more_through(
    rest: list[PolicyRule], first: PolicyRule, question: dict[str, Any]
) -> None:
    before, after = verdict(rest, question), verdict([first, *rest], question)

    assert after in (before, "deny")


@given(many, questions)
def test_the_first_rule_that_matches_decides(
    rest: list[PolicyRule], question: dict[str, Any]
) -> None:
    """The rules behind it change nothing, and neither do those that do not match."""
    policy = Policy(*rest)
    decision = policy.decide(**question)
    if not decision.by_rule:
        assert decision == Policy().decide(**question)
        return

    number = next(
        end
        for end in range(1, len(rest) + 1)
        if Policy(*rest[:end]).decide(**question).by_rule
    )
    assert verdict(rest[:number], question) == decision.verdict
    assert verdict(rest[number - 1 : number], question) == decision.verdict


@pytest.mark.row("R20")
@given(many, questions)
def test_what_raises_denies(rest: list[PolicyRule], question: dict[str, Any]) -> None:
    """Every policy decides, whatever its conditions do."""
    policy = Policy(*rest)
    decision = policy.decide(**question)

    assert ("raised" in decision.reason) <= (decision.verdict == "deny")
    assert bool(policy.problems) == ("raised" in decision.reason)


@given(many, questions)
def test_no_one_is_asked_to_list_or_find(
    rest: list[PolicyRule], question: dict[str, Any]
) -> None:
    if question["action"] in ("list", "find"):
        assert verdict(rest, question) != "ask"


@given(rules(), questions)
def test_a_category_only_ever_narrows(
    rule: PolicyRule, question: dict[str, Any]
) -> None:
    """A pack that calls itself raw is let do no more than one that does not."""
    raw = verdict([rule], {**question, "raw": True})
    standard = verdict([rule], {**question, "raw": False})

    assert PERMISSIVE[raw] <= PERMISSIVE[standard]
