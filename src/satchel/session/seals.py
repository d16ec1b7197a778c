"""Seals: what in a state an approver of this very process has said yes to.

Where others can write a conversation's state (messages that a browser keeps, an API
that takes changes of the state), a yes in it counts only with a seal. A seal is made
with a key that never leaves the process, and is for one yes of one agent for one user.
"""

import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final, cast

from satchel.model import Activation
from satchel.session.ledger import Grant, State

__all__ = ["Seals", "fingerprint"]

_CHARS: Final = 32
"""Characters of a seal: 128 bits."""


@cache
def _key() -> bytes:
    return secrets.token_bytes(32)


class Seals:
    """Makes and checks the seals of one agent's conversations with one user."""

    def __init__(self, agent: str, who: Mapping[str, object]) -> None:
        """Take whose conversation it is."""
        self._whose = f"{agent}\0{fingerprint(who)}"

    def sealed(self, state: State, needs_yes: Callable[[str], bool]) -> State:
        """Return the state with a seal for every yes in it.

        ``needs_yes`` tells of a skill whether its load has to be approved.
        """
        seals = {self._of_grant(each, state) for each in state.grants}
        seals |= {self._of_load(each) for each in state.active if needs_yes(each.id)}
        return replace(state, seals=frozenset(seals))

    def granted(self, state: State) -> State:
        """Return the state without the grants that bear no seal."""
        grants = tuple(
            each for each in state.grants if self._of_grant(each, state) in state.seals
        )
        return replace(state, grants=grants)

    def loaded(self, state: State, needs_yes: Callable[[str], bool]) -> State:
        """Return the state without the skills that need a yes and bear no seal."""
        active = tuple(
            each
            for each in state.active
            if not needs_yes(each.id) or self._of_load(each) in state.seals
        )
        return replace(state, active=active)

    def _of_grant(self, grant: Grant, state: State) -> str:
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
        return repr(value)
    except Exception:  # noqa: BLE001 - an object's own method
        return type(value).__qualname__


def _plain(value: object) -> object:
    """Return what stands for a value that JSON has no form for: at least its type."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, cast("Iterable[object]", value)))
    return type(value).__qualname__
