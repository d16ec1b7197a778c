"""Links to nothing, out of the pack, or relative to another folder."""

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
    """Yield each relative link or image that does not lead to a file of the pack."""
    # A path is relative to the root, as the specification says. Not every agent finds
    # paths relative to the folder of the file, which give one note a file.
    for path, document in documents(pack):
        yield from _once_each(_look_at(pack, path, document.links))


def _look_at(pack: LintContext, path: str, links: Iterable[Link]) -> Iterator[Finding]:
    relative: list[tuple[Link, LinkTarget]] = []
    for link in links:
        target = find_target(pack, path, link.to)
        if target is None or target.state == "found":
            continue
        if target.state == "relative":
            relative.append((link, target))
        elif target.state in {"sibling", "project", "outside"}:
            yield _elsewhere(path, link.line, target)
        elif target.state == "missing" and (actual := find_case(pack, target.path)):
            yield Finding.of(
                "file-name-case",
                path,
                link.line,
                sentence="link",
                path=target.path,
                actual=actual,
            )
        else:
            yield Finding.of(
                "dead-link",
                path,
                link.line,
                sentence=target.state,
                kind=link.kind,
                path=target.path,
            )
    if relative and not _is_in_nested(pack, path):
        yield _file_relative(path, relative)


def _is_in_nested(pack: LintContext, path: str) -> bool:
    """Tell whether a file is in a skill below the root of the pack."""
    while path := posixpath.dirname(path):
        if f"{path}/{SKILL_FILE}" in pack_paths(pack):
            return True
    return False


def _once_each(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings of one message once, at the first line, with a count."""
    by_message: dict[str, list[Finding]] = {}
    for finding in findings:
        by_message.setdefault(finding.message, []).append(finding)
    for first, *others in by_message.values():
        more = f"; {len(others) + 1} links here lead there" if others else ""
        # The count is part of the fix: the message, and so a baseline, stays the same.
        yield replace(first, fix=f"{first.fix}{more}")


def _elsewhere(path: str, line: int, target: LinkTarget) -> Finding:
    if target.state == "sibling":
        return Finding.of(
            "sibling-link", path, line, path=target.path, skill=target.skill
        )
    is_known = target.state == "project"
    return Finding.of(
        "outside-link",
        path,
        line,
        severity="note" if is_known else None,
        sentence="project" if is_known else "",
        path=target.path,
    )


def _file_relative(path: str, links: list[tuple[Link, LinkTarget]]) -> Finding:
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
