"""Policy: what each rule says, and what holds where none does."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from satchel.model import Action, Decision, Verdict
from satchel.policy import OPEN_POLICY, Policy, PolicyRule, allow, ask, deny

ANA = {"user": "ana", "groups": {"payments"}}
PAYMENTS = deny("payments-*", unless=lambda who: "payments" in who["groups"])


def verdict(
    policy: Policy,
    action: Action = "load",
    skill: str = "pdf",
    who: dict[str, Any] | None = None,
    **more: Any,  # noqa: ANN401 - the rest of the question
) -> Verdict:
    return policy.decide(action, skill, who or {}, **more).verdict


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("list", "allow"),
        ("find", "allow"),
        ("load", "allow"),
        ("read", "allow"),
        ("tool", "allow"),
        ("script", "deny"),
    ],
)
def test_without_a_rule_all_but_scripts_is_allowed(
    action: Action, expected: Verdict
) -> None:
    """Reading is never asked for by default."""
    assert verdict(OPEN_POLICY, action) == expected


@pytest.mark.row("E18")
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(), "deny"),
        (Policy(allow("other")), "deny"),
        (Policy(allow("pdf", action="load")), "deny"),
        (Policy(allow("pdf", tool="other")), "deny"),
        (Policy(allow("pdf", tool="render")), "allow"),
        (Policy(ask("pdf")), "ask"),
    ],
)
def test_the_tools_of_a_raw_skill_need_a_rule(
    policy: Policy, expected: Verdict
) -> None:
    assert verdict(policy, "tool", tool="render", raw=True) == expected
    assert verdict(policy, "list", raw=True) == "allow"


@pytest.mark.row("E18")
@pytest.mark.parametrize(
    ("tool", "expected"),
    [("look_up", "allow"), ("refund", "ask"), ("drop_table", "deny")],
)
def test_each_tool_of_a_skill_is_safe_asked_about_or_blocked(
    tool: str, expected: Verdict
) -> None:
    policy = Policy(ask("pay", tool="refund"), deny("pay", tool="drop_*"))

    assert verdict(policy, "tool", "pay", tool=tool) == expected
    assert verdict(policy, "load", "pay") == "allow"


def test_the_first_rule_that_matches_decides_and_is_named() -> None:
    policy = Policy(allow("a-b"), deny("a-*"), ask("*"))

    assert [policy.decide("load", skill, {}) for skill in ("a-b", "a-c", "d")] == [
        Decision("allow", "rule 1", by_rule=True),
        Decision("deny", "rule 2", by_rule=True),
        Decision("ask", "the policy asks before this skill is loaded", by_rule=True),
    ]


@pytest.mark.row("T08")
@pytest.mark.parametrize("action", ["load", "read", "tool", "script"])
def test_somebody_who_is_asked_reads_why_and_no_number(action: Action) -> None:
    said = Policy(ask("*")).decide(action, "pay", {}).reason
    given = Policy(ask("*", reason="It costs money.")).decide(action, "pay", {}).reason

    assert "rule" not in said
    assert said.startswith("the policy asks before ")
    assert given == "It costs money."


def test_the_operator_reads_which_rule_denies_and_why() -> None:
    policy = Policy(deny("a"), deny("b", reason="It is retired."))

    assert policy.decide("load", "a", {}).reason == "rule 1"
    assert policy.decide("load", "b", {}).reason == "rule 2: It is retired."
    with pytest.raises(TypeError):
        deny("a", reason=5)  # type: ignore[arg-type]


def test_patterns_tell_upper_and_lower_case_apart() -> None:
    assert verdict(Policy(deny("PDF")), skill="pdf") == "allow"


@pytest.mark.parametrize("action", ["list", "find"])
def test_nobody_is_asked_about_a_list(action: Action) -> None:
    """The rule has no say there, so that the next one has."""
    assert verdict(Policy(ask("*")), action) == "allow"
    assert verdict(Policy(ask("*"), deny("*")), action) == "deny"


@pytest.mark.parametrize(
    ("rule", "who", "expected"),
    [
        (PAYMENTS, ANA, "allow"),
        (PAYMENTS, {"groups": ()}, "deny"),
        (allow("*", when=lambda who: who["user"] == "ana"), ANA, "allow"),
        (deny("*", when=lambda who: who["user"] == "ana"), ANA, "deny"),
        (deny("*", when=lambda who: who.get("user")), {}, "allow"),
    ],
)
def test_conditions_are_given_who(
    rule: PolicyRule, who: dict[str, object], expected: Verdict
) -> None:
    assert verdict(Policy(rule), skill="payments-eu", who=who) == expected


async def later(who: object) -> bool:
    return True


@pytest.mark.row("R20")
@pytest.mark.parametrize("make", [allow, ask, deny])
@pytest.mark.parametrize("where", ["when", "unless"])
@pytest.mark.parametrize(
    ("condition", "kind"),
    [(lambda who: "x" in who["groups"], "KeyError"), (later, "TypeError")],
    ids=["raises", "async"],
)
def test_a_rule_that_raises_denies_with_a_finding(
    make: Callable[..., PolicyRule], where: str, condition: object, kind: str
) -> None:
    """An async condition raises too: a coroutine counts as true, and would let in."""
    policy = Policy(make("payments-*", **{where: condition}), allow("*"))

    for _ in range(2):
        assert policy.decide("load", "payments-eu", {}) == Decision(
            "deny", f"rule 1 raised {kind}", by_rule=True
        )

    (found,) = policy.problems
    assert (found.code, found.severity) == ("rule-raised", "error")
    assert f"rule 1 of the policy, {make.__name__}('payments-*')" in found.message
    assert verdict(policy, skill="pdf") == "allow"


@pytest.mark.row("R20")
def test_a_finding_holds_nothing_of_who() -> None:
    policy = Policy(deny("*", when=lambda who: int(who["user"])))

    policy.decide("load", "pdf", {"user": "ana@example.org"})

    assert "ana" not in str(policy.problems)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Policy("payments-*"),  # type: ignore[arg-type]
        lambda: Policy([deny("*")]),  # type: ignore[arg-type]
        lambda: deny(["a", "b"]),  # type: ignore[arg-type]
        lambda: deny("*", tool=3),  # type: ignore[arg-type]
    ],
    ids=["text", "list", "patterns", "number"],
)
def test_what_is_no_rule_is_refused_at_once(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="expected"):
        make()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: deny("*", action="laod"), "no such action: \\['laod'\\]"),  # type: ignore[arg-type]
        (lambda: deny("*", action="load", tool="t"), "about the action 'tool'"),
        (lambda: ask("*", action=["list", "find"]), "nobody is asked to list"),
    ],
    ids=["action", "tool", "ask"],
)
def test_a_rule_that_could_never_match_is_refused(
    make: Callable[[], object], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        make()


def test_a_policy_shows_its_rules() -> None:
    policy = Policy(
        deny("a", action=["read", "load"]), ask("b", tool="refund"), allow()
    )

    assert repr(policy) == (
        "Policy(deny('a', action=['load', 'read']), ask('b', tool='refund'), "
        "allow('*'))"
    )
    assert repr(OPEN_POLICY) == "Policy()"
    assert [str(rule) for rule in policy.rules][2] == "allow('*')"


def test_many_threads_may_ask_one_policy() -> None:
    def nobody(number: int) -> Callable[[object], object]:
        return lambda _: [][number]

    policy = Policy(*(deny(f"{n}-*", when=nobody(n)) for n in range(200)))

    def ask_all() -> None:
        for n in range(200):
            policy.decide("load", f"{n}-x", {})
            assert policy.problems

    threads = [threading.Thread(target=ask_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(policy.problems) == 200
