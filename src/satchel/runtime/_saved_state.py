"""The saved state of a conversation: ids and digests, no text.

And seals for approvals in it.
"""

import hmac
import json
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from reprlib import repr as short_repr
from typing import Final, Self, TypeAlias, cast

from satchel.errors import StateError
from satchel.model import Activation, Finding, Savings

SCHEMA_VERSION: Final = 1

Grant: TypeAlias = tuple[str, str, str]
"""Action, skill and tool for which somebody said yes until the session ends."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """What a session has to remember, and no text of any skill.

    ``active`` is in the order in which the skills first became active, which is the
    order of their tools; ``at`` tells which was loaded last. ``unloaded`` maps the
    ids that were put away to the ``at`` of what was put away. ``edition`` is the
    digest of the catalog that the prompt shows, ``told`` that of the one whose
    changes were told last. ``misses`` counts the misses of the turn and ``missed``
    those of each thing that was missed. ``edits`` counts how often the grants were
    taken back; ``saved`` is what did not have to be sent again. ``used`` are the keys
    of approvals that were used, and ``seals`` show that an approver of this process
    gave what stands above: both for states that others can write.
    """

    active: tuple[Activation, ...] = ()
    unloaded: Mapping[str, float] = field(default_factory=dict[str, float], hash=False)
    grants: tuple[Grant, ...] = ()
    edition: str = ""
    told: str = ""
    misses: int = 0
    edits: int = 0
    saved: Savings = field(default_factory=Savings)
    missed: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    used: frozenset[str] = frozenset()
    seals: frozenset[str] = frozenset()

    def with_active(self, activation: Activation) -> Self:
        """Return the state with this skill active; a known one keeps its place."""
        active = {each.id: each for each in self.active} | {activation.id: activation}
        unloaded = {k: at for k, at in self.unloaded.items() if k != activation.id}
        return replace(self, active=tuple(active.values()), unloaded=unloaded)

    def without(self, skill_id: str) -> Self:
        """Return the state with this skill put away, until it is loaded again."""
        gone = [each.at for each in self.active if each.id == skill_id]
        at = max([self.unloaded.get(skill_id, 0.0), *gone])
        return replace(
            self,
            active=tuple(each for each in self.active if each.id != skill_id),
            unloaded={**self.unloaded, skill_id: at},
        )

    def without_grants(self) -> Self:
        """Return the state with every grant taken back, for `merged` too."""
        return replace(self, grants=(), edits=self.edits + 1)

    def merged(self, other: Self) -> Self:
        """Return both states as one: what frameworks call a reducer.

        Parallel tool calls each write the state that they made of the same one; and a
        framework that merges all that is written merges each state with its heir. Of
        each skill what was loaded last stands, and being put away goes before what
        was put away. Grants are united, unless one side has taken some back since.
        Of savings the greater number stands, so that parallel calls count once.
        Edition, told and misses are those of ``other``, the newer one. Used approvals
        and seals are united. Up to the
        order of ``active`` it is associative, and commutative but for those three.
        """
        active: dict[str, Activation] = {}
        for each in (*self.active, *other.active):
            active[each.id] = max(active.get(each.id, each), each, key=_age)
        unloaded = dict(self.unloaded)
        for skill_id, at in other.unloaded.items():
            unloaded[skill_id] = max(at, unloaded.get(skill_id, at))
        for skill_id, at in tuple(unloaded.items()):
            if skill_id not in active:
                continue
            if active[skill_id].at > at:
                del unloaded[skill_id]
            else:
                del active[skill_id]
        grants = self.grants if self.edits >= other.edits else ()
        grants += other.grants if other.edits >= self.edits else ()
        return replace(
            other,
            active=tuple(active.values()),
            unloaded=unloaded,
            grants=tuple(sorted(set(grants))),
            edition=other.edition or self.edition,
            told=other.told or self.told,
            edits=max(self.edits, other.edits),
            saved=Savings(*map(max, zip(*map(_saved, (self, other)), strict=True))),
            used=self.used | other.used,
            seals=self.seals | other.seals,
        )

    def to_dict(self) -> dict[str, object]:
        """Return what `from_dict` takes; safe for JSON."""
        rare: dict[str, object] = {
            "missed": dict(self.missed),
            "used": sorted(self.used),
            "seals": sorted(self.seals),
        }
        return {
            "schema_version": SCHEMA_VERSION,
            "active": [
                {
                    "id": each.id,
                    "digest": each.digest,
                    "at": each.at,
                    "tokens": each.tokens,
                }
                for each in self.active
            ],
            "unloaded": dict(self.unloaded),
            "grants": [list(grant) for grant in self.grants],
            "edition": self.edition,
            "told": self.told,
            "misses": self.misses,
            "edits": self.edits,
            "saved": {
                "prefix_tokens": self.saved.prefix_tokens,
                "repeat_tokens": self.saved.repeat_tokens,
            },
            **{key: value for key, value in rare.items() if value},
        }

    @classmethod
    def read(cls, dumped: object) -> "tuple[Self, Finding | None]":
        """Return the state that `to_dict` gave, or an empty one and what was wrong.

        Never raises: a state that cannot be read must not end a conversation.
        """
        try:
            return cls.from_dict(cast("Mapping[str, object] | str", dumped)), None
        except StateError as error:
            fix = "store what Session.dump gives, as it is"
            message = f"{error}; the conversation begins again without it"
            return cls(), Finding("invalid-state", "warning", message, fix=fix)

    @classmethod
    def from_dict(cls, dumped: Mapping[str, object] | str) -> Self:
        """Return the state that `to_dict` gave, as a mapping or its JSON text.

        Fields that are missing are empty; unknown ones are left out.

        Raises:
            StateError: It is no such state, or a newer Satchel's.
        """
        given = _mapping(_parsed(dumped), "")
        version = _count(given, "schema_version", SCHEMA_VERSION)
        if version > SCHEMA_VERSION:
            raise StateError(
                f"it is of version {version}; this Satchel reads {SCHEMA_VERSION}"
            )
        unloaded = _mapping(given.get("unloaded", {}), "unloaded")
        missed = _mapping(given.get("missed", {}), "missed")
        saved = _mapping(given.get("saved", {}), "saved")
        return cls(
            active=tuple(
                _activation(_mapping(each, f"active[{n}]"))
                for n, each in enumerate(_items(given, "active"))
            ),
            unloaded={each: _number(unloaded, each) for each in unloaded},
            grants=tuple(sorted({_grant(each) for each in _items(given, "grants")})),
            edition=_text(given, "edition"),
            told=_text(given, "told"),
            misses=_count(given, "misses"),
            missed={each: _count(missed, each) for each in missed},
            edits=_count(given, "edits"),
            saved=Savings(
                _count(saved, "prefix_tokens"), _count(saved, "repeat_tokens")
            ),
            used=_texts(given, "used"),
            seals=_texts(given, "seals"),
        )


def _saved(state: SavedState) -> tuple[int, int]:
    return state.saved.prefix_tokens, state.saved.repeat_tokens


def _age(activation: Activation) -> tuple[float, str, int]:
    """Return what orders activations of one skill, the same on every side."""
    return activation.at, activation.digest, activation.tokens


def _parsed(dumped: Mapping[str, object] | str) -> object:
    if not isinstance(dumped, str):
        return dumped
    try:
        return json.loads(dumped)
    except (ValueError, RecursionError) as error:
        raise StateError(f"it is no JSON: {error}") from None


def _activation(given: Mapping[str, object]) -> Activation:
    skill_id = _text(given, "id")
    if not skill_id:
        raise StateError("an active skill has no id")
    return Activation(
        skill_id, _text(given, "digest"), _number(given, "at"), _count(given, "tokens")
    )


def _grant(given: object) -> Grant:
    match tuple(cast("Sequence[object]", given)) if _is_list(given) else ():
        case (str(action), str(skill), str(tool)):
            return action, skill, tool
        case _:
            raise StateError(
                f"grants: want action, skill and tool, got {short_repr(given)}"
            )


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _texts(given: Mapping[str, object], key: str) -> frozenset[str]:
    texts = _items(given, key)
    if not all(isinstance(each, str) for each in texts):
        raise StateError(f"{key}: expected texts, got {short_repr(texts)}")
    return frozenset(cast("Sequence[str]", texts))


def _mapping(given: object, where: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise StateError(f"{where or 'the state'}: want an object, got {kind}")
    if not all(
        isinstance(each, str) for each in cast("Mapping[object, object]", given)
    ):
        raise StateError(f"{where or 'the state'}: expected texts as keys")
    return cast("Mapping[str, object]", given)


def _items(given: Mapping[str, object], key: str) -> Sequence[object]:
    value = given.get(key, ())
    if not _is_list(value):
        raise StateError(f"{key}: want a list, got {short_repr(value)}")
    return cast("Sequence[object]", value)


def _text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise StateError(f"{key}: want text, got {short_repr(value)}")
    return value


def _count(given: Mapping[str, object], key: str, default: int = 0) -> int:
    value = given.get(key, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # some stores keep every number as a float
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise StateError(f"{key}: want a count, got {short_repr(value)}")
    return value


def _number(given: Mapping[str, object], key: str) -> float:
    value = given.get(key, 0.0)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise StateError(f"{key}: want a number, got {short_repr(value)}")
    if not abs(value) <= sys.float_info.max:  # nor is it NaN
        raise StateError(f"{key}: want a finite number, got {short_repr(value)}")
    return float(value)


_CHARS: Final = 32
"""Characters of a seal: 128 bits."""


@cache
def _key() -> bytes:
    return secrets.token_bytes(32)


class StateSeals:
    """Makes and checks the seals of one agent's conversations with one user."""

    def __init__(self, agent: str, who: Mapping[str, object]) -> None:
        """Take whose conversation it is."""
        self._whose = f"{agent}\0{fingerprint(who)}"

    def sealed(
        self, state: SavedState, needs_approval: Callable[[str], bool]
    ) -> SavedState:
        """Return the state with a seal for every yes in it.

        ``needs_yes`` tells of a skill whether its load has to be approved.
        """
        seals = {self._of_grant(each, state) for each in state.grants}
        seals |= {
            self._of_load(each) for each in state.active if needs_approval(each.id)
        }
        return replace(state, seals=frozenset(seals))

    def granted(self, state: SavedState) -> SavedState:
        """Return the state without the grants that bear no seal."""
        grants = tuple(
            each for each in state.grants if self._of_grant(each, state) in state.seals
        )
        return replace(state, grants=grants)

    def loaded(
        self, state: SavedState, needs_approval: Callable[[str], bool]
    ) -> SavedState:
        """Return the state without the skills that need a yes and bear no seal."""
        active = tuple(
            each
            for each in state.active
            if not needs_approval(each.id) or self._of_load(each) in state.seals
        )
        return replace(state, active=active)

    def _of_grant(self, grant: Grant, state: SavedState) -> str:
        return self._of("grant", str(state.edits), *grant)

    def _of_load(self, activation: Activation) -> str:
        return self._of("load", activation.id)

    def _of(self, *parts: str) -> str:
        text = json.dumps([self._whose, *parts])
        return hmac.new(_key(), text.encode(), "sha256").hexdigest()[:_CHARS]


def fingerprint(value: object) -> str:
    """Return a text that is the same for equal values of one process. Never raises."""
    try:
        return json.dumps(value, sort_keys=True, default=_plain)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return short_repr(value)
    except Exception:  # noqa: BLE001 - an object's own method
        return type(value).__qualname__


def _plain(value: object) -> object:
    """Return what stands for a value that JSON has no form for: at least its type."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, cast("Iterable[object]", value)))
    return type(value).__qualname__
