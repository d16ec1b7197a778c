"""Links: to files, to headings, and to labels."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding
from satchel.text import plural
from satchel_lab.lint._context import (
    MARKDOWN,
    LintContext,
    document,
    documents,
    listed,
    once_per_pack,
    rule,
)
from satchel_lab.lint._markdown import Link, MarkdownDocument, UndefinedLink, slugs_of
from satchel_lab.lint._targets import LinkTarget, find_case, find_target, pack_paths


@rule(
    "dead-link", "file-name-case", "file-relative-link", "outside-link", "sibling-link"
)
def dead_link(pack: LintContext) -> Iterator[Finding]:
    """Yield each relative link or image that does not lead to a file of the pack."""
    # A path is relative to the root, as the specification says. Not every agent finds
    # paths relative to the folder of the file, which give one note a file.
    for path, page in documents(pack):
        yield from _once_each(_look_at(pack, path, page.links))


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
            at = "file-name-case", path, link.line
            yield Finding.of(*at, sentence="link", path=target.path, actual=actual)
        else:
            at, state = ("dead-link", path, link.line), target.state
            yield Finding.of(*at, sentence=state, kind=link.kind, path=target.path)
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
    at = "outside-link", path, line
    if target.state == "project":
        return Finding.of(*at, severity="note", sentence="project", path=target.path)
    return Finding.of(*at, path=target.path)


def _file_relative(path: str, links: list[tuple[Link, LinkTarget]]) -> Finding:
    (first, target), *others = links
    more = f", like {plural(len(others), 'more link')} of this file" if others else ""
    fragment = f"#{target.fragment}" if target.fragment else ""
    at, path = ("file-relative-link", path, first.line), target.path
    return Finding.of(*at, to=first.to, more=more, path=path, fragment=fragment)


# The top of a page, lines of a file, a piece of text: these need no anchor.
_ALWAYS: Final = lazy_pattern(r"top|l\d+(?:-l?\d+)?|:~:.*", re.IGNORECASE)


@rule("dead-anchor")
def dead_anchor(pack: LintContext) -> Iterator[Finding]:
    """Yield each fragment without a heading or an id of that name in its file."""
    for path, page in documents(pack):
        for link in page.links:
            if "#" not in link.to:
                continue
            target = find_target(pack, path, link.to)
            if target is None or not target.fragment or target.path not in listed(pack):
                continue
            if not target.path.lower().endswith(MARKDOWN):
                continue
            anchor = target.fragment.lower()
            if anchor in _anchors(pack, target.path) or _ALWAYS.fullmatch(anchor):
                continue
            meant = _meant(anchor, document(pack, target.path))
            where = "this file" if target.path == path else target.path
            report = partial(Finding.of, "dead-anchor", path, link.line, where=where)
            sentence = "" if meant else "no-near"
            yield report(sentence=sentence, anchor=anchor, close=meant)


@once_per_pack
def _anchors(pack: LintContext, path: str) -> frozenset[str]:
    return document(pack, path).anchors


def _meant(anchor: str, target: MarkdownDocument) -> str:
    """Return the one anchor of a section that has all words of a dead one, or none."""
    slugs = slugs_of(heading.text for heading in target.headings)
    sections = [
        slug
        for slug, heading in zip(slugs, target.headings, strict=True)
        if heading.level > 1 and slug.isprintable() and "\ufe0f" not in slug
    ]
    words = {*filter(None, anchor.split("-"))}
    alike = [slug for slug in sections if words and _letters(slug) == _letters(anchor)]
    # A word alone may be that of any heading.
    longer = [
        slug for slug in sections if len(words) > 1 and words < {*slug.split("-")}
    ]
    slugs_meant = alike or longer
    return slugs_meant[0] if len(slugs_meant) == 1 else ""


def _letters(anchor: str) -> str:
    return "".join(filter(str.isalnum, anchor))


_WORDS: Final = lazy_pattern(r"[A-Za-z][\w .:/&'-]*")
# `[a-z][a-z0-9]` is a pattern.
_RANGE: Final = lazy_pattern(r"\w-\w")
_ADJACENT: Final = lazy_pattern(r"[\w\])}*+?{(\[^$\\|=<]")


@rule("undefined-link")
def undefined_link(pack: LintContext) -> Iterator[Finding]:
    """Yield each ``[text][label]`` that is clearly meant as a link and not defined."""
    for path, page in documents(pack):
        for link in page.undefined:
            # A list of lists, a pattern, a citation by number and a placeholder look
            # similar.
            if _is_meant(link):
                yield Finding.of("undefined-link", path, link.line, label=link.label)


def _is_meant(link: UndefinedLink) -> bool:
    text, _, label = link.source.partition("][")
    text, label = text.lstrip("![").strip(), label.rstrip("]").strip()
    if link.before and _ADJACENT.match(link.before):
        return False
    if link.after and _ADJACENT.match(link.after):
        return False
    parts = [text, label] if label else [text]
    return all(_WORDS.fullmatch(part) and not _RANGE.search(part) for part in parts)
