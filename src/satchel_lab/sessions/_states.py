"""What became of each skill in the list of a session: as recorded, or by the rule."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from satchel.model import Match
from satchel_lab.clients import WINDOWS, LibrarySkill, listing_rules, predict_listing
from satchel_lab.sessions._folders import FolderSkill
from satchel_lab.sessions._formats import FORMATS
from satchel_lab.sessions._rows import ClientSession

_END: Final = ".\u2026 "


class ListState(NamedTuple):
    """What became of a skill, and the text that was shown of it.

    ``listed`` whole; ``part``: whole or by name alone, which is not known; ``cut``:
    shortened, by name alone, or left out for want of room, as ``about`` says;
    ``absent`` though on disk; ``hidden`` by what is in its file; ``unread``: the client
    reads another folder; ``new``: it came later; ``unsure``.
    """

    how: Literal["listed", "part", "cut", "absent", "hidden", "unread", "new", "unsure"]
    text: str = ""
    about: str = ""

    def says(self, matches: Iterable[Match]) -> bool:
        """Tell whether what a hit is for is in what was shown, for the most part."""
        text = self.text.casefold()
        points = [(match.word in text, match.points) for match in matches]
        return sum(p for is_in, p in points if is_in) * 2 >= sum(p for _, p in points)


_LEFT_OUT: Final = ListState("cut", about="it is left out of the list, by the rule")


def list_states(
    session: ClientSession, here: Sequence[FolderSkill]
) -> dict[str, ListState]:
    """Return the state of each skill around a session."""
    client, listed = session.client, session.listed
    mine = [p for p in here if client in p.shown or client in p.reasons]
    states = {place.id: ListState("unread") for place in here}
    if listed is None:
        return states | _predicted(session, mine)
    states |= {place.id: _missing(place, session) for place in mine}
    texts = {p.id: _whole(p.shown.get(client)) for p in here}
    named: dict[str, set[str]] = {}
    for place in here:
        for name in place.names & listed.keys():
            named.setdefault(name, set()).add(place.id)
    for name, ids in named.items():
        text = " ".join(listed[name].split())
        for skill in ids:  # of several of one name the list has one
            is_clear = len(ids) == 1
            states[skill] = (
                _state(text, texts[skill]) if is_clear else ListState("unsure")
            )
    return states


def _missing(place: FolderSkill, session: ClientSession) -> ListState:
    """Return the state of a skill that is not in the list on file."""
    if session.client not in place.shown:
        return ListState("hidden")
    if place.came > session.at:
        return ListState("new")
    # Where not even names have room, no description is left.
    is_full = FORMATS[session.client].leaves_out and session.listed
    if is_full and not all((session.listed or {}).values()):
        return ListState("cut", about="it is left out of the list")
    return ListState("absent")


def _whole(skill: LibrarySkill | None) -> str:
    if skill is None:
        return ""
    return " ".join(f"{skill.description} - {skill.when_to_use}".split()).rstrip(" -")


def _state(text: str, whole: str) -> ListState:
    """Return the state of a skill that is in the list with a text."""
    if whole and not text:
        return ListState("cut", about="only its name is listed")
    start = text.rstrip(_END)
    rest = whole[len(start) :]
    # The field for when to use it is a part that some clients leave off.
    if whole.startswith(start) and rest.rstrip(_END) and not rest.startswith(" - "):
        return ListState("cut", text, f"it is cut to {len(text)} characters")
    return ListState("listed", text)  # perhaps with a description of then


def _predicted(
    session: ClientSession, mine: Sequence[FolderSkill]
) -> dict[str, ListState]:
    """Return the state of each skill by the measured rule: no list is on file."""
    client, states = session.client, dict[str, ListState]()
    there: dict[str, LibrarySkill] = {}
    for place in mine:
        if client not in place.shown:
            states.setdefault(place.id, ListState("hidden"))
        elif place.written > session.at:
            states.setdefault(place.id, ListState("unsure"))
        else:
            there[place.id] = place.shown[client]
    windows = (session.window,) if session.window else tuple(WINDOWS.values())
    tables = [_by_rule(client, tuple(there.items()), size) for size in windows]
    for skill, shown in there.items():
        ways = {table[skill] for table in tables}
        by_name = all(way.how == "listed" or not way.text for way in ways)
        is_there = by_name and _LEFT_OUT not in ways
        several = ListState("part" if is_there else "unsure", _whole(shown))
        states[skill] = ways.pop() if len(ways) == 1 else several
    return states


@lru_cache(512)
def _by_rule(
    client: str, skills: tuple[tuple[str, LibrarySkill], ...], window: int
) -> dict[str, ListState]:
    shown = [skill for _, skill in skills]
    listing = predict_listing(listing_rules()[client], shown, window, advises=False)
    of = {id(one.skill): one for one in listing.skills}
    return {
        key: _LEFT_OUT
        if of[id(skill)].state == "left-out"
        else _state(" ".join(of[id(skill)].text.split()), _whole(skill))
        for key, skill in skills
    }
