"""Links to headings that are not there (R36)."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final
from urllib.parse import unquote

from satchel.lint._context import LintContext, document, documents, listed, rule
from satchel.lint._targets import find_target
from satchel.model import Finding

_ALWAYS: Final = re.compile(r"top|l\d+(?:-l?\d+)?|:~:.*", re.IGNORECASE)
"""The top of a page, lines of a file, a piece of text: none needs an anchor."""

_MOST_COMPARED: Final = 200
"""Anchors of a file to which a dead one is compared; it takes a while."""


@rule("dead-anchor")
def dead_anchor(pack: LintContext) -> Iterator[Finding]:
    """Yield each fragment that no heading and no id of its Markdown file answers to.

    Anchors are GitHub's; the case of letters does not count.
    """
    for path, read in documents(pack):
        for link in read.links:
            if "#" not in link.to:
                continue
            target = find_target(pack, path, link.to)
            if target is None or not target.fragment or target.path not in listed(pack):
                continue
            if not target.path.lower().endswith((".md", ".markdown")):
                continue
            wanted = unquote(target.fragment).lower()
            anchors = _anchors(pack, target.path)
            if wanted not in anchors and not _ALWAYS.fullmatch(wanted):
                yield _dead(path, link.line, target.path, wanted, anchors)


def _anchors(pack: LintContext, path: str) -> frozenset[str]:
    return pack.once(_anchors_of, path)


def _anchors_of(pack: LintContext, path: str) -> frozenset[str]:
    return document(pack, path).anchors


def _dead(
    path: str, line: int, target: str, wanted: str, anchors: frozenset[str]
) -> Finding:
    where = "this file" if target == path else target
    few = len(anchors) <= _MOST_COMPARED
    close = get_close_matches(wanted, sorted(anchors), 1) if few else []
    return Finding(
        "dead-anchor",
        "warning",
        f"no heading of {where} has the anchor #{wanted}",
        path,
        line,
        fix=f"write #{close[0]}" if close else "name a heading that is there",
    )
