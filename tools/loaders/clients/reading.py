"""Read the skills out of what clients print, and out of what they ask a model.

Each function returns pairs of a name and a description, None where none is description.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    Pairs = tuple[tuple[str, str | None], ...]

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SKILL: Final = re.compile(
    r"<skill>\s*<name>(.*?)</name>\s*<description>(.*?)</description>", re.DOTALL
)
_GEMINI: Final = re.compile(
    r"^(?P<name>[^\n]+) \[Enabled\]\n"
    r"  Description: (?P<description>.*?)\n  Location:    ",
    re.DOTALL | re.MULTILINE,
)
_CODEX: Final = re.compile(
    r"^- (?P<name>.*?): (?P<description>.*) \(file: (?P<file>.*)\)$"
)
_KIMI: Final = re.compile(
    r"^- (?P<name>[^\n]+?)(?:: (?P<description>(?:(?!\n  Path: ).)*?))?"
    r"(?:\n  When to use: (?:(?!\n  Path: ).)*?)?\n  Path: (?P<path>[^\n]+)$",
    re.DOTALL | re.MULTILINE,
)

GOOSE: Final = "You have these skills at your disposal"


def with_section(texts: Iterable[str], mark: str) -> str:
    """Return the first text that holds a mark, from there on; empty without one."""
    for text in texts:
        at = text.find(mark)
        if at >= 0:
            return text[at:]
    return ""


def bullets(text: str, folders: Iterable[str]) -> Pairs:
    """Read ``- name: description`` items, whose names are of these folders.

    A description may have lines of its own, and may begin them with ``- ``: an item
    begins only where a known name does. ``- folder (name): ...`` is one, too. All
    names that follow a folder's item and are not known end it.
    """
    known = {name: re.escape(name) for name in folders}
    if not known:
        return ()
    names = "|".join(sorted(known.values(), key=len, reverse=True))
    item = re.compile(rf"^- ({names})(?: \([^\n]*?\))?(?:: |$)", re.MULTILINE)
    starts = [*item.finditer(text)]
    found: list[tuple[str, str | None]] = []
    for at, start in enumerate(starts):
        last = at + 1 == len(starts)
        end = len(text) if last else starts[at + 1].start()
        description = text[start.end() : end]
        if last:
            description = description.split("\n- ", 1)[0].split("\n</", 1)[0]
        description = description.strip()
        found.append((start[1], description or None))
    return tuple(found)


def angle_brackets(pairs: Pairs) -> Pairs:
    """Put ``<`` and ``>`` back where nothing else was escaped."""

    def plain(text: str | None) -> str | None:
        return text and text.replace("&lt;", "<").replace("&gt;", ">")

    return tuple((name, plain(description)) for name, description in pairs)


def xml(text: str) -> Pairs:
    """Read ``<skill>`` elements whose text is escaped."""
    return tuple(
        (html.unescape(name.strip()), html.unescape(description.strip()) or None)
        for name, description in _SKILL.findall(text)
    )


def gemini(text: str) -> Pairs:
    """Read ``gemini skills list --all``; its own skills are marked, and left out."""
    return tuple(
        (match["name"], match["description"].strip() or None)
        for match in _GEMINI.finditer(text)
        if not match["name"].endswith("[Built-in]")
    )


def codex(text: str, root: str) -> Pairs:
    """Read Codex's list; of skills below a folder alone.

    Paths there are short, and begin with the alias of a folder in a table.
    """
    aliases = re.findall(r"^- `(r\d+)` = `(.*)`$", text, re.MULTILINE)
    inside = (f"{root}/", *(f"{key}/" for key, path in aliases if path == root))
    matches = filter(None, map(_CODEX.match, text.splitlines()))
    return tuple(
        (match["name"], match["description"] or None)
        for match in matches
        if match["file"].startswith(inside)
    )


def kimi(text: str, root: str) -> Pairs:
    """Read Kimi's list; of skills below a folder alone."""
    return tuple(
        (match["name"], match["description"])
        for match in _KIMI.finditer(text)
        if match["path"].startswith(f"{root}/")
    )


def goose(text: str) -> Pairs:
    """Read Goose's list; its own skills are in it, and left out."""
    items = text.removeprefix(GOOSE).partition("\n## ")[0].split("\n\u2022 ")[1:]
    pairs = (item.partition(" - ") for item in items)
    return tuple(
        (name, description.strip() or None)
        for name, _, description in pairs
        if name not in ("goose-doc-guide", "web-search")
    )


def npx_skills(text: str) -> Pairs:
    """Read what ``skills add FOLDER --list`` draws."""
    lines = _ANSI.sub("", text).partition("Available Skills")[2].splitlines()
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("│      ") and found:
            found[-1][1].append(line[1:])
        elif line.startswith("│    ") and line.strip("│ "):
            found.append((line[1:].strip(), []))
        elif line.startswith(("└", "◇")):
            break
        elif not line.startswith("│") and found and found[-1][1]:
            found[-1][1].append(line)
    return tuple(
        (name, "\n".join(description).strip() or None) for name, description in found
    )


def hermes(text: str) -> Pairs:
    """Read the list in the system prompt of Hermes: a line for each skill."""
    inside = text.partition("<available_skills>")[2]
    inside = inside.rpartition("</available_skills>")[0]
    found: list[tuple[str, str | None]] = []
    for line in inside.splitlines():
        if line.startswith("    - "):
            name, _, description = line.removeprefix("    - ").partition(": ")
            found.append((name, description or None))
    return tuple(found)
