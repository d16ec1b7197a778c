"""Links to files that are missing, not listed, or outside of the pack (R36)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from satchel.lint.context import Context, rule
from satchel.lint.markdown import Link
from satchel.lint.reading import documents
from satchel.lint.targets import Target, find_case, find_target
from satchel.model import Finding

__all__ = ["dead_link"]


@rule("dead-link", "file-name-case", "file-relative-link")
def dead_link(pack: Context) -> Iterator[Finding]:
    """Yield each relative link or image that does not lead to a file of the pack.

    A path counts from the skill's root, as the specification has it; one that counts
    from the file's own folder is a note, for not every agent finds it (S16). Links of
    one file to the same place are told of once.
    """
    for path, document in documents(pack):
        yield from _once_each(_look_at(pack, path, document.links))


def _look_at(pack: Context, path: str, links: Iterable[Link]) -> Iterator[Finding]:
    for link in links:
        target = find_target(pack, path, link.to)
        if target is None or target.state == "found":
            continue
        if target.state == "beside":
            yield _beside(path, link.line, link.to, target)
        elif target.state == "missing" and (held := find_case(pack, target.path)):
            yield _other_case(path, link.line, target.path, held)
        else:
            yield _dead(path, link.line, link.kind, target)


def _once_each(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield what is said several times of one file at its first line, with a count."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.message, []).append(finding)
    for first, *others in found.values():
        more = f"; {len(others) + 1} links here lead there" if others else ""
        yield replace(first, fix=f"{first.fix}{more}")


def _dead(path: str, line: int, kind: str, target: Target) -> Finding:
    what = {
        "missing": f"{target.path} is not in the pack",
        "outside": f"{target.path} is outside of the pack",
        "unlisted": f"{target.path} is not listed, so no agent can load it",
    }[target.state]
    fix = {
        "missing": "add the file, or take the link away",
        "outside": "copy what is needed into the pack, or name it with a full address",
        "unlisted": "list the file in the frontmatter, or take the link away",
    }[target.state]
    return Finding(
        "dead-link", "warning", f"the {kind} leads nowhere: {what}", path, line, fix
    )


def _beside(path: str, line: int, to: str, target: Target) -> Finding:
    return Finding(
        "file-relative-link",
        "note",
        f"{to} counts from this file's folder; agents count from the skill's root",
        path,
        line,
        fix=f"write {target.path}{'#' if target.fragment else ''}{target.fragment}",
    )


def _other_case(path: str, line: int, wanted: str, held: str) -> Finding:
    return Finding(
        "file-name-case",
        "warning",
        f"{wanted} is {held} in the pack; where case counts, as on Linux, it is lost",
        path,
        line,
        fix=f"write {held}",
    )
