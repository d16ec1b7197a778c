"""The state of a conversation: what is kept, and what is refused."""

import json
import pickle
from typing import Any

import pytest

from satchel.errors import StateError
from satchel.model import Activation
from satchel.runtime import SavedState, dump_state, merge_states, parse_state

HOUSE = Activation("house", "sha256:1", 10.0, 40)
PDF = Activation("pdf", "sha256:2", 20.0, 50)


def of(*active: Activation) -> SavedState:
    return SavedState(active=active)


def ids(state: SavedState) -> list[str]:
    return [each.id for each in state.active]


def test_a_skill_that_is_loaded_again_keeps_its_place() -> None:
    """Tools come in this order, and a provider's cache ends where it changes."""
    again = Activation("house", "sha256:9", 30.0, 41)

    state = of(HOUSE, PDF).with_active(again)

    assert state.active == (again, PDF)


def test_a_skill_that_was_put_away_comes_back_at_the_end() -> None:
    away = of(HOUSE, PDF).without("house")

    assert (ids(away), list(away.unloaded)) == (["pdf"], ["house"])

    back = away.with_active(HOUSE)

    assert (ids(back), list(back.unloaded)) == (["pdf", "house"], [])

    assert SavedState().without("pdf").unloaded == {"pdf": 0.0}


def test_a_state_is_a_value() -> None:
    state = of(HOUSE)
    state.with_active(PDF)
    state.without("house")

    assert state == of(HOUSE)
    assert hash(state) == hash(of(HOUSE))
    assert pickle.loads(pickle.dumps(state)) == state  # noqa: S301


@pytest.mark.parametrize("order", [1, -1])
def test_states_of_parallel_calls_are_united_and_the_later_load_stands(
    order: int,
) -> None:
    newer = Activation("pdf", "sha256:3", 25.0, 60)
    sql = Activation("sql", "", 21.0)
    one, other = [of(HOUSE, PDF, sql), of(HOUSE, newer)][::order]

    assert set(merge_states(one, other).active) == {HOUSE, newer, sql}


def test_a_reducer_takes_up_an_unload_and_a_later_load() -> None:
    """Frameworks merge what is written into what they have, step by step."""
    loaded = of(HOUSE, PDF)

    unloaded = merge_states(loaded, loaded.without("pdf"))
    assert (ids(unloaded), list(unloaded.unloaded)) == (["house"], ["pdf"])

    later = Activation("pdf", "sha256:2", 30.0, 50)
    again = merge_states(unloaded, unloaded.with_active(later))
    assert (ids(again), list(again.unloaded)) == (["house", "pdf"], [])


def test_a_reducer_takes_up_grants_and_their_end() -> None:
    refund, send = ("tool", "refunds", "refund"), ("tool", "mail", "send")
    one, other = SavedState(grants=(refund,)), SavedState(grants=(send,))
    both = merge_states(one, other)

    assert both.grants == (send, refund)
    assert merge_states(both, both.without_grants()).grants == ()
    assert merge_states(both.without_grants(), both).grants == ()


def test_the_newer_side_says_what_was_told_and_not_found() -> None:
    old = SavedState(snapshot="a", announced="a", not_found=2)

    merged = merge_states(old, SavedState(announced="b"))

    assert (merged.snapshot, merged.announced, merged.not_found) == ("a", "b", 0)


def test_a_dump_is_json_and_holds_no_text() -> None:
    state = SavedState((HOUSE,), {"pdf": 1.0}, (("load", "a", ""),), "e", "t", 2, 1)

    dumped = json.dumps(dump_state(state))

    assert parse_state(dumped) == state
    assert parse_state(json.loads(dumped)) == state
    assert json.loads(dumped)["schema_version"] == 1


def test_what_is_missing_is_empty_and_numbers_may_have_become_floats() -> None:
    """Some stores know only one kind of number."""
    assert parse_state({}) == SavedState()
    assert parse_state({"schema_version": 1, "mood": "good"}) == SavedState()
    assert parse_state({"active": [{"id": "a", "since": 1}]}) == of(Activation("a"))

    dumped: dict[str, Any] = {
        "schema_version": 1.0,
        "misses": 2.0,
        "active": [{"id": "a", "at": 3, "tokens": 4.0}],
    }

    state = parse_state(dumped)

    assert (state.not_found, state.active) == (2, (Activation("a", "", 3.0, 4),))


@pytest.mark.parametrize(
    ("dumped", "why"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "the state: expected an object; got list"),
        ({"schema_version": 2}, "of version 2; this Satchel reads 1"),
        ({"schema_version": "1"}, "schema_version: expected a count"),
        ({"active": {}}, "active: expected a list"),
        ({"active": ["pdf"]}, "active\\[0\\]: expected an object"),
        ({"active": [{"id": ""}]}, "has no id"),
        ({"active": [{"id": 3}]}, "id: expected text"),
        ({"active": [{"id": "a", "at": "now"}]}, "at: expected a number"),
        ({"active": [{"id": "a", "at": float("nan")}]}, "at: expected a finite number"),
        ({"active": [{"id": "a", "at": 10**400}]}, "at: expected a finite number"),
        ({"active": [{"id": "a", "tokens": -1}]}, "tokens: expected a count"),
        ({"unloaded": ["pdf"]}, "unloaded: expected an object"),
        ({"unloaded": {"pdf": True}}, "pdf: expected a number"),
        ({"grants": [["tool", "a"]]}, "grants: expected action, skill and tool"),
        ({"grants": ["abc"]}, "grants: expected action, skill and tool"),
        ({"grants": [["tool", "a", 1]]}, "grants: expected action, skill and tool"),
        ({"misses": True}, "misses: expected a count"),
        ({"misses": 1.5}, "misses: expected a count"),
        ({"edition": None}, "edition: expected text"),
    ],
)
def test_what_is_no_state_is_refused(dumped: Any, why: str) -> None:  # noqa: ANN401
    with pytest.raises(StateError, match=why) as caught:
        parse_state(dumped)

    assert str(caught.value).startswith("this is not the state of a session: ")
