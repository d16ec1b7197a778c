"""For whom a tool runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Run", "Turn"]


class Turn:
    """One turn of an agent, told from all others by being another object."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Run:
    """For whom and with what a tool runs; filled in by Satchel, seen by no model.

    ``who`` is whoever the run acts for and ``deps`` whatever the application handed
    over with the session; both are the application's own, so their types are its to
    know. ``session`` is the `satchel.Session`, None outside of one. ``turn`` is one
    object in every call of one turn and another one in the next, for what is kept that
    long; None where nobody says when a turn ends.
    """

    who: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    deps: Any = field(default=None, repr=False)
    session: Any = field(default=None, repr=False)
    agent: str = ""
    turn: object = field(default=None, repr=False, compare=False)
