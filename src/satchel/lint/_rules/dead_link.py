"""Links that lead nowhere, out of the pack, or count from another folder (R36)."""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import replace

from satchel.lint._context import LintContext, documents, rule
from satchel.lint._markdown import Link
from satchel.lint._targets import LinkTarget, find_case, find_target, pack_paths
from satchel.model import SKILL_FILE, Finding


@rule(
    "dead-link", "file-name-case", "file-relative-link", "outside-link", "sibling-link"
)
def dead_link(pack: LintContext) -> Iterator[Finding]:
    """Yield each relative link or image that does not lead to a file of the pack.

    A path counts from the skill's root, as the specification has it; those that count
    from the file's own folder are one note a file, for not every agent finds them
    (S16). A link out of the pack is a note where something is there, in another skill
    or elsewhere in the project, and else a warning. Links of one file to the same place
    are told of once.
    """
    for path, document in documents(pack):
        yield from _once_each(_look_at(pack, path, document.links))


def _look_at(pack: LintContext, path: str, links: Iterable[Link]) -> Iterator[Finding]:
    beside: list[tuple[Link, LinkTarget]] = []
    for link in links:
        target = find_target(pack, path, link.to)
        if target is None or target.state == "found":
            continue
        if target.state == "beside":
            beside.append((link, target))
        elif target.state in {"sibling", "project", "outside"}:
            yield _elsewhere(path, link.line, target)
        elif target.state == "missing" and (held := find_case(pack, target.path)):
            yield _other_case(path, link.line, target.path, held)
        else:
            yield _dead(path, link.line, link.kind, target)
    if beside and not _is_in_nested(pack, path):
        yield _beside(path, beside)


def _is_in_nested(pack: LintContext, path: str) -> bool:
    """Tell whether a folder below the root that holds a file is a skill itself."""
    while path := posixpath.dirname(path):
        if f"{path}/{SKILL_FILE}" in pack_paths(pack):
            return True
    return False


def _once_each(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield what is said several times of one file at its first line, with a count."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.message, []).append(finding)
    for first, *others in found.values():
        more = f"; {len(others) + 1} links here lead there" if others else ""
        yield replace(first, fix=f"{first.fix}{more}")


def _dead(path: str, line: int, kind: str, target: LinkTarget) -> Finding:
    what = {
        "missing": f"{target.path} is not in the pack",
        "machine": f"{target.path} is a path of one machine",
        "unlisted": f"{target.path} is not listed, so no agent can load it",
    }[target.state]
    fix = {
        "missing": "add the file, or take the link away",
        "machine": "copy what is needed into the pack, or name it with a full address",
        "unlisted": "list the file in the frontmatter, or take the link away",
    }[target.state]
    return Finding.of("dead-link", path, line, kind=kind, what=what, fix=fix)


def _elsewhere(path: str, line: int, target: LinkTarget) -> Finding:
    if target.state == "sibling":
        return Finding.of(
            "sibling-link", path, line, path=target.path, skill=target.skill
        )
    is_there = target.state == "project"
    return Finding(
        "outside-link",
        "note" if is_there else "warning",
        f"{target.path} is outside of the pack"
        + (", in its project" if is_there else "")
        + ": an agent that loads the skill does not have it",
        path,
        line,
        fix="copy what is needed into the pack, or name it with a full address",
    )


def _beside(path: str, links: list[tuple[Link, LinkTarget]]) -> Finding:
    (first, target), *others = links
    more = f", as {len(others)} more links of this file do" if others else ""
    fragment = f"#{target.fragment}" if target.fragment else ""
    return Finding.of(
        "file-relative-link",
        path,
        first.line,
        to=first.to,
        more=more,
        path=target.path,
        fragment=fragment,
    )


def _other_case(path: str, line: int, wanted: str, held: str) -> Finding:
    return Finding.of(
        "file-name-case", path, line, sentence="link", wanted=wanted, held=held
    )
