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
_HEADING: Final = re.compile(
    r"^#{1,6}[ \t]+(\S[^\n]*?)[ \t#]*$|^(\S[^\n]*)\n(?:=+|-+)[ \t]*$", re.MULTILINE
)
_SENTENCE: Final = re.compile(r".+?(?:[.!?](?=\s|\Z)|[。！？]|\Z)", re.DOTALL)  # noqa: RUF001
_SET_LATER: Final = re.compile(r"\{\{|!`|\$ARGUMENTS|\$\{?\d")


def describe(text: str) -> str:
    """Return the first sentences of running text that make a description, on one line.

    As many as give 20 characters, and at most 500. A sentence with a placeholder is
    passed by. Where there is no prose it is the first heading; empty where there is
    none either.
    """
    shown = _ASIDE.sub("", text[:_LOOKED_AT_CHARS].replace("\r\n", "\n"))
    found = ""
    for paragraph in _PARAGRAPHS.split(shown):
        if not paragraph.strip() or _NO_PROSE.match(paragraph.strip()):
            continue
        for sentence in _SENTENCE.findall(" ".join(paragraph.split())):
            if len(found) >= SHORTEST:
                return _fitting(found)
            if not _SET_LATER.search(sentence):
                found = f"{found} {sentence.strip()}".strip()
    if found:
        return _fitting(found)
    heading = _HEADING.search(shown)
    return _fitting(heading[1] or heading[2]) if heading else ""


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
