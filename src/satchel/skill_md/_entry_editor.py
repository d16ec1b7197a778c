"""Frontmatter edited as text: what does not change keeps its lines and its comments.

Only whole entries are taken out, put in or written anew. Whoever calls reads the
result again and compares, so that a layout this module misjudges costs comments, never
a value.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from satchel.model import Json
from satchel.skill_md._entries import FrontmatterEntry, split_entries
from satchel.skill_md._writer import render_frontmatter

_QUOTED: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:''|[^'])*'")
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*")
_BLOCK_TEXT: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_OPENS_BLOCK: Final = re.compile(r"[ \t]*(?:#.*)?")


def edit_entries(
    lines: Sequence[str], before: Mapping[str, Json], after: Mapping[str, Json]
) -> list[str] | None:
    """Return the lines of a block mapping changed from ``before`` to ``after``.

    Entries of equal value keep their lines. Comments inside an entry that goes are
    kept in its place, on lines of their own. A name that was not there stands first,
    other new keys stand where the first entry went away, else last. None where the
    lines are laid out in another way.
    """
    entries = list(split_entries(list(lines)))
    keys = [entry.key for entry in entries if entry.key]
    if sorted(keys) != sorted(before):
        return None
    new = {key: value for key, value in after.items() if key not in before}
    out = _rendered({"name": new.pop("name")}) if "name" in new else []
    for entry in entries:
        own, behind = _own_lines(entry)
        if not entry.key or _same(entry.key, before, after):
            out += own
        elif entry.key in after:
            out += _changed(entry.key, own, before[entry.key], after[entry.key])
        else:
            out += comments_in(own)
            out += _rendered(new)
            new = {}
        out += behind
    return out + _rendered(new)


def equal_values(first: Json, second: Json) -> bool:
    """Tell whether two values are equal and of one kind: 1 is neither 1.0 nor True."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def comments_in(lines: Sequence[str]) -> list[str]:
    """Return the comments in the lines of an entry, each as a line of its own.

    A ``#`` in quotes is none, and none is in a block of text.
    """
    return list(_comments(lines))


def _comments(lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        shown = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
        found = _COMMENT.search(shown)
        if found:
            yield line[found.start() :].rstrip()
        value = line.partition(":")[2].strip() if index == 0 else ""
        if _BLOCK_TEXT.fullmatch(value):
            return


class _OwnLines(NamedTuple):
    own: list[str]
    behind: list[str]


def _own_lines(entry: FrontmatterEntry) -> _OwnLines:
    """Part an entry from the comments and blank lines behind it: the next one's."""
    lines = [entry.first, *entry.more]
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return _OwnLines(lines[:end], lines[end:])


def _same(key: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> bool:
    return key in after and equal_values(before[key], after[key])


def _changed(key: str, own: list[str], before: Json, after: Json) -> list[str]:
    """Return the lines of an entry whose value is another one now."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and after:
        inner = _nested(own, before, after)
        if inner is not None:
            return [own[0], *inner]
    return [*comments_in(own), *_rendered({key: after})]


def _nested(
    own: list[str], before: Mapping[str, Json], after: Mapping[str, Json]
) -> list[str] | None:
    """Edit a mapping within a mapping; None where it is not one key a line."""
    if not _OPENS_BLOCK.fullmatch(own[0].partition(":")[2]):
        return None
    first = next((line for line in own[1:] if not _is_aside(line)), "")
    indent = first[: len(first) - len(first.lstrip(" "))]
    if not indent or not all(
        line.startswith(indent) or _is_aside(line) for line in own[1:]
    ):
        return None
    inner = edit_entries([line.removeprefix(indent) for line in own[1:]], before, after)
    if inner is None:
        return None
    return [f"{indent}{line}" if line.strip() else line for line in inner]


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _rendered(mapping: Mapping[str, Json]) -> list[str]:
    return render_frontmatter(mapping).split("\n")[1:-2] if mapping else []
