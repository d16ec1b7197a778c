"""A file's bytes to its frontmatter: fences, tree, the essential fields.

And their lines.
"""

import re
from typing import AnyStr, Final, NamedTuple

from satchel.model import Finding, Limits
from satchel.skill_md._frontmatter import Node, YamlProblem, YamlTree, read_tree
from satchel.skill_md._misspelled import (
    MisspelledKey,
    find_misspelled,
    with_corrected_keys,
)

# A fence stands on a line of its own. `...` ends a YAML document as `---` does. A line
# that only begins like a fence stops the search, with no group matched: what its
# author meant is for `loose_span` to find out.
_OPENING: Final = r"(?:{mark})?---[ \t]*\r?(?=\n)"
_CLOSING: Final = r"\n(?:---|\.\.\.(?=\s|\Z))[ \t]*(\r?\n|\r?\Z)?"
_OPENING_TEXT: Final = re.compile(_OPENING.format(mark="\ufeff"))
_CLOSING_TEXT: Final = re.compile(_CLOSING)
_OPENING_BYTES: Final = re.compile(_OPENING.format(mark="\\xef\\xbb\\xbf").encode())
_CLOSING_BYTES: Final = re.compile(_CLOSING.encode())


class Span(NamedTuple):
    """Offsets: the frontmatter is ``[head:end]``, the body begins at ``body``.

    ``line`` is the number of the frontmatter's first line.
    """

    head: int
    end: int
    body: int
    line: int = 2


def span_of_bytes(data: bytes) -> Span | None:
    """Return the span of a file that begins with a fence and has a second one."""
    return _span(data, _OPENING_BYTES, _CLOSING_BYTES)


def span_of_text(text: str) -> Span | None:
    """Return the same for decoded text, in characters."""
    return _span(text, _OPENING_TEXT, _CLOSING_TEXT)


def _span(
    data: AnyStr, opening: re.Pattern[AnyStr], closing: re.Pattern[AnyStr]
) -> Span | None:
    first = opening.match(data)
    if first is None:
        return None
    last = closing.search(data, first.end())
    if last is None or last.lastindex is None:
        return None
    return Span(first.end() + 1, last.start() + 1, last.end())


class Frontmatter(NamedTuple):
    """The frontmatter of one file, read.

    ``head`` is the YAML that ``tree`` was read from, its first line the file's
    ``line``. ``repairs`` are warnings, their lines the file's. ``slips`` are keys that
    ``tree`` has as they were meant, and ``head`` as they were written.
    """

    tree: YamlTree
    head: bytes
    line: int
    repairs: tuple[Finding, ...] = ()
    misspelled: tuple[MisspelledKey, ...] = ()


def read_frontmatter(data: bytes, limits: Limits) -> Frontmatter | Finding:
    """Return the frontmatter of a SKILL.md, or the error for which there is none."""
    if len(data) > limits.skill_md_bytes:
        return too_large("skill_md_bytes", limits.skill_md_bytes, len(data))
    problem: YamlProblem | None = None
    span = span_of_bytes(data)
    if span is not None:
        head = data[span.head : span.end]
        if len(head) > limits.frontmatter_bytes:
            return too_large("frontmatter_bytes", limits.frontmatter_bytes, len(head))
        tree = read_tree(head, limits)
        if isinstance(tree, YamlTree):
            return Frontmatter(tree, head, span.line)
        problem = tree
    # Only what is broken waits for what mends it.
    from satchel.skill_md._repair import repair_file

    return repair_file(data, span, problem, limits)


def with_corrections(opened: Frontmatter) -> Frontmatter:
    """Return a file with misspelled keys read as the known ones that were meant."""
    misspelled = find_misspelled(opened.tree.root)
    if not misspelled:
        return opened
    return opened._replace(
        tree=with_corrected_keys(opened.tree, misspelled), misspelled=misspelled
    )


def too_large(name: str, limit: int, actual: int) -> Finding:
    """Return the error of a file or a frontmatter that is too large."""
    message = f"{name} is {actual} bytes, the limit is {limit} bytes"
    fix = "shorten it, or raise the limit"
    return Finding("limit-exceeded", "error", message, fix=fix)


class ManifestDraft(NamedTuple):
    """The essential fields as text, beside the tree they come from.

    ``name`` is as written, None where there is none; ``description`` is without
    blanks at its ends, empty where there is none. ``directory`` is empty where the
    pack has no folder. ``slips`` are keys of the tree that are written otherwise.
    """

    tree: YamlTree
    name: str | None
    description: str
    directory: str = ""
    repairs: tuple[Finding, ...] = ()
    misspelled: tuple[MisspelledKey, ...] = ()


def draft_manifest(opened: Frontmatter, directory: str) -> ManifestDraft:
    """Return the draft of a file that was opened."""
    tree, repairs = opened.tree, opened.repairs
    name, description = tree.text("name"), tree.text("description")
    if description is None and tree.root.get("description") is not None:
        description, found = _description_as_written(opened)
        repairs = (*repairs, found)
    text = (description or "").strip()
    return ManifestDraft(tree, name, text, directory, repairs, opened.misspelled)


def line_of_key(opened: Frontmatter, at: tuple[str, ...]) -> int | None:
    """Return the file's line of a key, given with those around it; None if unknown."""
    if not at:
        return None
    at = _as_written(opened.misspelled, at)
    key = at[0].encode()
    if len(at) == 1 and opened.head.startswith(key + b":"):
        return opened.line
    start = opened.head.find(b"\n" + key + b":") if len(at) == 1 else -1
    if start >= 0:
        return opened.line + 1 + opened.head.count(b"\n", 0, start)
    return _line_by_parser(opened, at)


def _as_written(
    misspelled: tuple[MisspelledKey, ...], at: tuple[str, ...]
) -> tuple[str, ...]:
    """Return keys as the file has them, where they are given as they were meant."""
    for slip in misspelled:
        depth = len(slip.within)
        same = at[:depth] == slip.within and at[depth : depth + 1] == (slip.meant,)
        if slip.counts and same:
            at = (*at[:depth], slip.written, *at[depth + 1 :])
    return at


_ALREADY_READ: Final = Limits(yaml_depth=1_000_000, yaml_nodes=1_000_000)


def _line_by_parser(opened: Frontmatter, at: tuple[str, ...]) -> int | None:
    """Read the frontmatter again, with the line of each key this time."""
    tree = read_tree(opened.head, _ALREADY_READ, with_lines=True)
    if not isinstance(tree, YamlTree):
        return None
    within: Node = tree.root
    for key in at[:-1]:
        within = within.get(key) if isinstance(within, dict) else None
    line = tree.lines.get((id(within), at[-1]))
    return None if line is None else line + opened.line - 1


def _description_as_written(opened: Frontmatter) -> tuple[str, Finding]:
    """Return a description that is no text as one, and the finding of that."""
    from satchel.skill_md._entries import fold, split_entries
    from satchel.skill_md._repair import repair_finding

    text = opened.head.decode("utf-8", "replace").replace("\r\n", "\n")
    entries = split_entries(text.split("\n"))
    (key,) = _as_written(opened.misspelled, (_DESCRIPTION,))
    values = (fold(each.value, each.more) for each in entries if each.key == key)
    description = next(values, "")
    line = line_of_key(opened, (_DESCRIPTION,))
    return description, repair_finding(
        "description-not-text", line, description, description
    )


_DESCRIPTION: Final = "description"
