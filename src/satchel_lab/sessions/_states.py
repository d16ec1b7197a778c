"""What became of each skill in the list of a session: as recorded, or by the rule."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from satchel.model import Match
from satchel_lab.clients import WINDOWS, LibrarySkill, listing_rules, predict_listing
from satchel_lab.sessions._folders import FolderSkill
from satchel_lab.sessions._formats import FORMATS
from satchel_lab.sessions._rows import ClientSession

_ENDS: Final = (".", "\u2026", " ")


@dataclass(frozen=True, slots=True)
class ListState:
    """What became of a skill, and the text that was shown of it.

    ``listed`` whole; ``cut``: shortened, by name alone, or left out for want of room,
    as ``about`` says; ``absent`` though on disk; ``hidden`` by what is in its file;
    ``unread``: the client reads another folder; ``new``: it came later; ``unsure``.
    """

    how: Literal["listed", "cut", "absent", "hidden", "unread", "new", "unsure"]
    text: str = ""
    about: str = ""

    def says(self, matches: Iterable[Match]) -> bool:
        """Tell whether what a hit is for is in what was shown, for the most part."""
        text = self.text.casefold()
        points = [(match.word in text, match.points) for match in matches]
        shown = sum(some for is_shown, some in points if is_shown)
        return shown * 2 >= sum(some for _, some in points)


def recorded_states(
    session: ClientSession, mine: Sequence[FolderSkill], listed: Mapping[str, str]
) -> dict[str, ListState]:
    """Return the state of each skill by the list in the file of a session."""
    client = session.client
    texts = {p.id: _full(p.shown.get(client)) for p in mine}
    named: dict[str, set[str]] = {}
    for place in mine:
        for name in place.names(client) & listed.keys():
            named.setdefault(name, set()).add(place.id)
    states: dict[str, ListState] = {}
    for name, ids in named.items():
        text = " ".join(listed[name].split())
        # Of several of one name the list has one: that with the text, if any has.
        right = {one for one in ids if text and texts[one].startswith(_start(text))}
        for skill in ids:
            if len(ids) > 1 and right != {skill}:
                states.setdefault(skill, ListState("unsure"))
            else:
                states[skill] = _state(text, texts[skill])
    # Where not even names have room, no description is left.
    is_full = FORMATS[client].leaves_out and not all(listed.values())
    for place in mine:
        if place.id not in states:
            states[place.id] = _missing(place, session, is_full=is_full)
    return states


def _missing(place: FolderSkill, session: ClientSession, *, is_full: bool) -> ListState:
    if place.reasons and session.client not in place.shown:
        return ListState("hidden")
    if place.came > session.at:
        return ListState("new")
    if is_full:
        return ListState("cut", about="it is left out of the list")
    return ListState("absent")


def _full(skill: LibrarySkill | None) -> str:
    if skill is None:
        return ""
    return " ".join(f"{skill.description} - {skill.when_to_use}".split()).rstrip(" -")


def _start(text: str) -> str:
    return text.rstrip("".join(_ENDS))


def _state(text: str, whole: str) -> ListState:
    """Return the state of a skill that is in the list with a text."""
    if whole and not text:
        return ListState("cut", about="only its name is listed")
    start = _start(text)
    rest = whole[len(start) :]
    # The field for when to use it is a part that some clients leave off.
    if whole.startswith(start) and _start(rest) and not rest.startswith(" - "):
        return ListState("cut", text, f"it is cut to {len(text)} characters")
    return ListState("listed", text)  # perhaps with a description of then


def predicted_states(
    session: ClientSession, mine: Sequence[FolderSkill]
) -> dict[str, ListState]:
    """Return the state of each skill by the measured rule: no list is recorded."""
    client, states = session.client, dict[str, ListState]()
    there: dict[str, LibrarySkill] = {}
    for place in mine:
        shown = place.shown.get(client)
        if shown is None:
            states.setdefault(place.id, ListState("hidden"))
        elif place.written > session.at:
            states.setdefault(place.id, ListState("unsure"))
        else:
            there[place.id] = shown
    windows = (session.window,) if session.window else tuple(WINDOWS.values())
    tables = [_predicted(client, tuple(there.items()), size) for size in windows]
    for skill in there:
        ways = {table.get(skill, ListState("unsure")) for table in tables}
        states[skill] = ways.pop() if len(ways) == 1 else ListState("unsure")
    return states


@lru_cache(512)
def _predicted(
    client: str, skills: tuple[tuple[str, LibrarySkill], ...], window: int
) -> dict[str, ListState]:
    rule = listing_rules().get(client)
    if rule is None:
        return {}
    ids = {skill: key for key, skill in skills}
    listing = predict_listing(rule, list(ids), window, advises=False)
    states: dict[str, ListState] = {}
    for one in listing.skills:
        if one.state == "left-out":
            state = ListState("cut", about="it is left out of the list, by the rule")
        else:
            state = _state(" ".join(one.text.split()), _full(one.skill))
        states[ids[one.skill]] = state
    return states
