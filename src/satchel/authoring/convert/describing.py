"""A description out of a text that has none: its own first sentences, never ours."""

import re
from typing import Final

from satchel.model import Finding

__all__ = ["describe", "told"]

SHORTEST: Final = 20
LONGEST: Final = 500
"""Characters, as profile ``strict`` has them; the specification takes more."""

_LOOKED_AT_CHARS: Final = 20_000
_ASIDE: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|^(```|~~~).*?(?:^\1[^\n]*|\Z)|\{\{[#/][^}\n]*\}\}",
    re.DOTALL | re.MULTILINE,
)
_PARAGRAPHS: Final = re.compile(
    r"\n[ \t]*\n|^#{1,6}[ \t][^\n]*$|^[^\n]+\n(?:=+|-+)[ \t]*$", re.MULTILINE
)
_NO_PROSE: Final = re.compile(r"[-=*_+|>!<\[]|\d+[.)][ \t]")
_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|\d+[.)])[ \t]+(\S.*)")
_ITEMS: Final = 6
"""Items of a list that a description gives."""
_HEADING: Final = re.compile(
    r"^#{1,6}[ \t]+(\S[^\n]*?)[ \t#]*$|^(\S[^\n]*)\n(?:=+|-+)[ \t]*$", re.MULTILINE
)
_SENTENCE: Final = re.compile(r".+?(?:[.!?](?=\s|\Z)|[。！？]|\Z)", re.DOTALL)  # noqa: RUF001
_SET_LATER: Final = re.compile(r"\{\{|!`|\$ARGUMENTS|\$\{?\d")


def describe(text: str, title: str = "") -> str:
    """Return the first sentences of running text that make a description, on one line.

    As many as give 20 characters, and at most 500. A sentence with a placeholder is
    passed by; one that ends in a colon goes on with the list behind it, or is passed by
    where there is none. Where there is no prose it is the heading, or the ``title`` of
    the section, with the first items of a list; empty where there is none of them.
    """
    shown = _ASIDE.sub("", text[:_LOOKED_AT_CHARS].replace("\r\n", "\n"))
    found = _first_sentences(shown)
    if found:
        return _fitting(found)
    heading = _HEADING.search(shown)
    head = title or ((heading[1] or heading[2]) if heading else "")
    items = _items(shown)
    if head and items and len(head) < SHORTEST:
        return _fitting(f"{head}: {items}")
    return _fitting(head)


def _first_sentences(text: str) -> str:
    found = ""
    parts = [part for part in _PARAGRAPHS.split(text) if part.strip()]
    for at, paragraph in enumerate(parts):
        if _NO_PROSE.match(paragraph.strip()):
            continue
        for sentence in _SENTENCE.findall(" ".join(_plain(paragraph).split())):
            if len(found) >= SHORTEST:
                return found
            told = sentence.strip()
            if told.endswith(":"):
                items = _items("\n".join(parts[at + 1 : at + 2]))
                told = f"{told} {items}" if items else ""
            if told and not _SET_LATER.search(told):
                found = f"{found} {told}".strip()
    return found


def _plain(text: str) -> str:
    """Return Markdown with the text of links in their place."""
    return _LINK.sub(r"\1", text)


def _items(text: str) -> str:
    """Return the first items of the first list of a text, as one sentence."""
    found: list[str] = []
    for line in text.split("\n"):
        item = _ITEM.match(line)
        if item:
            found.append(_plain(item[1]).strip().rstrip(".;,"))
        elif found and line.strip() and not line.startswith((" ", "\t")):
            break
    kept = [each for each in found if each and not _SET_LATER.search(each)][:_ITEMS]
    return f"{', '.join(kept)}." if kept else ""


def _fitting(text: str) -> str:
    """Cut at the last sentence that fits, else at the last word."""
    if len(text) <= LONGEST:
        return text
    cut = text[:LONGEST]
    ends = [end.end() for end in re.finditer(r"[.!?](?= )", cut)]
    return cut[: ends[-1]] if ends else cut.rpartition(" ")[0] or cut


def told(description: str, path: str, line: int | None = None) -> Finding:
    """Return the note that a description was taken from the text."""
    return Finding(
        "check-description",
        "note",
        "the description is the text's own beginning; it says what, hardly when",
        path,
        line,
        "say in `description:` what the pack does and when to use it",
        after=f"description: {description}",
    )
