"""Any state of a conversation, merged in any order."""

import json

import pytest
from hypothesis import example, given, strategies as st

from satchel.model import Activation, Savings
from satchel.runtime import SavedState, dump_state, merge_states, parse_state

pytestmark = pytest.mark.property

names = st.sampled_from(["a", "b", "c", "d"])
times = st.integers(0, 5).map(float)
activations = st.builds(
    Activation, names, st.sampled_from(["", "x", "y"]), times, st.integers(0, 3)
)
grants = st.tuples(st.sampled_from(["load", "tool"]), names, st.just("t"))


@st.composite
def states(draw: st.DrawFn) -> SavedState:
    """Draw what a session can have come to: a skill is active or put away."""
    state = SavedState(
        grants=tuple(sorted(draw(st.sets(grants, max_size=3)))),
        snapshot=draw(st.sampled_from(["", "e", "f"])),
        announced=draw(st.sampled_from(["", "e", "f"])),
        not_found=draw(st.integers(0, 3)),
        edits=draw(st.integers(0, 2)),
        savings=Savings(draw(st.integers(0, 9)), draw(st.integers(0, 9))),
        not_found_by_id=draw(st.dictionaries(names, st.integers(1, 3), max_size=2)),
        used=draw(st.frozensets(names, max_size=3)),
        seals=draw(st.frozensets(names, max_size=3)),
        step=draw(names),
        step_at=draw(times),
    )
    for step in draw(st.lists(activations | names, max_size=6)):
        if isinstance(step, Activation):
            state = state.with_active(step)
        else:
            state = state.without(step)
    return state


def content(state: SavedState) -> object:
    """Return what does not depend on which side is the newer one."""
    return (
        frozenset(state.active),
        dict(state.unloaded),
        state.grants,
        state.edits,
        state.savings,
        state.used,
        state.seals,
        (state.step_at, state.step),
    )


def newest(state: SavedState) -> object:
    """Return what the newer side says."""
    return state.snapshot, state.announced, state.not_found, state.not_found_by_id


@pytest.mark.slow
@example(
    SavedState((Activation("a"), Activation("b"))),
    SavedState((Activation("a"),), {"b": 0.0}),
    SavedState((Activation("a"), Activation("c"), Activation("b", "", 1.0))),
)
@given(states(), states(), states())
def test_merging_is_associative_but_for_order(
    a: SavedState, b: SavedState, c: SavedState
) -> None:
    left = merge_states(merge_states(a, b), c)
    right = merge_states(a, merge_states(b, c))

    assert content(left) == content(right)
    assert newest(left) == newest(right)


@given(states(), states())
def test_merging_is_commutative_but_for_order_and_loses_nothing(
    one: SavedState, other: SavedState
) -> None:
    """A skill is never active and put away."""
    merged = merge_states(one, other)

    assert content(merged) == content(merge_states(other, one))
    newest_step = max((side.step_at, side.step) for side in (one, other))
    at_step = [s for s in (one, other) if (s.step_at, s.step) == newest_step]
    assert merged.used == frozenset().union(*(side.used for side in at_step))
    assert merged.seals == one.seals | other.seals
    active = [activation.id for activation in merged.active]
    assert len(active) == len(set(active))
    assert not set(active) & set(merged.unloaded)
    sides = {activation.id for state in (one, other) for activation in state.active}
    known = {*active, *merged.unloaded}
    assert known == sides | {*one.unloaded, *other.unloaded}


@pytest.mark.slow
@given(states())
def test_a_state_reads_back_and_merged_with_itself_is_itself(state: SavedState) -> None:
    assert merge_states(state, state) == state
    assert merge_states(SavedState(), state) == state
    assert parse_state(dump_state(state)) == state
    assert parse_state(json.dumps(dump_state(state))) == state
