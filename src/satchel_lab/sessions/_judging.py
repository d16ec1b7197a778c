"""What sessions show of the skills on this machine: evidence, skill by skill."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from satchel.model import Catalog, Hit
from satchel.search import SegmentRanker
from satchel_lab.checking import PackLibrary
from satchel_lab.evals import EvalLibrary
from satchel_lab.lint import is_english
from satchel_lab.sessions._files import SessionFiles
from satchel_lab.sessions._folders import (
    FolderSkill,
    folder_skills,
    open_folders,
    roots_of,
)
from satchel_lab.sessions._rows import ClientSession, SessionUse
from satchel_lab.sessions._states import (
    ListState,
    predicted_states,
    recorded_states,
)
from satchel_lab.sessions._verdicts import (
    USE_VERDICTS,
    PassedTurn,
    SkillEvidence,
    SkillVerdict,
    verdict_of,
)

# A turn may be for a skill from this confidence on, or with a word that few others say:
# two of them, or one of twenty. A hit so many times as good takes it from the others.
_NEAR: Final = 0.05
_FEW_SAYERS: Final = 2
_RARE_SHARE: Final = 20
_CLEARLY: Final = 5
_HITS: Final = 5
_LEAST_WORDS: Final = 2


class LoadedSkill(NamedTuple):
    """A load of a skill, and the session that it was in."""

    skill: str
    session: ClientSession
    use: SessionUse


@dataclass(frozen=True, slots=True)
class UseReport:
    """The verdict on each skill, what there is to do something about first.

    ``loads`` are in the order of the sessions. ``elsewhere`` are names that lists have
    and no folder here: skills of plugins, and of the clients themselves.
    """

    skills: tuple[SkillVerdict, ...]
    loads: tuple[LoadedSkill, ...]
    elsewhere: frozenset[str]
    folders: tuple[str, ...]
    turns: int


def judge_skills(files: SessionFiles, more: Sequence[str] = ()) -> UseReport:
    """Return the verdict on each skill in the folders that these sessions could have.

    Args:
        files: The sessions.
        more: Folders of skills that no client reads by itself.
    """
    around = {_place(one): roots_of(*_place(one)) for one in files.sessions}
    roots = {folder: frozenset[str]() for folder in more}
    for some in around.values():
        for root, clients in some.items():
            roots[root] = roots.get(root, frozenset()) | clients
    with ExitStack() as stack:
        library, skipped = open_folders(roots, stack)
        judge = _Judge(library, roots, around)
        for number, session in enumerate(files.sessions):
            judge.take(number, session)
    is_complete = not (files.unread or skipped)
    verdicts = [verdict_of(e, is_complete=is_complete) for e in judge.evidence.values()]
    verdicts.sort(key=_order)
    return UseReport(
        tuple(verdicts),
        tuple(judge.loads),
        frozenset(judge.elsewhere),
        tuple(roots),
        judge.turns,
    )


def _order(one: SkillVerdict) -> tuple[int, bool, int, str]:
    fits = len(one.evidence.passed) + len(one.evidence.cut_fits)
    place = USE_VERDICTS.index(one.verdict)
    return place, not one.is_dead, -fits, one.evidence.skill


_Place = tuple[str, str, str]


def _place(session: ClientSession) -> _Place:
    return session.client, session.cwd, session.config


class _Served(NamedTuple):
    """The first turn in which each skill was loaded, and all turns with a load."""

    first: dict[str, int]
    turns: set[int]

    def has(self, skill: str, turn: int) -> bool:
        """Tell whether a turn had this skill, or loaded another one.

        Loaded before, a skill is still in the conversation; right after counts, too.
        """
        return turn in self.turns or self.first.get(skill, turn + 2) <= turn + 1


class _Judge:
    """Evidence on the skills of a library, collected session by session."""

    def __init__(
        self,
        library: PackLibrary,
        roots: Mapping[str, frozenset[str]],
        around: Mapping[_Place, Mapping[str, frozenset[str]]],
    ) -> None:
        self._around = around
        self._more = [root for root, clients in roots.items() if not clients]
        self._evals = EvalLibrary(library.packs, library.catalog.readers)
        self._catalog = Catalog(self._evals.skills, readers=library.catalog.readers)
        self._ranker = SegmentRanker()
        self._places: dict[str, list[FolderSkill]] = {root: [] for root in roots}
        self._by_folder: dict[str, str] = {}
        for place in folder_skills(library, self._evals, roots):
            self._places[place.root].append(place)
            self._by_folder[place.folder] = place.id
        self._english = {s.id for s in self._evals.skills if is_english(s.description)}
        self._sayers: dict[str, set[str]] = {}
        for skill in self._evals.skills:
            for stem in self._evals.words(f"{skill.name} {skill.description}"):
                self._sayers.setdefault(stem, set()).add(skill.id)
        ids = {place.id for places in self._places.values() for place in places}
        self.evidence = {skill: SkillEvidence(skill) for skill in sorted(ids)}
        self.loads: list[LoadedSkill] = []
        self.elsewhere: set[str] = set()
        self.turns = 0

    def take(self, number: int, session: ClientSession) -> None:
        """Add what a session shows."""
        roots = (*self._around[_place(session)], *self._more)
        here = [place for root in roots for place in self._places.get(root, ())]
        served = self._take_uses(session, here)
        turns = [at for at, turn in enumerate(session.turns) if not turn.is_copy]
        if not turns:
            return
        self.turns += len(turns)
        states = self._states(session, here)
        for skill, state in states.items():
            self._count(self.evidence[skill], session, state, here)
        for at in turns:
            self._take_turn(number, session, at, states, served)

    def _count(
        self,
        one: SkillEvidence,
        session: ClientSession,
        state: ListState,
        here: Sequence[FolderSkill],
    ) -> None:
        places = [place for place in here if place.id == one.skill]
        one.clients |= {session.client}
        if session.gaps:  # what is missing may be about it
            names = {name for place in places for name in place.names(session.client)}
            one.opened += any(name in gap for name in names for gap in session.gaps)
            return
        one.sessions += state.how != "new"
        one.listed += state.how == "listed"
        one.cut += state.how == "cut"
        one.cut_how = state.about or one.cut_how
        one.absent += state.how == "absent"
        one.hidden += state.how == "hidden"
        one.unread += state.how == "unread"
        one.unsure += state.how == "unsure"
        if state.how == "hidden":
            reasons = (p.reasons.get(session.client) for p in places)
            one.reasons[session.client] = next(filter(None, reasons), "not loaded")

    def _take_uses(
        self, session: ClientSession, here: Sequence[FolderSkill]
    ) -> _Served:
        """Count what a session loaded and opened."""
        uses = [(use, self._used(use, session, here)) for use in session.uses]
        # Who edits a skill reads it first, which is no use of it.
        edited = {skill for use, ids in uses if use.is_edit for skill in ids}
        served = _Served({}, set())
        for use, ids in uses:
            is_load = bool(use.name) or _is_skill_file(use)
            if is_load:
                served.turns.add(use.turn)
            for skill in sorted(ids):
                one = self.evidence[skill]
                if not is_load or (skill in edited and not use.name):
                    one.opened += 1
                    continue
                served.first.setdefault(skill, use.turn)
                if not use.is_copy:
                    one.loads += 1
                    one.last = max(one.last, use.at)
                    self.loads.append(LoadedSkill(skill, session, use))
        return served

    def _used(
        self, use: SessionUse, session: ClientSession, here: Sequence[FolderSkill]
    ) -> set[str]:
        """Return the skills that a name or a path means; several share a name."""
        if use.name:
            return {p.id for p in here if use.name in p.names(session.client)}
        path = use.path.replace("\\", "/")
        if path.startswith("~/"):
            path = f"{Path(session.config or Path.home() / 'x').parent}{path[1:]}"
        path = os.path.normpath(os.path.join(session.cwd, path))  # noqa: PTH118
        for folder in (path, *map(str, Path(path).parents)):
            if folder in self._by_folder:
                return {self._by_folder[folder]}
        # A session of another machine, or a link: by the folders next to the skill.
        path = f"{path.replace(os.sep, '/')}/"
        tails = {p.id: "/".join(Path(p.folder).parts[-3:]) for p in here}
        return {skill for skill, tail in tails.items() if f"/{tail}/" in path}

    def _states(
        self, session: ClientSession, here: Sequence[FolderSkill]
    ) -> dict[str, ListState]:
        """Return what became of each skill in the list of a session."""
        client, listed = session.client, session.listed
        mine = [p for p in here if p.is_read_by(client)]
        if listed is None:
            read = predicted_states(session, mine)
        else:
            names = {name for place in here for name in place.names(client)}
            self.elsewhere |= listed.keys() - names
            # A client lists more than its usual folders: those that it was told of.
            told = [
                p for p in here if p not in mine and p.names(client) & listed.keys()
            ]
            read = recorded_states(session, [*mine, *told], listed)
        return {p.id: read.get(p.id, ListState("unread")) for p in here}

    def _take_turn(
        self,
        number: int,
        session: ClientSession,
        at: int,
        states: Mapping[str, ListState],
        served: _Served,
    ) -> None:
        text = session.turns[at].text
        hits = self._ranker.rank(
            self._catalog,
            text,
            _HITS,
            lambda entry: entry.id in states,
            whole=True,
        )
        near = self._near(text, hits)
        is_clear = not session.gaps and is_english(text)
        for skill, state in states.items():
            if state.how in ("listed", "cut"):
                one = self.evidence[skill]
                one.near += skill in near
                one.turns += skill in near or (is_clear and skill in self._english)
        for hit in hits:
            if not _is_fit(hit):
                continue
            if served.has(hit.id, at):
                self.evidence[hit.id].served += 1
                continue
            state = states[hit.id]
            is_whole = state.how == "listed"
            fit = PassedTurn(number, at, text, hit.confidence, is_whole)
            self._take_fit(hit, fit, state)

    def _near(self, text: str, hits: Sequence[Hit]) -> set[str]:
        """Return the skills that a turn may be for: with one rare word of theirs.

        A turn that is clearly for one skill is for no other that it hardly matches.
        """
        sure = {hit.id: hit.confidence for hit in hits}
        telling = {*self._evals.telling([text])}
        words = self._evals.words(text).items()
        sayers = [self._sayers.get(s, set()) for s, word in words if word in telling]
        rare = max(_FEW_SAYERS, len(self.evidence) // _RARE_SHARE)
        near = set[str]().union(*(some for some in sayers if len(some) <= rare))
        near |= {skill for skill, share in sure.items() if share >= _NEAR}
        best = hits[0] if hits else None
        if best is None or not _is_fit(best):
            return near
        least = best.confidence / _CLEARLY
        return {skill for skill in near if sure.get(skill, 0) >= least}

    def _take_fit(self, hit: Hit, turn: PassedTurn, state: ListState) -> None:
        one = self.evidence[hit.id]
        if state.how == "cut" and not state.says(hit.matches):
            one.cut_fits.append(turn)
        elif state.how in ("listed", "cut"):
            one.passed.append(turn)
        elif state.how == "unsure":
            one.near += 1
        else:
            one.absent_fits += 1


def _is_fit(hit: Hit) -> bool:
    """Tell whether a skill fits a turn: one word alone says little."""
    return not hit.weak and len(hit.matches) >= _LEAST_WORDS


def _is_skill_file(use: SessionUse) -> bool:
    """Tell whether a use read the skill itself."""
    name = use.path.replace("\\", "/").rpartition("/")[2]
    return not use.is_edit and name.casefold() == "skill.md"
