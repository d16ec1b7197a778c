"""Assertions about skills: that they are listed, found, loaded."""

from typing import TYPE_CHECKING

from satchel.compat import check_registered, descriptors_of
from satchel.runtime import Satchel

if TYPE_CHECKING:
    from satchel.testing._rehearsal import Rehearsal


def assert_listed(skills: Satchel, *ids: str) -> None:
    """Claim that the prompt lists these skills, each with its whole description.

    Raises:
        AssertionError: One is not, or is cut; with the first reason and the fix.
    """
    for skill_id in ids:
        why = skills.why(skill_id)
        if why.stage != "listed":
            raise AssertionError(str(why))


def assert_found(skills: Satchel, query: str, *ids: str, within: int = 3) -> None:
    """Claim that a search finds these skills among its first ``within`` hits.

    Raises:
        AssertionError: One is not among them; with what was found.
    """
    found = [hit.id for hit in skills.find(query, within)]
    missing = [skill_id for skill_id in ids if skill_id not in found]
    if missing:
        told = ", ".join(found) or "nothing"
        raise AssertionError(
            f"{query!r} does not find {', '.join(missing)} among its first {within}; "
            f"it finds {told}"
        )


def assert_loaded(played: "Rehearsal", *ids: str) -> None:
    """Claim that these skills, and no others, were in use at the end of a rehearsal.

    Raises:
        AssertionError: They were not; with what was, and the last result.
    """
    if sorted(played.loaded) != sorted(ids):
        last = played.results[-1] if played.results else "no call was made"
        raise AssertionError(
            f"in use: {', '.join(played.loaded) or 'nothing'}; "
            f"expected: {', '.join(ids) or 'nothing'}; last result: {last}"
        )


def assert_clean(skills: Satchel) -> None:
    """Claim that there is nothing to tell: no error and no warning.

    Raises:
        AssertionError: There is; with each finding.
    """
    told = [str(each) for each in skills.findings if each.severity != "note"]
    if told:
        raise AssertionError("\n".join(told))


def assert_complete(what: object, *, strict: bool = False) -> None:
    """Claim that skills registered in code are complete and sound.

    Every listed reference is there and every file in the folder ``references`` beside a
    skill's module is listed; the instructions are short and name each reference; what
    is in the references is sound. `satchel check MODULE:NAME` says the same.

    Args:
        what: A `satchel.SkillRegistry`, descriptors, skills, or a function that returns
            them or fills a registry.
        strict: Whether a warning fails, too.

    Raises:
        AssertionError: Something is wrong, with each finding and what to do; or there
            is no skill at all.
        TypeError: ``what`` is none of these.
    """
    descriptors = descriptors_of(what)
    if not descriptors:
        raise AssertionError("no skill is registered")
    report = check_registered(descriptors)
    grave = ("error", "warning") if strict else ("error",)
    told = [
        f"{each}; {each.fix}" if each.fix else str(each)
        for each in report.findings
        if each.severity in grave
    ]
    if told:
        raise AssertionError("\n".join(told))
