"""Links to headings that do not exist."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from satchel.lint._context import (
    LintContext,
    document,
    documents,
    listed,
    once_per_pack,
    rule,
)
from satchel.lint._targets import find_target
from satchel.model import Finding

# The top of a page, lines of a file, a piece of text: these need no anchor.
_ALWAYS: Final = re.compile(r"top|l\d+(?:-l?\d+)?|:~:.*", re.IGNORECASE)

# Anchors of a file that are compared with a dead one; more would take long.
_MOST_COMPARED: Final = 200


@rule("dead-anchor")
def dead_anchor(pack: LintContext) -> Iterator[Finding]:
    """Yield each fragment without a heading or an id of that name in its file."""
    for path, read in documents(pack):
        for link in read.links:
            if "#" not in link.to:
                continue
            target = find_target(pack, path, link.to)
            if target is None or not target.fragment or target.path not in listed(pack):
                continue
            if not target.path.lower().endswith((".md", ".markdown")):
                continue
            anchor = unquote(target.fragment).lower()
            anchors = _anchors(pack, target.path)
            if anchor not in anchors and not _ALWAYS.fullmatch(anchor):
                yield _dead(path, link.line, target.path, anchor, anchors)


@once_per_pack
def _anchors(pack: LintContext, path: str) -> frozenset[str]:
    return document(pack, path).anchors


def _dead(
    path: str, line: int, target: str, anchor: str, anchors: frozenset[str]
) -> Finding:
    from difflib import get_close_matches

    where = "this file" if target == path else target
    few = len(anchors) <= _MOST_COMPARED
    close = get_close_matches(anchor, sorted(anchors), 1) if few else []
    return Finding.of(
        "dead-anchor",
        path,
        line,
        sentence="" if close else "no-near",
        where=where,
        anchor=anchor,
        close="".join(close),
    )
