"""Skills that compete for queries, and those that another one hides."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from satchel.evals._boundaries import Claims, claims_of
from satchel.evals._case import EvalCase
from satchel.evals._library import EvalLibrary, SkillView
from satchel.model import Descriptor, Finding
from satchel.search import SegmentRanker

# Only the best hits matter, and what ties with them.
_DEPTH: Final = 3
# The share of a skill's queries that one other has to take, by where they are from:
# several descriptions may have a sentence in common, and differ in the others.
_TAKEN: Final = {"queries": 0.5, "sentences": 0.75}
# A thief has at least this share of a query's words: one word in common is chance.
_COVERS: Final = 0.34
_FEWEST_WORDS: Final = 3
_MAX_SHOWN_WORDS: Final = 5


@dataclass(frozen=True, slots=True)
class Rival:
    """A skill that takes queries of another one: an edge of the graph.

    ``queries`` are those that it takes, ``of`` how many the other has; ``proof`` says
    where they come from.
    """

    skill: str
    taken_by: str
    queries: tuple[str, ...]
    of: int
    proof: str

    @property
    def share(self) -> float:
        """The share of the queries that are taken."""
        return len(self.queries) / self.of


@dataclass(frozen=True, slots=True)
class Shadow:
    """A skill that is hidden by another, and words that could tell them apart.

    ``own`` are words of its queries that the other's description does not have,
    ``missing`` those of them that its own has not either.
    """

    rival: Rival
    own: tuple[str, ...]
    missing: tuple[str, ...]
    location: str

    def finding(self) -> Finding:
        """Return the finding for an author."""
        rival = self.rival
        if self.missing:
            words = f"words that would tell them apart: {', '.join(self.missing)}"
        elif self.own:
            words = f"only it has: {', '.join(self.own)}"
        else:
            words = "no word of these queries tells them apart"
        return Finding.of(
            "shadowed-skill",
            self.location,
            thief=rival.taken_by,
            taken=len(rival.queries),
            queries=f"{rival.of} {rival.proof}",
            query=repr(" ".join(rival.queries[0].split())[:80]),
            words=words,
        )


class Competition:
    """The skills of a library, by what their descriptions claim.

    Names are left out, and so are instructions: a catalog shows a model descriptions,
    and a verdict may not change where a skill is only renamed.
    """

    def __init__(self, library: EvalLibrary) -> None:
        self._library = library
        self.claims: dict[str, Claims] = {
            skill.id: claims_of(skill.description, self._others(skill.id))
            for skill in library.skills
        }
        self._ranker = SegmentRanker()
        # Numbered by what they say, so that no order of files or names counts.
        texts = {
            skill.id: (self.claims[skill.id].text, skill.keywords)
            for skill in library.skills
        }
        ids = sorted(texts, key=lambda skill_id: texts[skill_id])
        self._id_of = {f"{number:06}": key for number, key in enumerate(ids)}
        # Names differ, so that none counts as a copy of another.
        self._anonymous = tuple(
            Descriptor(number, texts[key][0], number, keywords=texts[key][1])
            for number, key in self._id_of.items()
        )

    def _others(self, skill_id: str) -> Callable[[str], tuple[str, ...]]:
        def others(name: str) -> tuple[str, ...]:
            return tuple(one for one in self._library.ids_of(name) if one != skill_id)

        return others

    def scores(self, queries: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
        """Return the scores of the skills that match each query best, by id."""
        queries = dict.fromkeys(queries)
        view = SkillView(self._anonymous, {})
        involved = self._ranker.having_any(view, queries)
        if len(involved) < len(view.entries):
            view = SkillView(tuple(e for e in view.entries if e.id in involved), {})
        return {
            query: {
                self._id_of[key]: score
                for key, score in self._ranker.scores(view, query, _DEPTH).items()
            }
            for query in queries
        }

    def rivals(self, cases: Sequence[EvalCase]) -> tuple[Rival, ...]:
        """Return who takes whose queries, most first.

        The queries of a skill are those of its evals, and the sentences of its own
        description, which no other skill should match better than it does.
        """
        own: dict[tuple[str, str], dict[str, frozenset[str]]] = defaultdict(dict)
        for case in cases:
            for skill in case.expected:
                own[skill, "queries"][case.query] = frozenset(case.expected)
        for skill, claims in self.claims.items():
            for sentence in claims.sentences:
                if len(self._library.words(sentence)) >= _FEWEST_WORDS:
                    own[skill, "sentences"][sentence] = frozenset({skill})
        names = {skill.id: skill.name for skill in self._library.skills}
        scores = self.scores(query for queries in own.values() for query in queries)
        rivals: list[Rival] = []
        for (skill, proof), queries in own.items():
            taken: dict[str, list[str]] = defaultdict(list)
            for query, right in queries.items():
                for other in self._takers(query, skill, scores[query]):
                    # Several packs of one name are `duplicate-skill`, and no rivals.
                    if other not in right and names[other] != names[skill]:
                        taken[other].append(query)
            rivals += [
                Rival(skill, other, tuple(some), len(queries), proof)
                for other, some in taken.items()
            ]
        return tuple(
            sorted(rivals, key=lambda r: (-r.share, r.skill, r.taken_by, r.proof))
        )

    def takes(self, rival: Rival) -> int:
        """Return how many of these queries the other skill still takes."""
        scores = self.scores(rival.queries)
        return sum(
            rival.taken_by in self._takers(query, rival.skill, scores[query])
            for query in rival.queries
        )

    def _takers(self, query: str, skill: str, scores: Mapping[str, int]) -> list[str]:
        """Return the skills that fit a query at least as well as its own, and best."""
        best = max(scores.values(), default=0)
        mine = scores.get(skill, 0)
        return [
            other
            for other, score in scores.items()
            if score >= mine
            and score == best
            and other != skill
            and self._covers(query, other)
            and not self._yields(query, other, skill)
        ]

    def _covers(self, query: str, skill: str) -> bool:
        words = self._library.words(query)
        having = self._library.words(self.claims[skill].text)
        return len(words.keys() & having.keys()) >= _COVERS * len(words)

    def _yields(self, query: str, thief: str, skill: str) -> bool:
        """Return whether a skill's boundary hands such a query to the other one."""
        words = self._library.words(query).keys()
        return any(
            skill in boundary.instead
            and words & self._library.words(boundary.text).keys()
            for boundary in self.claims[thief].boundaries
        )


def hidden_skills(
    cases: Sequence[EvalCase], library: EvalLibrary
) -> tuple[tuple[Rival, ...], tuple[Shadow, ...]]:
    """Return who takes whose queries, and the skills that are hidden by another."""
    rivals = Competition(library).rivals(cases)
    return rivals, shadows(library, rivals)


def shadows(library: EvalLibrary, rivals: Iterable[Rival]) -> tuple[Shadow, ...]:
    """Return the skills that another one hides, each once, with the best proof."""
    best: dict[str, Rival] = {}
    for rival in rivals:
        # One of two may be chance.
        few = len(rival.queries) < min(2, rival.of)
        if few or rival.share < _TAKEN[rival.proof]:
            continue
        so_far = best.get(rival.skill)
        if so_far is None or (rival.share, len(rival.queries)) > (
            so_far.share,
            len(so_far.queries),
        ):
            best[rival.skill] = rival
    return tuple(_shadow(rival, library) for _, rival in sorted(best.items()))


def _shadow(rival: Rival, library: EvalLibrary) -> Shadow:
    own = library.telling(rival.queries, not_by=(rival.taken_by,))
    missing = library.telling(rival.queries, not_by=(rival.taken_by, rival.skill))
    return Shadow(
        rival,
        own[:_MAX_SHOWN_WORDS],
        missing[:_MAX_SHOWN_WORDS],
        f"{library.get(rival.skill).origin.location}/SKILL.md",
    )
