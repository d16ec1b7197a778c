"""A text that would tell a hidden skill from the one that hides it; never applied."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from satchel_lab.evals._dialects import EvalCase
from satchel_lab.evals._library import EvalLibrary
from satchel_lab.evals._routing import route
from satchel_lab.evals._shadows import Duplicate, Shadow, hidden_skills

# The specification's limit for a description.
_MAX_CHARS: Final = 1024
_MAX_WORDS: Final = 8


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A description that was tried in place of another, and how it went.

    ``back`` of ``taken`` queries find their own skill again with it: all of them, for
    another one is no suggestion.
    """

    skill: str
    location: str
    before: str
    after: str
    back: int
    taken: int


def suggest(
    shadows: Iterable[Shadow], cases: Sequence[EvalCase], library: EvalLibrary
) -> Iterator[Suggestion]:
    """Yield for each hidden skill the first proposal that helps, and harms nobody.

    First words of its own queries that the other description does not have; then a
    boundary in the other description. Each is tried in the whole library: the skill
    gets all of its queries, no other skill gets hidden, and every case that went well
    still does.
    """
    shadows = tuple(shadows)
    if not shadows:
        return
    before = _Before(cases, library)
    for shadow in shadows:
        for skill_id, sentence in _proposals(shadow, library):
            skill = library.get(skill_id)
            after = _with_sentence(skill.description, sentence)
            changed = _with_description(library, skill_id, after)
            if len(after) <= _MAX_CHARS and before.is_better(changed, shadow):
                place = f"{skill.origin.location}/SKILL.md"
                taken = len(shadow.rival.queries)
                texts = skill.description.rstrip(), after
                yield Suggestion(skill_id, place, *texts, taken, taken)
                break


class _Before:
    """What goes well in a library as it is."""

    def __init__(self, cases: Sequence[EvalCase], library: EvalLibrary) -> None:
        self._cases = cases
        self._hidden = _hidden(hidden_skills(cases, library))
        self._good = {one.key for one in route(cases, library, 1) if one.good}

    def is_better(self, changed: EvalLibrary, shadow: Shadow) -> bool:
        """Return whether a skill has its queries again, and nobody loses one."""
        skill, queries = shadow.rival.skill, shadow.rival.queries
        after = hidden_skills(self._cases, changed)
        taken = (q for one in after[0] if one.skill == skill for q in one.queries)
        if not {*taken}.isdisjoint(queries) or not _hidden(after) < self._hidden:
            return False
        return all(
            one.good
            for one in route(self._cases, changed, 1)
            if one.key in self._good
            or (one.case.query in queries and skill in one.case.expected)
        )


def _hidden(result: tuple[object, Sequence[Shadow], Sequence[Duplicate]]) -> set[str]:
    _, shadows, duplicates = result
    return {*(one.rival.skill for one in shadows), *(one.skill for one in duplicates)}


def _with_sentence(description: str, sentence: str) -> str:
    before = description.rstrip()
    end = "" if before.endswith((".", "!", "?", "\u3002")) else "."
    return f"{before}{end} {sentence}" if before else sentence


def _with_description(library: EvalLibrary, skill_id: str, text: str) -> EvalLibrary:
    skills = (
        replace(one, description=text) if one.id == skill_id else one
        for one in library.skills
    )
    return EvalLibrary(skills, library.readers)


def _proposals(shadow: Shadow, library: EvalLibrary) -> Iterator[tuple[str, str]]:
    """Yield ids of skills and what to write behind their descriptions."""
    skill = library.get(shadow.rival.skill)
    own, queries = library.words(skill.description), shadow.rival.queries
    stems = [library.words(query).keys() for query in queries]
    # A word of one query alone is chance, unless the skill says it itself.
    words: list[str] = []
    shortest: list[str] = []
    without = {*range(len(queries))}
    for word in library.telling(queries, not_by=(shadow.rival.taken_by,)):
        stem = library.words(word).keys()
        having = {at for at, query in enumerate(stems) if stem <= query}
        if len(having) > 1 or stem <= own.keys():
            words.append(word)
            shortest += [word] if having & without else []
            without -= having
    sets = tuple(shortest[:_MAX_WORDS]), tuple(words[:_MAX_WORDS])
    for some in dict.fromkeys(sets):
        if some:
            yield skill.id, f"Use it for: {', '.join(some)}."
    if words:
        about = ", ".join(words[:_MAX_WORDS])
        boundary = f"Do not use it for {about}; use `{skill.name}` instead."
        yield shadow.rival.taken_by, boundary
