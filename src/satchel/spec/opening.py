"""A file's bytes to the tree of its frontmatter."""

from typing import NamedTuple

from satchel.model import Finding, Limits
from satchel.spec.fences import span_of_bytes
from satchel.spec.frontmatter import Problem, Tree, read_tree
from satchel.spec.misspelled import Slip, slips_in, with_meant_keys

__all__ = ["Opened", "as_meant", "open_file", "over"]


class Opened(NamedTuple):
    """The frontmatter of one file, read.

    ``head`` is the YAML that ``tree`` was read from, its first line the file's
    ``line``. ``repairs`` are warnings, their lines the file's. ``slips`` are keys that
    ``tree`` has as they were meant, and ``head`` as they were written.
    """

    tree: Tree
    head: bytes
    line: int
    repairs: tuple[Finding, ...] = ()
    slips: tuple[Slip, ...] = ()


def open_file(data: bytes, limits: Limits) -> Opened | Finding:
    """Return the frontmatter of a SKILL.md, or the error for which there is none."""
    if len(data) > limits.skill_md_bytes:
        return over("skill_md_bytes", limits.skill_md_bytes, len(data))
    problem: Problem | None = None
    span = span_of_bytes(data)
    if span is not None:
        head = data[span.head : span.end]
        if len(head) > limits.frontmatter_bytes:
            return over("frontmatter_bytes", limits.frontmatter_bytes, len(head))
        tree = read_tree(head, limits)
        if isinstance(tree, Tree):
            return Opened(tree, head, span.line)
        problem = tree
    # Only what is broken waits for what mends it.
    from satchel.spec.mending import open_broken

    return open_broken(data, span, problem, limits)


def as_meant(opened: Opened) -> Opened:
    """Return a file with misspelled keys read as the known ones that were meant."""
    slips = slips_in(opened.tree.root)
    if not slips:
        return opened
    return opened._replace(tree=with_meant_keys(opened.tree, slips), slips=slips)


def over(name: str, limit: int, actual: int) -> Finding:
    """Return the error of a file or a frontmatter that is too large."""
    message = f"{name} is {actual} bytes, the limit is {limit} bytes"
    fix = "shorten it, or raise the limit"
    return Finding("limit-exceeded", "error", message, fix=fix)
