"""Why a skill is used or not: the evidence, and the verdict on it.

A verdict says that something never happened only where there was enough to see.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from time import gmtime, strftime
from typing import Final, Literal, get_args

from satchel.text import plural

UseVerdict = Literal[
    "listed and passed over",
    "cut from the list",
    "never had a chance",
    "not seen long enough",
    "used",
]
USE_VERDICTS: Final[tuple[UseVerdict, ...]] = get_args(UseVerdict)
"""What to do something about comes first."""

# A turn fits a skill that is no weak hit for it. Confidences are shares of hits that
# are right, as counted on public queries, so the product of the doubts about some turns
# is how likely it is that none is for the skill; of many turns the best count. With 160
# queries to libraries of 140 public skills, half of them for a skill in it, 95 of 100
# skills with no more doubt than this had a query of their own.
_MOST_DOUBT: Final = 0.4
_BEST: Final = 5
# Sessions and turns that have to be seen before "never" is said.
LEAST_SESSIONS: Final = 5
LEAST_TURNS: Final = 50
_LEAST_HIDDEN_SESSIONS: Final = 3
# Turns, in as many sessions as above, that a dead skill surely fits.
DEAD_TURNS: Final = 10
_SURE: Final = 0.5


@dataclass(frozen=True, slots=True)
class PassedTurn:
    """A turn that a skill fits and that it was not loaded in, with the confidence.

    ``session`` is the number of the session among those that were read, ``turn`` that
    of the turn in it; ``is_whole`` that the skill was listed whole there.
    """

    session: int
    turn: int
    text: str = field(repr=False)
    confidence: float
    is_whole: bool = True


@dataclass(slots=True)
class SkillEvidence:
    """What was seen of one skill in all sessions whose client could have it.

    Sessions are counted by what became of it in their list: it was ``listed`` with its
    text; ``cut``, shortened or left out; ``absent``, though surely on disk; ``hidden``
    by its own file, as ``reasons`` say; in a folder that is ``unread``; or ``unsure``.
    ``opened`` counts other files of it that were read, and edits. While it was in the
    list, it may fit ``near`` turns of ``turns``, and the rest of these it does not.
    """

    skill: str
    sessions: int = 0
    listed: int = 0
    cut: int = 0
    absent: int = 0
    hidden: int = 0
    unsure: int = 0
    loads: int = 0
    opened: int = 0
    turns: int = 0
    near: int = 0
    passed: list[PassedTurn] = field(default_factory=list[PassedTurn])
    cut_fits: list[PassedTurn] = field(default_factory=list[PassedTurn])
    absent_fits: int = 0
    served: int = 0
    last: float = 0.0
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    unread: int = 0
    cut_how: str = ""
    clients: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SkillVerdict:
    """The verdict on one skill, with a short reason; ``is_dead`` goes with passed over.

    A dead skill was listed whole, fitted many turns in several sessions, and no session
    opened a file of it.
    """

    evidence: SkillEvidence
    verdict: UseVerdict
    why: str
    is_dead: bool = False


def verdict_of(evidence: SkillEvidence, *, is_complete: bool = True) -> SkillVerdict:
    """Return the verdict on a skill.

    Args:
        evidence: What was seen of it.
        is_complete: Whether every file was read whole; what is missing may have a load,
            so nothing is said never to have happened.
    """
    one = evidence
    if one.loads:
        return SkillVerdict(one, "used", _loads(one))
    passed, cut = _doubt(one.passed), _doubt(one.cut_fits)
    if min(passed, cut) <= _MOST_DOUBT:
        if cut < passed:
            why = f"{_fits(one.cut_fits)} it where {one.cut_how or 'it is cut'}"
            return SkillVerdict(one, "cut from the list", why)
        sure = [
            turn for turn in one.passed if turn.is_whole and turn.confidence >= _SURE
        ]
        is_dead = (
            is_complete
            and not one.opened
            and len(sure) >= DEAD_TURNS
            and len({turn.session for turn in sure}) >= LEAST_SESSIONS
        )
        sessions = len({turn.session for turn in one.passed})
        why = f"{_fits(one.passed)} it in {plural(sessions, 'session')}"
        why = f"dead: {why}" if is_dead else why
        return SkillVerdict(one, "listed and passed over", why, is_dead)
    if one.cut >= LEAST_SESSIONS and not one.listed:
        why = f"{one.cut_how or 'it is cut'} in each of {plural(one.cut, 'session')}"
        return SkillVerdict(one, "cut from the list", why)
    if is_complete and not one.opened and (why := _never(one)):
        return SkillVerdict(one, "never had a chance", why)
    return SkillVerdict(one, "not seen long enough", _too_little(one))


def _never(one: SkillEvidence) -> str:
    """Return why it never had a chance; empty where that is not sure."""
    if one.listed or one.cut:
        is_long = one.listed >= LEAST_SESSIONS and one.turns >= LEAST_TURNS
        is_clear = not (one.near or one.cut or one.unsure or one.served)
        return (
            f"no turn of {one.turns} has a word of it" if is_long and is_clear else ""
        )
    if one.unread == one.sessions >= _LEAST_HIDDEN_SESSIONS:
        return "no client here reads its folder"
    if one.unread + one.hidden == one.sessions >= _LEAST_HIDDEN_SESSIONS:
        return "; ".join(f"{key}: {why}" for key, why in sorted(one.reasons.items()))
    if one.absent >= LEAST_SESSIONS and not one.unsure:
        return f"on disk, and in no list of {plural(one.absent, 'session')}"
    return ""


def _too_little(one: SkillEvidence) -> str:
    if not one.sessions:
        return "no session of a client that reads it"
    if one.unsure and not one.listed:
        return "not known whether it was listed, or there"
    seen = f"listed in {plural(one.listed, 'session')}, {plural(one.turns, 'turn')}"
    fits = len(one.passed) + len(one.cut_fits)
    if fits or one.near:
        return f"{seen}; {plural(fits or one.near, 'turn')} may fit it"
    return seen


def _doubt(turns: Sequence[PassedTurn]) -> float:
    """Return how likely it is that none of these turns is for the skill."""
    best = sorted((turn.confidence for turn in turns), reverse=True)[:_BEST]
    return prod(1 - confidence for confidence in best)


def _fits(turns: Sequence[PassedTurn]) -> str:
    return f"{plural(len(turns), 'turn')} {'fits' if len(turns) == 1 else 'fit'}"


def _loads(one: SkillEvidence) -> str:
    day = strftime("%Y-%m-%d", gmtime(one.last))
    more = f"; {_fits(one.passed)} it and did not load it" if one.passed else ""
    return f"last on {day}{more}"
