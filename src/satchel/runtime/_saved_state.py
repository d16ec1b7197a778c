"""The saved state of a conversation: as JSON, merged, and sealed approvals in it.

Where others can write a conversation's state (messages that a browser keeps, an API
that takes changes of the state), a yes in it counts only with a seal. A seal is made
with a key that never leaves the process, and is for one yes of one agent for one user.
"""

import hmac
import json
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from reprlib import repr as short_repr
from typing import TYPE_CHECKING, Final, cast

from satchel.errors import StateError
from satchel.model import Activation, Finding, Savings
from satchel.runtime._approvals import Grant
from satchel.runtime._session_state import SavedState
from satchel.runtime._used_approvals import fingerprint

if TYPE_CHECKING:
    from satchel.runtime._options import SessionSettings

SCHEMA_VERSION: Final = 1
_LIST: Final = (list, tuple)
# Characters of a seal: 128 bits.
_SEAL_CHARS: Final = 32


def dump_state(state: SavedState) -> dict[str, object]:
    """Return what `parse_state` takes; safe for JSON."""
    # The names of the keys are those of the first states: old ones are still read.
    # What most conversations do not have costs a stored state no bytes.
    rare: dict[str, object] = {
        "missed": dict(state.not_found_by_id),
        "used": sorted(state.used),
        "seals": sorted(state.seals),
        "step": state.step,
        "step_at": state.step_at,
        "work": state.work,
        "ready": sorted(state.ready),
        "sees": state.sees,
        "conversation": state.conversation,
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "active": [asdict(skill) for skill in state.active],
        "unloaded": dict(state.unloaded),
        "grants": [list(grant) for grant in state.grants],
        "edition": state.snapshot,
        "told": state.announced,
        "misses": state.not_found,
        "asked": sorted(state.asked),
        "edits": state.edits,
        "saved": asdict(state.savings),
        **{key: value for key, value in rare.items() if value},
    }


def read_state(dumped: object) -> tuple[SavedState, tuple[Finding, ...]]:
    """Return the state that `dump_state` gave, or an empty one and what is wrong.

    Never raises: a state that cannot be read must not end a conversation.
    """
    try:
        return parse_state(cast("Mapping[str, object] | str", dumped)), ()
    except StateError as error:
        return SavedState(), (Finding.of("invalid-state", problem=error),)


def parse_state(dumped: Mapping[str, object] | str) -> SavedState:
    """Return the state that `dump_state` gave, as a mapping or its JSON text.

    Fields that are missing are empty; unknown ones are left out.
    """
    try:
        parsed: object = json.loads(dumped) if isinstance(dumped, str) else dumped
    except (ValueError, RecursionError) as error:
        raise StateError(f"it is no JSON: {error}") from None
    given = _mapping(parsed, "the state")
    version = _count(given, "schema_version", SCHEMA_VERSION)
    if version > SCHEMA_VERSION:
        raise StateError(
            f"it is of version {version}; this Satchel reads {SCHEMA_VERSION}"
        )
    unloaded = _mapping(given.get("unloaded", {}), "unloaded")
    missed = _mapping(given.get("missed", {}), "missed")
    saved = _mapping(given.get("saved", {}), "saved")
    return SavedState(
        active=tuple(
            _activation(_mapping(item, f"active[{n}]"))
            for n, item in enumerate(_items(given, "active"))
        ),
        unloaded={id: _number(unloaded, id) for id in unloaded},
        grants=tuple(sorted({_grant(item) for item in _items(given, "grants")})),
        snapshot=_text(given, "edition"),
        announced=_text(given, "told"),
        not_found=_count(given, "misses"),
        not_found_by_id={id: _count(missed, id) for id in missed},
        edits=_count(given, "edits"),
        savings=Savings(_count(saved, "prefix_tokens"), _count(saved, "repeat_tokens")),
        asked=_texts(given, "asked"),
        used=_texts(given, "used"),
        seals=_texts(given, "seals"),
        step=_text(given, "step"),
        step_at=_number(given, "step_at"),
        work=_text(given, "work"),
        ready=_texts(given, "ready"),
        sees=given.get("sees") is True,
        conversation=_text(given, "conversation"),
    )


def _activation(given: Mapping[str, object]) -> Activation:
    skill_id = _text(given, "id")
    if not skill_id:
        raise StateError("an active skill has no id")
    digest, at = _text(given, "digest"), _number(given, "at")
    return Activation(skill_id, digest, at, _count(given, "tokens"))


def _grant(given: object) -> Grant:
    is_list = issubclass(type(given), _LIST)
    match tuple(cast("Sequence[object]", given)) if is_list else ():
        case (str(action), str(skill), str(tool)):
            return action, skill, tool
        case _:
            raise _wrong("grants", "action, skill and tool", given)


def _wrong(where: str, expected: str, got: object) -> StateError:
    return StateError(f"{where}: expected {expected}; got {short_repr(got)}")


def _texts(given: Mapping[str, object], key: str) -> frozenset[str]:
    texts = _items(given, key)
    if not all(isinstance(text, str) for text in texts):
        raise _wrong(key, "texts", texts)
    return frozenset(cast("Sequence[str]", texts))


def _mapping(given: object, where: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise StateError(f"{where}: expected an object; got {kind}")
    mapping = cast("Mapping[object, object]", given)
    if not all(isinstance(key, str) for key in mapping):
        raise StateError(f"{where}: expected texts as keys")
    return cast("Mapping[str, object]", given)


def _items(given: Mapping[str, object], key: str) -> Sequence[object]:
    value = given.get(key, ())
    if not isinstance(value, _LIST):
        raise _wrong(key, "a list", value)
    return cast("Sequence[object]", value)


def _text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise _wrong(key, "text", value)
    return value


def _count(given: Mapping[str, object], key: str, default: int = 0) -> int:
    value = given.get(key, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # some stores keep every number as a float
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(key, "a count", value)
    return value


def _number(given: Mapping[str, object], key: str) -> float:
    value = given.get(key, 0.0)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _wrong(key, "a number", value)
    if not abs(value) <= sys.float_info.max:  # nor is it NaN
        raise _wrong(key, "a finite number", value)
    return float(value)


def merge_states(first: SavedState, second: SavedState) -> SavedState:
    """Return both states as one: what frameworks call a reducer.

    Parallel tool calls each write the state that they made of the same one; and a
    framework that merges all that is written merges each state with its successor.
    Up to the order of ``active`` it is associative, and commutative but for
    ``snapshot``, ``announced`` and ``not_found``, which are those of ``second``,
    the newer one.
    """
    # Of each skill the latest load counts, and a deactivation wins over the load
    # that it ended.
    active: dict[str, Activation] = {}
    for skill in (*first.active, *second.active):
        before = active.get(skill.id, skill)
        # The same on every side, also of two loads at one time.
        active[skill.id] = max(
            before, skill, key=lambda load: (load.at, load.digest, load.tokens)
        )
    unloaded = dict(first.unloaded)
    for skill_id, at in second.unloaded.items():
        unloaded[skill_id] = max(at, unloaded.get(skill_id, at))
    for skill_id in active.keys() & unloaded:
        if active[skill_id].at > unloaded[skill_id]:
            del unloaded[skill_id]
        else:
            del active[skill_id]
    # United, unless one side has taken some back since: then only its own count.
    grants = first.grants if first.edits >= second.edits else ()
    grants += second.grants if second.edits >= first.edits else ()
    mine, theirs = first.savings, second.savings
    at, step = max((first.step_at, first.step), (second.step_at, second.step))
    newest = [s for s in (first, second) if (s.step_at, s.step) == (at, step)]
    return replace(
        second,
        active=tuple(active.values()),
        unloaded=unloaded,
        grants=tuple(sorted(set(grants))),
        snapshot=second.snapshot or first.snapshot,
        announced=second.announced or first.announced,
        edits=max(first.edits, second.edits),
        # The greater number, so that parallel calls count once.
        savings=Savings(
            max(mine.prefix_tokens, theirs.prefix_tokens),
            max(mine.repeat_tokens, theirs.repeat_tokens),
        ),
        step=step,
        step_at=at,
        asked=frozenset().union(*(side.asked for side in newest)),
        used=frozenset().union(*(side.used for side in newest)),
        seals=first.seals | second.seals,
        conversation=second.conversation or first.conversation,
    )


# --- Seals ----------------------------------------------------------------------------


@cache
def _key() -> bytes:
    # Never stored: after a restart people are asked again.
    return secrets.token_bytes(32)


class StateSeals:
    """Makes and checks the seals of one agent's conversations with one user."""

    def __init__(self, settings: "SessionSettings") -> None:
        self._owner = f"{settings.agent}\0{fingerprint(settings.who)}"

    def add(
        self, state: SavedState, needs_approval: Callable[[str], bool]
    ) -> SavedState:
        """Return the state with a seal for every yes in it."""
        loads = (self._of_load(s) for s in state.active if needs_approval(s.id))
        grants = (self._of_grant(grant, state) for grant in state.grants)
        ids = filter(None, (state.conversation,))
        of_id = (self._seal("conversation", id) for id in ids)
        return replace(state, seals=frozenset((*grants, *loads, *of_id)))

    def sealed_grants(self, state: SavedState) -> SavedState:
        """Return the state without the grants, or the id, that have no seal."""
        seals = state.seals
        grants = (g for g in state.grants if self._of_grant(g, state) in seals)
        # Others could write that the loads of another conversation are those of this.
        conversation = state.conversation
        if self._seal("conversation", conversation) not in seals:
            conversation = ""
        return replace(state, grants=tuple(grants), conversation=conversation)

    def sealed_loads(
        self, state: SavedState, needs_approval: Callable[[str], bool]
    ) -> SavedState:
        """Return the state without the skills that need a yes and have no seal."""
        active = tuple(
            skill
            for skill in state.active
            if self._of_load(skill) in state.seals or not needs_approval(skill.id)
        )
        return replace(state, active=active)

    def _of_grant(self, grant: Grant, state: SavedState) -> str:
        # With the number of edits: a grant that was taken back cannot be put back by
        # anyone who kept an older state.
        return self._seal("grant", str(state.edits), *grant)

    def _of_load(self, activation: Activation) -> str:
        return self._seal("load", activation.id)

    def _seal(self, *parts: str) -> str:
        # As JSON, so that no two lists of parts give one text.
        text = json.dumps([self._owner, *parts])
        return hmac.new(_key(), text.encode(), "sha256").hexdigest()[:_SEAL_CHARS]
