"""Skills that compete for queries, those that another one hides, and their claims."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Final

from satchel.model import Catalog, Descriptor, Finding
from satchel.search import SegmentRanker
from satchel_lab.evals._dialects import EvalCase
from satchel_lab.evals._library import EvalLibrary
from satchel_lab.evals._routing import involved

# An end of a sentence is no point in "e.g." or in a version.
_SENTENCE: Final = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+|\s+[\u2013\u2014]\s+"
)
_NOT_FOR: Final = re.compile(
    r"""
    \b(?:do\s+not|don['\u2019]t|does\s+not|doesn['\u2019]t|never|should\s*n[o'\u2019]t|must\s+not|
        not\s+to\s+be|cannot|can['\u2019]t|won['\u2019]t)\s+(?:\w+\s+){0,3}?
        (?:use|used|invoke|trigger|load|activate|apply|call|handle|cover|support|
           include|fire|need)\w*\b
  | \bnot\s+(?:intended\s+|meant\s+|suitable\s+|designed\s+|applicable\s+|needed\s+|
        appropriate\s+|used\s+)?(?:for|when|if)\b
  | \b(?:skip|avoid)\s+(?:this|it|for|when|if|using)\b
  | \bout\s+of\s+scope\b | \bnon-?goals?\b
  | \b(?:instead\s+of|rather\s+than|as\s+opposed\s+to|except\s+for|excluding)\b
  | 不要?(?:用于|使用|适用) | 不适用 | 请勿 | 不得用于 | 使用しない | 対象外
  | \bnicht\s+(?:für|bei|wenn|verwenden)\b | \bno\s+usar\b | \bne\s+pas\s+utiliser\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "use X instead" hands the sentence over to X, where X is another skill.
_HAND_OVER: Final = re.compile(
    r"""\b(?:use|see|prefer|try|load|invoke|call|defer\s+to|switch\s+to|go\s+to|
        belongs?\s+to|handled\s+by|covered\s+by|hand\s+(?:it\s+)?(?:over|off)\s+to)
        \s+(?:the\s+|skill\s+)*
        (?P<quote>[`"'\u2018\u201c/@$]*)(?P<name>\w[\w.:-]*\w)
        (?P<after>\W{0,2}\s*(?:instead|skill)\b)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGN: Final = re.compile(r"[-_:.]")


@dataclass(frozen=True, slots=True)
class Boundary:
    """A sentence on what a skill is not for, and the skills that it names for it."""

    text: str
    instead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claims:
    """What a description says a skill is for, sentence by sentence, and is not for."""

    sentences: tuple[str, ...]
    boundaries: tuple[Boundary, ...]

    @property
    def text(self) -> str:
        """The claims as one text."""
        return " ".join(self.sentences)


def claims_of(
    description: str, skills_named: Callable[[str], tuple[str, ...]]
) -> Claims:
    """Return the claims and the boundaries of a description.

    Args:
        description: The text of a manifest.
        skills_named: Returns the ids of the other skills that have a name.
    """
    sentences: list[str] = []
    boundaries: list[Boundary] = []
    for sentence in filter(None, map(str.strip, _SENTENCE.split(description))):
        instead = _named(sentence, skills_named)
        cue = _NOT_FOR.search(sentence)
        if cue is None and not instead:
            sentences.append(sentence)
            continue
        start = 0 if cue is None else cue.start()
        # "For X use other-skill" is about X as a whole; "A, not for B" claims A.
        before = "" if instead and cue is None else sentence[:start]
        if before.strip(" ,(:-"):
            sentences.append(before.strip(" ,(:-"))
        boundaries.append(Boundary(sentence[start:], instead))
    return Claims(tuple(sentences), _joined(boundaries))


def _named(
    sentence: str, skills_named: Callable[[str], tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the skills that a sentence hands over to."""
    names = (
        match["name"]
        for match in _HAND_OVER.finditer(sentence)
        # A plain word, such as `review`, may be a name by chance.
        if match["quote"] or match["after"] or _SIGN.search(match["name"])
    )
    return tuple(dict.fromkeys(skill for name in names for skill in skills_named(name)))


def _joined(boundaries: list[Boundary]) -> tuple[Boundary, ...]:
    """Join "Not for X." with a following "Use other-skill instead."."""
    joined: list[Boundary] = []
    for boundary in boundaries:
        last = joined[-1] if joined else None
        if last is not None and not last.instead and boundary.instead:
            joined[-1] = Boundary(f"{last.text} {boundary.text}", boundary.instead)
        else:
            joined.append(boundary)
    return tuple(joined)


def moved_queries(before: Catalog, after: Catalog) -> Iterator[Mapping[str, str]]:
    """Yield the queries of skills that lose or gain the first place in a later catalog.

    They are the sentences of each description that is in both catalogs; each comes with
    its skill, and what it finds first in the one catalog and in the other.
    """
    views = (before, SegmentRanker()), (after, SegmentRanker())
    for skill in before:
        same = after.get(skill.id)
        if same is None or same.description != skill.description:
            continue
        for query in claims_of(skill.description, lambda _: ()).sentences:
            ranked = [ranker.rank(view, query, 1, whole=True) for view, ranker in views]
            first, now = (hits[0].id if hits else "" for hits in ranked)
            if first != now and skill.id in {first, now}:
                row = {"skill": skill.id, "query": query}
                yield {**row, "before": first, "after": now}


# Only the best hits matter, and what ties with them.
_DEPTH: Final = 3
# The share of a skill's queries that one other has to take, by where they are from:
# several descriptions may have a sentence in common, and differ in the others.
_TAKEN: Final = {"queries": 0.5, "sentences": 0.75}
# A thief has at least this share of a query's words: one word in common is chance.
_COVERS: Final = 0.34
# A skill that is hidden by one with so many of its words is a duplicate of it.
_NEARLY: Final = 0.75
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


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A skill whose description says what those of others say, by their ids."""

    skill: str
    of: tuple[str, ...]
    location: str

    def finding(self) -> Finding:
        """Return the finding for an author."""
        place = "shadowed-skill", self.location
        others = ", ".join(self.of)
        return Finding.of(*place, sentence="duplicate", others=others)


class Competition:
    """The skills of a library, by what their descriptions claim.

    Names are left out, and so are instructions: a catalog shows a model descriptions,
    and a verdict may not change where a skill is only renamed.
    """

    def __init__(self, library: EvalLibrary) -> None:
        self._library = library
        self.claims: dict[str, Claims] = {
            skill.id: claims_of(skill.description, partial(self._others, skill.id))
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

    def _others(self, skill_id: str, name: str) -> tuple[str, ...]:
        return tuple(one for one in self._library.ids_of(name) if one != skill_id)

    def scores(self, queries: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
        """Return the scores of the skills that match each query best, by id."""
        queries = dict.fromkeys(queries)
        view = involved(Catalog(self._anonymous), queries, self._ranker)
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
        scores = self.scores(query for queries in own.values() for query in queries)
        rivals: list[Rival] = []
        for (skill, proof), queries in own.items():
            taken: dict[str, list[str]] = defaultdict(list)
            for query, right in queries.items():
                for other in self._takers(query, skill, scores[query]):
                    if other not in right and self._differ(other, skill):
                        taken[other].append(query)
            rivals += [
                Rival(skill, other, tuple(some), len(queries), proof)
                for other, some in taken.items()
            ]
        return tuple(
            sorted(rivals, key=lambda r: (-r.share, r.skill, r.taken_by, r.proof))
        )

    def duplicates(self, rivals: Iterable[Rival]) -> Mapping[str, set[str]]:
        """Return of each skill the others of the same claims, or that hide nearly so.

        What a boundary says does not count: skills that hand all of their work to one
        another are duplicates, too.
        """
        words = {
            skill: frozenset(self._library.words(claims.text))
            for skill, claims in self.claims.items()
        }
        alike: dict[frozenset[str], list[str]] = defaultdict(list)
        for skill, own in words.items():
            alike[own].append(skill)
        equal = (same for own, same in alike.items() if own)
        pairs = {pair for same in equal for pair in permutations(same, 2)}
        for rival in most_hidden(rivals).values():
            mine, theirs = words[rival.skill], words[rival.taken_by]
            if len(mine & theirs) >= _NEARLY * len(mine | theirs):
                pair = rival.skill, rival.taken_by
                pairs |= {pair, pair[::-1]}
        same_as: dict[str, set[str]] = defaultdict(set)
        for one, other in pairs:
            if self._differ(one, other):
                same_as[one].add(other)
        return same_as

    def _differ(self, one: str, other: str) -> bool:
        """Return whether names differ: packs of one name are `duplicate-skill`."""
        return self._library.get(one).name != self._library.get(other).name

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
) -> tuple[tuple[Rival, ...], tuple[Shadow, ...], tuple[Duplicate, ...]]:
    """Return who takes whose queries, the skills that are hidden, and duplicates."""
    competition = Competition(library)
    rivals = competition.rivals(cases)
    same = competition.duplicates(rivals)
    others = (one for one in rivals if one.taken_by not in same.get(one.skill, ()))
    hidden = (_shadow(rival, library) for rival in most_hidden(others).values())
    duplicates = (
        Duplicate(skill, tuple(sorted(of)), _location(skill, library))
        for skill, of in sorted(same.items())
    )
    return rivals, tuple(hidden), tuple(duplicates)


def _weight(rival: Rival) -> tuple[float, int]:
    return rival.share, len(rival.queries)


def most_hidden(rivals: Iterable[Rival]) -> Mapping[str, Rival]:
    """Return the skills that another one hides, by id, each with the best proof."""
    best: dict[str, Rival] = {}
    for rival in rivals:
        # One of two may be chance.
        few = len(rival.queries) < min(2, rival.of)
        if few or rival.share < _TAKEN[rival.proof]:
            continue
        best[rival.skill] = max(best.get(rival.skill, rival), rival, key=_weight)
    return dict(sorted(best.items()))


def _shadow(rival: Rival, library: EvalLibrary) -> Shadow:
    own = library.telling(rival.queries, not_by=(rival.taken_by,))
    missing = library.telling(rival.queries, not_by=(rival.taken_by, rival.skill))
    place = _location(rival.skill, library)
    return Shadow(rival, own[:_MAX_SHOWN_WORDS], missing[:_MAX_SHOWN_WORDS], place)


def _location(skill: str, library: EvalLibrary) -> str:
    return f"{library.get(skill).origin.location}/SKILL.md"
