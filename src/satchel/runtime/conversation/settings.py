"""What a session is told when it is opened."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypedDict

from satchel.model import Style
from satchel.runtime.conversation.worn import Worn
from satchel.session.approvals import Approver

if TYPE_CHECKING:
    from satchel.agent import Skill
    from satchel.runtime.staging import Stager

__all__ = ["SessionOptions", "Settings"]

RESTATE_TOKENS: Final = 25_000
"""Tokens of skills that are stated again after a compaction: as Claude Code has it."""


class SessionOptions(TypedDict, total=False):
    """What a session can be given by name, and what adapters hand on to it."""

    agent: str
    always: "Iterable[str | Skill]"
    only: Iterable[str] | None
    style: Style | None
    approve: Approver | None
    stage: "Stager | bool"
    restate_tokens: int
    trust_state: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What does not change while a session lasts.

    ``only`` are groups of patterns; a skill is here if each group has one that fits.
    ``client`` is the program that asks, for events. ``trust_state`` tells that nobody
    but the application can write the state that it resumes from.
    """

    agent: str = ""
    client: str = ""
    who: Mapping[str, Any] = field(default_factory=dict[str, Any])
    style: Style = "agent-skills"
    worn: Worn = field(default_factory=Worn)
    only: tuple[tuple[str, ...], ...] = ()
    approve: Approver | None = None
    stager: "Stager | None" = None
    restate_tokens: int = RESTATE_TOKENS
    trust_state: bool = True
