"""A manifest on its way: what the rules of the profiles look at."""

from typing import Final, NamedTuple

from satchel.model import Finding, Limits
from satchel.spec.frontmatter import Node, Tree, read_tree
from satchel.spec.misspelled import Slip
from satchel.spec.opening import Opened

__all__ = ["Draft", "draft_of", "line_of"]


class Draft(NamedTuple):
    """The essential fields as text, beside the tree they come from.

    ``name`` is as written, None where there is none; ``description`` is without
    blanks at its ends, empty where there is none. ``directory`` is empty where the
    pack has no folder. ``slips`` are keys of the tree that are written otherwise.
    """

    tree: Tree
    name: str | None
    description: str
    directory: str = ""
    repairs: tuple[Finding, ...] = ()
    slips: tuple[Slip, ...] = ()


def draft_of(opened: Opened, directory: str) -> Draft:
    """Return the draft of a file that was opened."""
    tree, repairs = opened.tree, opened.repairs
    name, description = tree.text("name"), tree.text("description")
    if description is None and tree.root.get("description") is not None:
        description, found = _description_as_written(opened)
        repairs = (*repairs, found)
    text = (description or "").strip()
    return Draft(tree, name, text, directory, repairs, opened.slips)


def line_of(opened: Opened, at: tuple[str, ...]) -> int | None:
    """Return the file's line of a key, given with those around it; None if unknown."""
    if not at:
        return None
    at = _as_written(opened.slips, at)
    key = at[0].encode()
    if len(at) == 1 and opened.head.startswith(key + b":"):
        return opened.line
    start = opened.head.find(b"\n" + key + b":") if len(at) == 1 else -1
    if start >= 0:
        return opened.line + 1 + opened.head.count(b"\n", 0, start)
    return _line_by_parser(opened, at)


def _as_written(slips: tuple[Slip, ...], at: tuple[str, ...]) -> tuple[str, ...]:
    """Return keys as the file has them, where they are given as they were meant."""
    for slip in slips:
        depth = len(slip.within)
        same = at[:depth] == slip.within and at[depth : depth + 1] == (slip.meant,)
        if slip.counts and same:
            at = (*at[:depth], slip.written, *at[depth + 1 :])
    return at


_ALREADY_READ: Final = Limits(yaml_depth=1_000_000, yaml_nodes=1_000_000)


def _line_by_parser(opened: Opened, at: tuple[str, ...]) -> int | None:
    """Read the frontmatter again, with the line of each key this time."""
    tree = read_tree(opened.head, _ALREADY_READ, with_lines=True)
    if not isinstance(tree, Tree):
        return None
    within: Node = tree.root
    for key in at[:-1]:
        within = within.get(key) if isinstance(within, dict) else None
    line = tree.lines.get((id(within), at[-1]))
    return None if line is None else line + opened.line - 1


def _description_as_written(opened: Opened) -> tuple[str, Finding]:
    """Return a description that is no text as one, and the finding of that."""
    from satchel.spec.entries import split_entries
    from satchel.spec.repair import repaired
    from satchel.spec.rewrites import fold

    text = opened.head.decode("utf-8", "replace").replace("\r\n", "\n")
    entries = split_entries(text.split("\n"))
    (key,) = _as_written(opened.slips, (_KEY,))
    values = (fold(each.value, each.more) for each in entries if each.key == key)
    description = next(values, "")
    line = line_of(opened, (_KEY,))
    return description, repaired("description-not-text", line, description, description)


_KEY: Final = "description"
