"""What a loader lists of a pack, where that is not what the pack says.

The data has words for it, by property. For the name: ``folder``, or ``other`` where it
is neither that nor the declared one. For the description: ``nothing``; ``first-N`` for
its first N characters; ``line`` for what stands on the line of ``description:``, as it
is written there; ``other``.
"""

import re
from collections.abc import Mapping
from typing import Final

from satchel.compat.reading import Reading
from satchel.compat.verdict import Shown

__all__ = ["showing_of", "words_for"]

_FIRST: Final = re.compile(r"first-(\d+)")
_LEAST_CUT: Final = 100
"""Fewer characters are where a line ends rather than where a loader cuts."""


def words_for(shown: Shown, reading: Reading) -> dict[str, str]:
    """Return the words for what was listed; none where it is what the pack says."""
    words: dict[str, str] = {}
    folder = reading.candidate.folder
    if shown.name is not None and shown.name != _declared(reading):
        words["name"] = "folder" if shown.name == folder else "other"
    if shown.description is not None:
        said, right = _folded(shown.description), _folded(reading.description)
        if said != right:
            words["description"] = _word_for(said, right, reading)
    return words


def _word_for(said: str, right: str, reading: Reading) -> str:
    if not said:
        return "nothing"
    if said == _folded(_line(reading)):
        return "line"
    start = said.rstrip(".… ")
    if len(start) >= _LEAST_CUT and right.startswith(start):
        return f"first-{len(said)}"
    return "other"


def showing_of(
    words: Mapping[str, Mapping[str, str]], keys: tuple[str, ...], reading: Reading
) -> Shown | None:
    """Return what is listed of a pack with these properties; None for what it says.

    Of several properties the last that says something counts. What cannot be told is
    None in it.
    """
    name = [words[key]["name"] for key in keys if "name" in words.get(key, {})]
    text = [
        words[key]["description"] for key in keys if "description" in words.get(key, {})
    ]
    if not (name or text):
        return None
    return Shown(
        _name(name[-1], reading) if name else _declared(reading),
        _description(text[-1], reading) if text else reading.description,
    )


def _name(word: str, reading: Reading) -> str | None:
    return reading.candidate.folder if word == "folder" else None


def _description(word: str, reading: Reading) -> str | None:
    if word == "nothing":
        return ""
    if word == "line":
        return _line(reading)
    first = _FIRST.fullmatch(word)
    return reading.description[: int(first[1])] if first else None


def _declared(reading: Reading) -> str | None:
    manifest = reading.parsed.manifest
    return reading.source("name") or (manifest.name if manifest else None)


def _line(reading: Reading) -> str:
    entry = reading.entry("description")
    return entry.value.strip() if entry is not None else ""


def _folded(text: str) -> str:
    return " ".join(text.split())
