"""Every pack that there is, listed or not: what ``satchel list`` shows."""

from typing import TYPE_CHECKING, Final, NamedTuple

from satchel.errors import SkillError
from satchel.model import SKILL_FILE, Conflict, Descriptor, Finding, Withheld

if TYPE_CHECKING:
    from satchel.runtime import Satchel

__all__ = ["SCHEMA_VERSION", "Inventory", "Item", "take_inventory"]

SCHEMA_VERSION: Final = 1


class Item(NamedTuple):
    """One pack; ``state`` is empty where it is listed, else why it is not."""

    descriptor: Descriptor
    state: str = ""


class Inventory(NamedTuple):
    """The packs by id, with all findings, and all conflicts, decided ones included."""

    items: tuple[Item, ...]
    findings: tuple[Finding, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def unresolved(self) -> tuple[Conflict, ...]:
        """The conflicts that no precedence decided."""
        return tuple(each for each in self.conflicts if each.kept is None)

    @property
    def troubled(self) -> bool:
        """Whether a pack cannot be used, or two claim one id."""
        errors = any(finding.severity == "error" for finding in self.findings)
        return errors or bool(self.unresolved)

    def as_json(self, skills: "Satchel") -> dict[str, object]:
        """Return what ``satchel list --json`` prints.

        ``release`` is there where all of it comes from one release.
        """
        release = skills.registry.latest.release
        return {
            "schema_version": SCHEMA_VERSION,
            **({"release": release} if release else {}),
            "skills": [
                _skill(item.descriptor, skills)
                for item in self.items
                if item.state in ("", "conflict")
            ],
            "findings": [_finding(finding) for finding in self.findings],
            "conflicts": [_conflict(conflict) for conflict in self.conflicts],
        }


def take_inventory(skills: "Satchel") -> Inventory:
    """Gather the listed, the withheld, and every owner of a conflict, by id."""
    catalog = skills.registry.latest
    items = [Item(entry) for entry in catalog.entries]
    items += [
        Item(owner, "conflict") for each in catalog.unresolved for owner in each.owners
    ]
    held = [each for each in catalog.withheld if each.reason != "refused"]
    items += [Item(each.descriptor, each.reason) for each in held]
    items.sort(key=lambda item: (item.descriptor.id, item.descriptor.origin.location))
    findings = (*skills.findings, *map(_withheld, held))
    return Inventory(tuple(items), findings, catalog.conflicts)


def _withheld(held: Withheld) -> Finding:
    return Finding(
        "skill-withheld",
        "note",
        f"skill {held.descriptor.id!r} is {held.reason}: {held.detail}",
        f"{held.descriptor.origin.location}/{SKILL_FILE}",
        fix=held.fix,
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
    if entry.remote and not entry.digest:  # nothing is fetched for a list
        return None
    try:
        return skills.registry.digest(entry)
    except SkillError:  # a file that cannot be read now: the finding says so
        return None


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "fix": finding.fix,
    }


def _conflict(conflict: Conflict) -> dict[str, object]:
    kept = conflict.kept
    return {
        "id": conflict.id,
        "kept": None if kept is None else kept.origin.location,
        "owners": [
            {"source": owner.source, "path": owner.origin.location}
            for owner in conflict.owners
        ],
    }
