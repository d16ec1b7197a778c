"""A link by reference whose label is not defined."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, documents, rule
from satchel.lint._markdown import UndefinedLink
from satchel.model import Finding

_WORDS: Final = re.compile(r"[A-Za-z][\w .:/&'-]*")
# `[a-z][a-z0-9]` is a pattern.
_RANGE: Final = re.compile(r"\w-\w")
_ADJACENT: Final = re.compile(r"[\w\])}*+?{(\[^$\\|=<]")


@rule("undefined-link")
def undefined_link(pack: LintContext) -> Iterator[Finding]:
    """Yield each ``[text][label]`` that is clearly meant as a link and not defined."""
    for path, document in documents(pack):
        for link in document.undefined:
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
