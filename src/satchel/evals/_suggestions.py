"""A text that would tell a hidden skill from the one that hides it; never applied."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from satchel.evals._library import EvalLibrary
from satchel.evals._shadows import Competition, Shadow

# The specification's limit for a description.
_MAX_CHARS: Final = 1024


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A description that was tried in place of another, and how it went.

    ``back`` of ``taken`` queries find their own skill again with it.
    """

    skill: str
    location: str
    before: str
    after: str
    back: int
    taken: int


def suggest(shadows: Iterable[Shadow], library: EvalLibrary) -> Iterator[Suggestion]:
    """Yield for each hidden skill the proposal that brings most of its queries back.

    First words of its own queries that no description has; where that is not enough,
    a boundary in the description of the other skill.
    """
    for shadow in shadows:
        proposals = _proposals(shadow, library)
        tried = [_tried(shadow, library, *change) for change in proposals]
        best = max(tried, key=lambda one: one.back, default=None)
        if best is not None and best.back:
            yield best


def _proposals(shadow: Shadow, library: EvalLibrary) -> Iterator[tuple[str, str]]:
    """Yield ids of skills and what to write behind their descriptions."""
    words = shadow.missing or shadow.own
    if words:
        yield shadow.rival.skill, f"Use it for: {', '.join(words)}."
    about = shadow.own or tuple(library.words(shadow.rival.queries[0]).values())[:5]
    name = library.get(shadow.rival.skill).name
    boundary = f"Do not use it for {', '.join(about)}; use `{name}` instead."
    yield shadow.rival.taken_by, boundary


def _tried(
    shadow: Shadow, library: EvalLibrary, skill_id: str, sentence: str
) -> Suggestion:
    skill = library.get(skill_id)
    before = skill.description.rstrip()
    end = "" if before.endswith((".", "!", "?", "。")) else "."
    after = f"{before}{end} {sentence}" if before else sentence
    changed = (
        replace(one, description=after) if one.id == skill_id else one
        for one in library.skills
    )
    rest = Competition(EvalLibrary(changed, library.readers)).takes(shadow.rival)
    taken = len(shadow.rival.queries)
    back = taken - rest if len(after) <= _MAX_CHARS else 0
    return Suggestion(
        *(skill_id, f"{skill.origin.location}/SKILL.md", before, after, back, taken)
    )
