"""Assertions about skills: listed, found, loaded, clean, complete."""

from satchel.products import import_product
from satchel.runtime import Satchel
from satchel_lab.testing._rehearsal import Rehearsal


def assert_listed(skills: Satchel, *ids: str) -> None:
    """Assert that the prompt lists these skills, each with its whole description.

    Raises:
        AssertionError: One is not listed, or is cut; with the reason and the fix.
    """
    for skill_id in ids:
        why = skills.why(skill_id)
        if why.stage != "listed":
            raise AssertionError(str(why))


def assert_found(skills: Satchel, query: str, *ids: str, within: int = 3) -> None:
    """Assert that a search finds these skills among its first ``within`` hits.

    Raises:
        AssertionError: One is not among them; with what was found.
    """
    hits_in_order = [hit.id for hit in skills.find(query, within)]
    missing = [skill_id for skill_id in ids if skill_id not in hits_in_order]
    if missing:
        hits = ", ".join(hits_in_order) or "nothing"
        raise AssertionError(
            f"{query!r} does not find {', '.join(missing)} among its first {within}; "
            f"it finds {hits}"
        )


def assert_loaded(played: Rehearsal, *ids: str) -> None:
    """Assert that these skills, and no others, were in use at the end of a rehearsal.

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
    """Assert that there is no error and no warning.

    Raises:
        AssertionError: There is one; with all findings.
    """
    problems = [str(f) for f in skills.findings if f.severity != "note"]
    if problems:
        raise AssertionError("\n".join(problems))


def assert_complete(what: object, *, strict: bool = False) -> None:
    """Assert that skills registered in code are complete and sound.

    Every listed reference exists and every file in the folder ``references`` next to a
    skill's module is listed; the instructions are short and name each reference; the
    references themselves are sound. `satchel check MODULE:NAME` reports the same.

    Args:
        what: A `satchel.SkillRegistry`, descriptors, skills, or a function that returns
            them or fills a registry.
        strict: Whether a warning fails too.

    Raises:
        AssertionError: Something is wrong, with each finding and what to do; or there
            is no skill at all.
        TypeError: ``what`` is none of these.
    """
    earlier = import_product("satchel_compat", "assert_complete")
    descriptors = earlier.descriptors_of(what)
    if not descriptors:
        raise AssertionError("no skill is registered")
    report = earlier.check_registered(descriptors)
    severe = ("error", "warning") if strict else ("error",)
    problems = [
        f"{finding}; {finding.fix}" if finding.fix else str(finding)
        for finding in report.findings
        if finding.severity in severe
    ]
    if problems:
        raise AssertionError("\n".join(problems))
