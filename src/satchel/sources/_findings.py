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
    return Finding(
        "wrong-case-skill-file",
        "error",
        f"the file is called {name}, so this is no pack",
        path,
        fix=f"rename it to {SKILL_FILE}",
    )


def no_skill_file(path: str) -> Finding:
    """A pack that was handed over without its one file."""
    return Finding(
        "missing-skill-file",
        "error",
        f"the pack has no {SKILL_FILE}",
        path,
        fix=f"add a {SKILL_FILE}",
    )


def missing_reference(path: str, reference: str) -> Finding:
    """A reference of a registered skill that no package holds."""
    return Finding(
        "listed-file-missing",
        "error",
        f"references declares {reference!r}, and there is no such file in a package",
        f"{path}/{SKILL_FILE}",
        fix="begin it with the name of the package that holds it, or take it off",
    )


def shared_name(path: str, name: str, listed_as: str) -> Finding:
    """A skill whose name another one of its own server has, too."""
    return Finding(
        "shared-name",
        "note",
        f"its server has several skills named {name!r}; this one is {listed_as!r}",
        path,
        fix="nothing, or give them ids of your own with sources.renamed",
    )


def irregular(path: str, kind: str) -> Finding:
    """A SKILL.md that nobody can read safely."""
    return Finding(
        "irregular-skill-file",
        "error",
        f"{SKILL_FILE} is {kind}, so this is no pack",
        f"{path}/{SKILL_FILE}",
        fix="put a plain file in its place; a link may lead to the whole pack instead",
    )


def linked_pack(path: str, target: str) -> Finding:
    """A pack outside the root that a link at the root's top admits."""
    return Finding(
        "linked-pack",
        "note",
        f"the pack is outside the folder: this is a link to {escape_name(target)}",
        path,
        fix="nothing, if you made the link; else remove it",
    )


def leaves_root(path: str, target: str) -> Finding:
    """Any other link that leads out of the root."""
    return Finding(
        "link-leaves-root",
        "warning",
        f"not followed: the link leads out of the folder, to {escape_name(target)}",
        path,
        fix="name the other folder as a source of its own",
    )


def broken_link(path: str, target: str) -> Finding:
    """A link to nothing, or to itself."""
    return Finding(
        "broken-link",
        "warning",
        f"the link leads nowhere: {escape_name(target)}",
        path,
        fix="mend the link, or remove it",
    )


def unreadable(path: str, reason: str) -> Finding:
    """A folder or a SKILL.md that the system does not show."""
    return Finding(
        "unreadable-folder",
        "error",
        f"cannot be read: {reason}",
        path,
        fix="give the right to read it, or leave it out",
    )


def unsafe_name(path: str) -> Finding:
    """A folder whose name cannot be shown, and is not searched."""
    return Finding(
        "unsafe-file-name",
        "warning",
        "not searched: the name holds a control character, or is no UTF-8",
        escape_name(path),
        fix="rename it",
    )


def too_large(path: str, message: str) -> Finding:
    """A pack over one of the limits."""
    fix = "make the pack smaller, or raise the limit that is named"
    return Finding("limit-exceeded", "error", message, path, fix=fix)


def too_many(path: str, limit: int) -> Finding:
    """A search that ended early."""
    return Finding(
        "limit-exceeded",
        "error",
        f"more than scan_entries = {limit:,} entries; the rest was not searched",
        path,
        fix="name the folders with skills one by one, or raise the limit",
    )


def too_deep(path: str, folders: int, limit: int) -> Finding:
    """Folders that were not searched for their depth."""
    return Finding(
        "limit-exceeded",
        "note",
        f"{folders:,} folders lie deeper than scan_depth = {limit}, and were not "
        "searched",
        path,
        fix="name a folder further down, or raise the limit",
    )
