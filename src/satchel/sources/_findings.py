"""What a search for packs has to tell, in one place for its wording."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from satchel.files import escape_name
from satchel.model import SKILL_FILE, Finding


def placed(findings: Iterable[Finding], where: str) -> Iterator[Finding]:
    """Yield findings on a pack with its location in front of their paths."""
    for finding in findings:
        inner = f"{where}/{finding.path}" if finding.path else where
        yield replace(finding, path=inner)


def wrong_case(path: str) -> Finding:
    """SKILL.md under another spelling, which only some systems would take for it."""
    name = path.rpartition("/")[2]
    return Finding.of("wrong-case-skill-file", path, name=name)


def no_skill_file(path: str) -> Finding:
    """A pack that was handed over without its one file."""
    return Finding.of("missing-skill-file", path)


def missing_reference(path: str, reference: str) -> Finding:
    """A reference of a registered skill that no package holds."""
    return Finding.of(
        "listed-file-missing",
        f"{path}/{SKILL_FILE}",
        sentence="package",
        reference=reference,
    )


def shared_name(path: str, name: str, listed_as: str) -> Finding:
    """A skill whose name another one of its own server has, too."""
    return Finding.of("shared-name", path, name=name, listed_as=listed_as)


def irregular(path: str, kind: str) -> Finding:
    """A SKILL.md that nobody can read safely."""
    return Finding.of("irregular-skill-file", f"{path}/{SKILL_FILE}", kind=kind)


def linked_pack(path: str, target: str) -> Finding:
    """A pack outside the root that a link at the root's top admits."""
    return Finding.of("linked-pack", path, target=target)


def leaves_root(path: str, target: str) -> Finding:
    """Any other link that leads out of the root."""
    return Finding.of("link-leaves-root", path, target=target)


def broken_link(path: str, target: str) -> Finding:
    """A link to nothing, or to itself."""
    return Finding.of("broken-link", path, target=target)


def unreadable(path: str, reason: str) -> Finding:
    """A folder or a SKILL.md that the system does not show."""
    return Finding.of("unreadable-folder", path, reason=reason)


def unsafe_name(path: str) -> Finding:
    """A folder whose name cannot be shown, and is not searched."""
    return Finding.of("unsafe-file-name", escape_name(path))


def too_large(path: str, message: str) -> Finding:
    """A pack over one of the limits."""
    fix = "make the pack smaller, or raise the limit that is named"
    return Finding("limit-exceeded", "error", message, path, fix=fix)


def too_many(path: str, limit: int) -> Finding:
    """A search that ended early."""
    return Finding.of("limit-exceeded", path, sentence="entries", limit=limit)


def too_deep(path: str, folders: int, limit: int) -> Finding:
    """Folders that were not searched for their depth."""
    return Finding.of(
        "limit-exceeded",
        path,
        severity="note",
        sentence="depth",
        folders=folders,
        limit=limit,
    )
