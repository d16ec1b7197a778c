"""A file's bytes to its frontmatter: fences, tree, essential fields and their lines."""

import re
from typing import TYPE_CHECKING, AnyStr, Final, NamedTuple

from satchel.model import Finding, Limits
from satchel.skill_md._frontmatter import Node, YamlTree, read_tree
from satchel.skill_md._misspelled import (
    MisspelledKey,
    find_misspelled,
    with_corrected_keys,
)

if TYPE_CHECKING:
    from satchel.skill_md._yaml import YamlProblem

# A fence is a line of its own. `...` ends a YAML document as `---` does. A line that
# only begins like a fence stops the search, with no group matched: what its author
# meant is for `tolerant_span` to find out.
_OPENING: Final = r"(?:{mark})?---[ \t]*\r?(?=\n)"
_CLOSING: Final = r"\n(?:---|\.\.\.(?=\s|\Z))[ \t]*(\r?\n|\r?\Z)?"
_OPENING_TEXT: Final = re.compile(_OPENING.format(mark="\ufeff"))
_CLOSING_TEXT: Final = re.compile(_CLOSING)
_OPENING_BYTES: Final = re.compile(_OPENING.format(mark="\\xef\\xbb\\xbf").encode())
_CLOSING_BYTES: Final = re.compile(_CLOSING.encode())

ANY_DEPTH: Final = Limits(yaml_depth=1_000_000, yaml_nodes=1_000_000)
"""For frontmatter that was read within the limits before."""

_DESCRIPTION: Final = "description"


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
    ``line``. ``repairs`` are warnings, their lines the file's. ``misspelled`` are keys
    that ``tree`` has as they were meant, and ``head`` as they were written.
    """

    tree: YamlTree
    head: bytes
    line: int
    repairs: tuple[Finding, ...] = ()
    misspelled: tuple[MisspelledKey, ...] = ()

    def line_of(self, *at: str) -> int | None:
        """Return the file's line of a key, given with those around it, if known."""
        if not at:
            return None
        at = self._as_written(at)
        if len(at) == 1:
            key = at[0].encode() + b":"
            if self.head.startswith(key):
                return self.line
            start = self.head.find(b"\n" + key)
            if start >= 0:
                return self.line + 1 + self.head.count(b"\n", 0, start)
        # Only the parser knows where a nested, quoted or flow-style key is.
        tree = read_tree(self.head, ANY_DEPTH, with_lines=True)
        if not isinstance(tree, YamlTree):
            return None
        within: Node = tree.root
        for key_around in at[:-1]:
            within = within.get(key_around) if isinstance(within, dict) else None
        line = tree.lines.get((id(within), at[-1]))
        return None if line is None else line + self.line - 1

    def _as_written(self, at: tuple[str, ...]) -> tuple[str, ...]:
        """Return keys as the file has them, where they are given as they were meant."""
        for wrong in self.misspelled:
            depth = len(wrong.within)
            same = at[:depth] == wrong.within and at[depth : depth + 1] == (
                wrong.meant,
            )
            if wrong.counts and same:
                at = (*at[:depth], wrong.written, *at[depth + 1 :])
        return at

    def description_as_written(self) -> tuple[str, Finding]:
        """Return a description that is not text as text, and the finding of that."""
        from satchel.skill_md._entries import fold, split_entries
        from satchel.skill_md._repair import repair_finding

        text = self.head.decode("utf-8", "replace").replace("\r\n", "\n")
        (key,) = self._as_written((_DESCRIPTION,))
        values = (
            fold(entry.value, entry.more)
            for entry in split_entries(text.split("\n"))
            if entry.key == key
        )
        description = next(values, "")
        return description, repair_finding(
            "description-not-text", self.line_of(_DESCRIPTION), description, description
        )


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
    # Most files are sound, so the repairs are imported for a broken one only.
    from satchel.skill_md._repair import repair_file

    return repair_file(data, span, problem, limits)


def too_large(name: str, limit: int, actual: int) -> Finding:
    """Return the error of a file or a frontmatter that is too large."""
    return Finding.of(
        "limit-exceeded",
        sentence="file",
        severity="error",
        limit_name=name,
        limit=limit,
        actual=actual,
    )


class ManifestDraft(NamedTuple):
    """A file's frontmatter with its essential fields as text.

    ``name`` is as written, None where there is none; ``description`` has no spaces at
    its ends, and is empty where there is none. ``directory`` is empty where the pack
    has no folder. ``repairs`` are those of the frontmatter and of the description.
    """

    file: Frontmatter
    name: str | None
    description: str
    directory: str
    repairs: tuple[Finding, ...]

    @property
    def tree(self) -> YamlTree:
        """The fields, misspelled keys as they were meant."""
        return self.file.tree

    @property
    def misspelled(self) -> tuple[MisspelledKey, ...]:
        """The keys that are nearly known ones."""
        return self.file.misspelled


def draft_manifest(file: Frontmatter, directory: str) -> ManifestDraft:
    """Return the draft of a file, its misspelled keys read as they were meant."""
    misspelled = find_misspelled(file.tree.root)
    if misspelled:
        tree = with_corrected_keys(file.tree, misspelled)
        file = file._replace(tree=tree, misspelled=misspelled)
    tree, repairs = file.tree, file.repairs
    description = tree.text(_DESCRIPTION)
    if description is None and tree.root.get(_DESCRIPTION) is not None:
        description, repair = file.description_as_written()
        repairs = (*repairs, repair)
    text = (description or "").strip()
    return ManifestDraft(file, tree.text("name"), text, directory, repairs)
