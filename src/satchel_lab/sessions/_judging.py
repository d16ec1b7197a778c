"""What sessions show of the skills on this machine: evidence, skill by skill."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from satchel.model import DEFAULT_LIMITS, Catalog, Hit
from satchel.search import SegmentRanker
from satchel_lab.checking import PackFolder, PackLibrary, open_library
from satchel_lab.evals import EvalLibrary
from satchel_lab.lint import is_english
from satchel_lab.sessions._files import NO_SESSION, SessionFiles
from satchel_lab.sessions._folders import FolderSkill, folder_skills, roots_of
from satchel_lab.sessions._rows import ClientSession, SessionUse
from satchel_lab.sessions._states import ListState, list_states
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
_LISTED: Final = ("listed", "part", "cut")
_SKILL_FILE: Final = "skill.md"


class ImportedLoad(NamedTuple):
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
    loads: tuple[ImportedLoad, ...]
    elsewhere: frozenset[str]
    folders: tuple[str, ...]
    turns: int


def judge_skills(files: SessionFiles, more: Sequence[str] = ()) -> UseReport:
    """Return the verdict on each skill in the folders that these sessions could have.

    Args:
        files: The sessions.
        more: Folders of skills that no client reads by itself.
    """
    around: dict[tuple[str, ...], dict[str, set[str]]] = {}
    roots: dict[str, set[str]] = {folder: set() for folder in more}
    for one in files.sessions:
        place = one.client, one.cwd, one.config
        if place not in around:
            around[place] = roots_of(one)
            for root, clients in around[place].items():
                roots.setdefault(root, set()).update(clients)
    folders = [PackFolder(root, root) for root in roots]
    with open_library(folders, profile="lenient", limits=DEFAULT_LIMITS) as library:
        judge = _Judge(library, roots)
        for number, one in enumerate(files.sessions):
            judge.take(number, one, [*around[one.client, one.cwd, one.config], *more])
    is_complete = {why for _, why in files.unread} <= {NO_SESSION}
    every = [verdict_of(e, is_complete=is_complete) for e in judge.evidence.values()]
    every.sort(key=_order)
    elsewhere, turns = frozenset(judge.elsewhere), judge.turns
    return UseReport(tuple(every), tuple(judge.loads), elsewhere, tuple(roots), turns)


def _order(one: SkillVerdict) -> tuple[int, bool, int, str]:
    fits = len(one.evidence.fits)
    place = USE_VERDICTS.index(one.verdict)
    return place, not one.is_dead, -fits, one.evidence.skill


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

    def __init__(self, library: PackLibrary, roots: Mapping[str, set[str]]) -> None:
        self._evals = EvalLibrary(library.packs, library.catalog.readers)
        self._catalog = Catalog(self._evals.skills, readers=library.catalog.readers)
        self._ranker = SegmentRanker()
        self._places: dict[str, list[FolderSkill]] = {root: [] for root in roots}
        self._of_folder: dict[str, str] = {}
        for place in folder_skills(library, self._evals, roots):
            self._places[place.root].append(place)
            self._of_folder[place.folder] = place.id
            # Codex lists where a link leads.
            self._of_folder.setdefault(os.path.realpath(place.folder), place.id)
        self._english = {s.id for s in self._evals.skills if is_english(s.description)}
        self._sayers: dict[str, set[str]] = {}
        for skill in self._evals.skills:
            for stem in self._evals.words(f"{skill.name} {skill.description}"):
                self._sayers.setdefault(stem, set()).add(skill.id)
        ids = sorted({*self._of_folder.values()})
        self.evidence = {skill: SkillEvidence(skill) for skill in ids}
        self.loads: list[ImportedLoad] = []
        self.elsewhere: set[str] = set()
        self.turns = 0

    def take(self, number: int, session: ClientSession, roots: Sequence[str]) -> None:
        """Add what a session shows."""
        here = [place for root in roots for place in self._places[root]]
        served = self._take_uses(session, here)
        turns = [at for at, turn in enumerate(session.turns) if not turn.is_copy]
        if not turns:
            return
        self.turns += len(turns)
        names = {place.id: place.names for place in here}
        self.elsewhere |= {*(session.listed or ())}.difference(*names.values())
        states = list_states(session, here)
        for skill, state in states.items():
            one = self.evidence[skill]
            # What is missing may be about it.
            gaps = (name in gap for name in names[skill] for gap in session.gaps)
            one.counts["opened"] += any(gaps)
            if session.gaps:
                one.counts["seen"] += state.how in _LISTED
            elif state.how != "new":
                one.counts.update((state.how, "sessions"))
                one.cut_how = state.about or one.cut_how
            if state.how == "hidden":
                reasons = (p.reasons.get(session.client) for p in here if p.id == skill)
                one.reasons[session.client] = next(filter(None, reasons), "not loaded")
        for at in turns:
            self._take_turn(number, session, at, states, served)

    def _take_uses(
        self, session: ClientSession, here: Sequence[FolderSkill]
    ) -> _Served:
        """Count what a session loaded and opened."""
        uses = [(use, self._used(use, session, here)) for use in session.uses]
        # Who edits a skill reads it first, which is no use of it.
        edited = {skill for use, ids in uses if use.how == "edit" for skill in ids}
        served = _Served({}, set())
        for use, ids in uses:
            is_named = use.how == "load"
            is_read = use.how == "open" and use.what.lower().endswith(_SKILL_FILE)
            if is_named or is_read:
                served.turns.add(use.turn)
            for skill in sorted(ids):
                one = self.evidence[skill]
                if not (is_named or (is_read and skill not in edited)):
                    one.counts["opened"] += 1
                    continue
                served.first.setdefault(skill, use.turn)
                if not use.is_copy:
                    one.counts["loads"] += 1
                    one.last = max(one.last, use.at)
                    self.loads.append(ImportedLoad(skill, session, use))
        return served

    def _used(
        self, use: SessionUse, session: ClientSession, here: Sequence[FolderSkill]
    ) -> set[str]:
        """Return the skills that a name or a path means; several share a name."""
        if use.how == "load":
            return {place.id for place in here if use.what in place.names}
        path = use.what.replace("\\", "/")
        if path.startswith("~/"):
            home = Path(session.config).parent if session.config else Path.home()
            path = f"{home}{path[1:]}"
        path = os.path.normpath(f"{session.cwd}/{path}" if path[:1] != "/" else path)
        for folder in (path, *map(str, Path(path).parents)):
            if folder in self._of_folder:
                return {self._of_folder[folder]}
        # A session of another machine, or a link: by the folders next to the skill.
        path = f"{path.replace(os.sep, '/')}/"
        tails = {place.id: "/".join(Path(place.folder).parts[-3:]) for place in here}
        return {skill for skill, tail in tails.items() if f"/{tail}/" in path}

    def _take_turn(
        self,
        number: int,
        session: ClientSession,
        at: int,
        states: Mapping[str, ListState],
        served: _Served,
    ) -> None:
        text, accepts = session.turns[at].text, states.__contains__
        hits = self._ranker.rank(
            self._catalog, text, _HITS, lambda entry: accepts(entry.id), whole=True
        )
        near = self._near(text, hits)
        is_clear = session.turns[at].is_whole and not session.gaps and is_english(text)
        spoken = near | (self._english if is_clear else set[str]())
        for skill, state in states.items():
            if state.how in _LISTED:
                counts = self.evidence[skill].counts
                counts["near"] += skill in near
                counts["turns"] += skill in spoken
        for hit in filter(_is_fit, hits):
            state, one = states[hit.id], self.evidence[hit.id]
            if served.has(hit.id, at):
                one.counts["served"] += 1
            elif session.gaps:  # what is missing may be the load
                continue
            elif state.how in _LISTED:
                how = "part" if state.says(hit.matches) else "cut"
                how = "listed" if state.how == "listed" else how
                one.fits.append(PassedTurn(number, at, text, hit.confidence, how))
            else:
                one.counts["near" if state.how == "unsure" else "missed"] += 1

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
        fits = [hit.confidence for hit in hits if _is_fit(hit)]
        least = max(fits, default=0.0) / _CLEARLY
        return {skill for skill in near if sure.get(skill, 0) >= least}


def _is_fit(hit: Hit) -> bool:
    """Tell whether a skill fits a turn: one word alone says little."""
    return not hit.weak and len(hit.matches) >= _LEAST_WORDS
