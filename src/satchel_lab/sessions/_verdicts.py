"""Why a skill is used or not: the evidence, and the verdict on it.

A verdict says that something never happened only where there was enough to see.
"""

from collections import Counter
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
# Sessions and turns that have to be seen before "never" is said; of what is sure from
# the files of the skill, fewer sessions.
LEAST_SESSIONS: Final = 5
LEAST_TURNS: Final = 50
_LEAST_SURE_SESSIONS: Final = 3
# Turns, in as many sessions as above, that a dead skill surely fits.
DEAD_TURNS: Final = 10
_SURE: Final = 0.5


@dataclass(frozen=True, slots=True)
class PassedTurn:
    """A turn that a skill fits and that it was not loaded in, with the confidence.

    ``session`` is the number of the session among those that were read, ``turn`` that
    of the turn in it. The skill was ``listed`` there whole or in part, or, with what is
    in the turn, ``cut``.
    """

    session: int
    turn: int
    text: str = field(repr=False)
    confidence: float
    how: str


@dataclass(slots=True)
class SkillEvidence:
    """What was seen of one skill in all sessions whose client could have it.

    In ``counts``: of its ``sessions``, by what became of it in their list, those where
    it was ``listed`` with its text; ``part``, so or by name alone; ``cut``, shortened
    or left out; ``absent``, though surely on disk; ``hidden`` by its own file, as
    ``reasons`` say; in a folder that is ``unread``; or ``unsure``. A session whose file
    has gaps is none of these, and ``seen`` if it was in the list. Its ``loads``; what
    was ``opened``: other files of it, edits, and calls that name one. While it was in
    the list, it may fit ``near`` turns of ``turns``, and the rest of these it does not.
    Of turns that it fits, those ``served`` by a load, and those that ``missed`` it, for
    no list had it.
    """

    skill: str
    counts: Counter[str] = field(default_factory=Counter[str])
    fits: list[PassedTurn] = field(default_factory=list[PassedTurn])
    last: float = 0.0
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    cut_how: str = ""


@dataclass(frozen=True, slots=True)
class SkillVerdict:
    """The verdict on one skill, with a short reason; ``is_dead`` goes with passed over.

    A dead skill was listed whole, fitted many turns in several sessions, and no call of
    a session named a file of it.
    """

    evidence: SkillEvidence
    verdict: UseVerdict
    why: str
    is_dead: bool = False


def verdict_of(one: SkillEvidence, *, is_complete: bool = True) -> SkillVerdict:
    """Return the verdict on a skill.

    Args:
        one: What was seen of it.
        is_complete: Whether every file was read; what is missing may have a load, so
            nothing but what is sure from its own files never happened.
    """
    seen = one.counts
    passed = [turn for turn in one.fits if turn.how != "cut"]
    cut = [turn for turn in one.fits if turn.how == "cut"]
    if seen["loads"]:
        more = f"; {_fits(passed)} it and did not load it" if passed else ""
        day = strftime("%Y-%m-%d", gmtime(one.last))
        return SkillVerdict(one, "used", f"last on {day}{more}")
    if _doubt(cut) < _doubt(passed) and _doubt(cut) <= _MOST_DOUBT:
        return SkillVerdict(
            one, "cut from the list", f"{_fits(cut)} it, where {one.cut_how}"
        )
    if _doubt(passed) <= _MOST_DOUBT:
        sure = [t for t in passed if t.how == "listed" and t.confidence >= _SURE]
        is_long = _sessions(sure) >= LEAST_SESSIONS and len(sure) >= DEAD_TURNS
        is_dead = is_complete and is_long and not seen["opened"]
        why = f"{_fits(passed)} it in {plural(_sessions(passed), 'session')}"
        why = f"dead: {why}" if is_dead else why
        return SkillVerdict(one, "listed and passed over", why, is_dead)
    if seen["cut"] >= LEAST_SESSIONS and not seen["listed"] + seen["part"]:
        why = f"{one.cut_how} in each of {plural(seen['cut'], 'session')}"
        return SkillVerdict(one, "cut from the list", why)
    if not seen["opened"] and (why := _never(one, is_complete=is_complete)):
        return SkillVerdict(one, "never had a chance", why)
    return SkillVerdict(one, "not seen long enough", _too_little(one))


def _never(one: SkillEvidence, *, is_complete: bool) -> str:
    """Return why it never had a chance; empty where that is not sure."""
    seen = one.counts
    sessions = seen["sessions"]
    is_listed = seen["listed"] or seen["part"] or seen["cut"] or seen["seen"]
    if is_listed:
        is_long = seen["listed"] >= LEAST_SESSIONS and seen["turns"] >= LEAST_TURNS
        is_quiet = not (seen["near"] or seen["served"] or seen["cut"] or seen["unsure"])
        is_clear = is_complete and is_long and is_quiet
        return f"no turn of {seen['turns']:,} has a word of it" if is_clear else ""
    if seen["unread"] == sessions >= _LEAST_SURE_SESSIONS:
        return "no client here reads its folder"
    if seen["unread"] + seen["hidden"] == sessions >= _LEAST_SURE_SESSIONS:
        return "; ".join(f"{key}: {why}" for key, why in sorted(one.reasons.items()))
    if is_complete and not seen["unsure"] and seen["absent"] >= LEAST_SESSIONS:
        return f"on disk, and in no list of {plural(seen['absent'], 'session')}"
    return ""


def _too_little(one: SkillEvidence) -> str:
    seen = one.counts
    if not seen["sessions"]:
        return "no session since it is there"
    if seen["unsure"] and not seen["listed"]:
        return "not known whether it was listed, or there"
    fits = len(one.fits) or seen["near"]
    more = f"; {plural(fits, 'turn')} may fit it" if fits else ""
    sessions = plural(seen["listed"] + seen["part"], "session")
    return f"listed in {sessions}, {plural(seen['turns'], 'turn')}{more}"


def _doubt(turns: Sequence[PassedTurn]) -> float:
    """Return how likely it is that none of these turns is for the skill."""
    best = sorted((turn.confidence for turn in turns), reverse=True)[:_BEST]
    return prod(1 - confidence for confidence in best)


def _sessions(turns: Sequence[PassedTurn]) -> int:
    return len({turn.session for turn in turns})


def _fits(turns: Sequence[PassedTurn]) -> str:
    return f"{plural(len(turns), 'turn')} {'fits' if len(turns) == 1 else 'fit'}"
