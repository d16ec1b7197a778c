"""Every pack, listed or not, and the sentence that counts them."""

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from satchel.cli._findings import finding_fields
from satchel.cli._options import findings_of
from satchel.errors import SkillError
from satchel.model import SKILL_FILE, Catalog, Conflict, Descriptor, Excluded, Finding
from satchel.text import plural

if TYPE_CHECKING:
    from satchel.runtime import Satchel


class Item(NamedTuple):
    """One pack; ``state`` is empty if it is listed, else it says why it is not."""

    descriptor: Descriptor
    state: str = ""


class Inventory(NamedTuple):
    """The packs by id, all findings, and all conflicts, decided ones too."""

    items: tuple[Item, ...]
    findings: tuple[Finding, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def troubled(self) -> bool:
        """Whether a pack cannot be used, or two claim one id."""
        errors = any(finding.severity == "error" for finding in self.findings)
        return errors or any(one.preferred is None for one in self.conflicts)

    def as_json(self, skills: "Satchel") -> dict[str, object]:
        """Return what ``satchel list --json`` prints."""
        release = skills.registry.latest.release
        return {
            **({"release": release} if release else {}),
            "skills": [
                _skill(item.descriptor, skills)
                for item in self.items
                if item.state in ("", "conflict")
            ],
            "findings": finding_fields(self.findings),
            "conflicts": [_conflict(conflict) for conflict in self.conflicts],
        }


def take_inventory(skills: "Satchel") -> Inventory:
    """Return the listed skills, the excluded ones, and every owner of a conflict."""
    catalog = skills.registry.latest
    items = [Item(entry) for entry in catalog.entries]
    items += [
        Item(owner, "conflict")
        for conflict in catalog.unresolved
        for owner in conflict.owners
    ]
    # A refused pack has findings of its own, which say why.
    excluded = [skill for skill in catalog.excluded if skill.reason != "refused"]
    items += [Item(skill.descriptor, skill.reason) for skill in excluded]
    items.sort(key=lambda item: (item.descriptor.id, item.descriptor.origin.location))
    findings = (*findings_of(skills), *map(_excluded, excluded))
    return Inventory(tuple(items), findings, catalog.conflicts)


def _excluded(excluded: Excluded) -> Finding:
    return Finding.of(
        "skill-withheld",
        f"{excluded.descriptor.origin.location}/{SKILL_FILE}",
        sentence="listed",
        id=excluded.descriptor.id,
        reason=excluded.reason,
        detail=excluded.detail,
        fix=excluded.fix,
    )


def _skill(entry: Descriptor, skills: "Satchel") -> dict[str, object]:
    return {
        "id": entry.id,
        "description": entry.description,
        "source": entry.source,
        "path": entry.origin.location,
        "references": entry.references,
        "scripts": entry.scripts,
        "assets": entry.assets,
        "digest": _digest(entry, skills),
    }


def _digest(entry: Descriptor, skills: "Satchel") -> str | None:
    if entry.remote and not entry.digest:  # a list fetches nothing
        return None
    try:
        return skills.registry.digest(entry)
    except SkillError:  # a file cannot be read now; a finding says so
        return None


def _conflict(conflict: Conflict) -> dict[str, object]:
    winner = conflict.preferred
    return {
        "id": conflict.id,
        "kept": None if winner is None else winner.origin.location,
        "owners": [
            {"source": owner.source, "path": owner.origin.location}
            for owner in conflict.owners
        ],
    }


_ORDER: Final = (
    *("refused", "unverified", "disabled", "untrusted"),
    *("shadowed", "deprecated", "hidden"),
)


def count_packs(catalog: Catalog) -> int:
    """Return in how many folders there are packs, as ``satchel check`` counts them."""
    return sum(_places(catalog).values())


def summarize_catalog(catalog: Catalog) -> str:
    """Return how many packs there are, and how many are listed.

    ``3 skills listed``; if some are not listed, also the reasons: ``11 packs: 7 skills
    listed; not listed: 2 of a name claimed twice, 1 refused, 1 copy of another``.
    """
    places = _places(catalog)
    total, listed = sum(places.values()), len(catalog)
    sentence = f"{plural(listed, 'skill')} listed"
    others: list[str] = []
    if places["conflict"]:
        others.append(f"{places['conflict']:,} of a name claimed twice")
    reasons = [place for place in places if place not in ("listed", "conflict", "copy")]
    for reason in sorted(reasons, key=_rank):
        others.append(f"{places[reason]:,} {reason}")  # noqa: PERF401 - two loops in one
    if places["copy"]:
        copies = "copy" if places["copy"] == 1 else "copies"
        others.append(f"{places['copy']:,} {copies} of another")
    if not others:
        return sentence
    return f"{plural(total, 'pack')}: {sentence}; not listed: {', '.join(others)}"


def _places(catalog: Catalog) -> Counter[str]:
    """Count packs by whether they are listed or why not, each folder once."""
    seen: set[str] = set()
    count: Counter[str] = Counter()
    owners = [("conflict", pack) for one in catalog.unresolved for pack in one.owners]
    excluded = [(skill.reason, skill.descriptor) for skill in catalog.excluded]
    # The first mention of a folder counts: listed, then in conflict, then excluded.
    for reason, pack in (
        *(("listed", entry) for entry in catalog.entries),
        *owners,
        *excluded,
    ):
        for number, origin in enumerate(pack.origins):
            if origin.location not in seen:
                seen.add(origin.location)
                count["copy" if number else reason] += 1
    return count


def _rank(reason: str) -> tuple[int, str]:
    return _ORDER.index(reason) if reason in _ORDER else len(_ORDER), reason
