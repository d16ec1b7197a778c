"""What to know before a plan is carried out: risks in new packs, queries that move.

It is advice: nothing is refused for it. ``satchel_lab`` has the rules for both.
"""

from typing import Any, Final

from satchel.cli import finding_fields
from satchel.errors import SkillError
from satchel.model import DEFAULT_LIMITS, Catalog
from satchel.products import import_product
from satchel.sources import LocalSource, MemorySource
from satchel_install._lock import stored_files
from satchel_install._project import Project
from satchel_install._resolve import Library, catalog_of, fetch_locked
from satchel_install._sync import SyncPlan
from satchel_store.content import ContentStore

_MOST: Final = 20
_ROUTE: Final = "queries for {skill} would find {after} first, not {before}: {query}"


def advice_on(
    plan: SyncPlan, project: Project, store: ContentStore, *, routing: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return what to know of a plan: as JSON has it, and in lines.

    ``review`` has the findings on packs that are added or updated, and ``routing`` the
    queries of other skills that lose or gain the first place. One that nobody has
    looked for is None, and ``not_advised`` says why.
    """
    advice: dict[str, Any] = {"review": None, "routing": None, "not_advised": ""}
    changes = {i: kind for i, kind in plan.changes.items() if kind != "restore"}
    new = {i: plan.after.skills[i] for i, kind in changes.items() if kind != "remove"}
    lines: list[str] = []
    try:
        checking = import_product("satchel_lab.checking", "a review")
        fetch_locked([*new.values()], project.folder, store)
        packs = {i: stored_files(skill, store) for i, skill in new.items()}
        added = catalog_of((MemorySource(packs, label="skills"),))
        entries = ((entry, added, DEFAULT_LIMITS) for entry in Library(added).entries)
        findings = [f for of in entries for f in checking.check_entry(*of)]
        advice["review"] = finding_fields(findings)
        lines += _some("to review", [*map(str, findings)])
        if routing:
            evals = import_product("satchel_lab.evals", "a comparison of queries")
            before = catalog_of((LocalSource(project.skills, missing_ok=True),))
            left = (entry for entry in before if entry.id not in changes)
            listed = tuple(sorted((*left, *added), key=lambda entry: entry.id))
            after = Catalog(listed, readers={**before.readers, **added.readers})
            advice["routing"] = moved = [*evals.moved_queries(before, after)]
            lines += _some("routing", [*map(_ROUTE.format_map, moved)])
    except SkillError as error:
        what = "not reviewed, and routing not compared" if routing else "not reviewed"
        advice["not_advised"] = f"{what}: {error}"
        lines.append(advice["not_advised"])
    return advice, lines


def _some(what: str, lines: list[str]) -> list[str]:
    """Return what is shown of so many lines."""
    more = [f"{len(lines) - _MOST} more; --json has them all"]
    shown = lines if len(lines) <= _MOST else lines[:_MOST] + more
    return [f"{what}: {line}" for line in shown]
