"""The anchors that GitHub gives to headings, and those that HTML gives."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

__all__ = ["anchors_of", "slug_of"]

_DROPPED: Final = re.compile(r"[^\w\- ]")
_OWN_ID: Final = re.compile(r" ?\{#([^\s{}]+)(?: [^{}]*)?\}\Z")
"""``# Title {#id}``, which some renderers take for the heading's anchor."""
_HYPHENS: Final = re.compile(r"-{2,}")
_COLOURED: Final = "\ufe0f"
_ID: Final = re.compile(
    r"""(?<![\w-])(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
)


def slug_of(text: str) -> str:
    """Return GitHub's anchor of a heading with this text, the first of its kind.

    Lower case, blanks as hyphens, everything dropped that is no letter, digit, mark,
    hyphen or underscore.

    Source: the behaviour of github.com; gjtorikian/html-pipeline's table of contents.
    """
    lowered = text.strip().lower()
    if lowered.isascii():
        return _DROPPED.sub("", lowered).replace(" ", "-")
    # Marks (vowel signs, accents set apart) are no \w in Python, and kept by GitHub.
    kept = "".join(
        char
        for char in lowered
        if not _DROPPED.match(char) or unicodedata.category(char)[0] == "M"
    )
    return kept.replace(" ", "-")


def anchors_of(headings: Iterable[str], html: Iterable[str] = ()) -> frozenset[str]:
    """Return all anchors, in lower case: of headings in their order, of HTML's ids.

    A slug that was given before gets ``-1``, then ``-2``; some renderers pass over a
    number that another heading has, so that both count. Many write one hyphen for
    several, and none at the ends; that counts too. Where a slug holds what makes
    an emoji coloured, it counts without that too: nobody sees it, or can type it.
    """
    anchors: set[str] = set()
    counts: dict[str, int] = {}
    for heading in headings:
        own = _OWN_ID.search(heading)
        if own:
            anchors.add(own[1].lower())
        slug = slug_of(heading[: own.start()] if own else heading)
        count = counts.get(slug, 0)
        counts[slug] = count + 1
        given = f"{slug}-{count}" if count else slug
        if given in anchors:
            anchors.add(f"{slug}-{count + 1}")
        anchors |= {given, given.replace(_COLOURED, ""), slug_of(heading)}
        anchors |= {_HYPHENS.sub("-", each).strip("-") for each in (given, slug)}
    for piece in html:
        anchors.update(
            (match[1] or match[2] or match[3] or "").lower()
            for match in _ID.finditer(piece)
        )
    return frozenset(anchors)
