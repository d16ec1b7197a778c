"""A file's frontmatter as it is read: its tree, the lines of its keys, its body."""

from typing import Final, NamedTuple

from satchel.model import Finding, Limits
from satchel.skill_md._frontmatter import (
    HEADING,
    MisspelledKey,
    Node,
    YamlProblem,
    YamlTree,
    find_span,
    read_plain,
)

# For frontmatter that was read within the limits before.
ANY_DEPTH: Final = Limits(yaml_depth=1_000_000, yaml_nodes=1_000_000)


# Text alone decides, no YAML, so that this and `parse` agree. Only the top of the file
# counts: a document may show a SKILL.md as an example.
def body_of(text: str) -> str:
    """Return the text after the frontmatter, unaltered; else the whole text."""
    span = find_span(text)
    # `# text` between the fences is a YAML comment, or a heading of a body whose
    # `---` is only a rule; `tolerant_span` decides.
    if span is None or HEADING.search(text, span.head, span.end):
        from satchel.skill_md._body import tolerant_span

        loose = tolerant_span(text)
        span = loose[0] if loose else None
    return text if span is None else text[span.body :]


def read_tree(
    head: bytes, limits: Limits, *, with_lines: bool = False
) -> YamlTree | YamlProblem:
    """Return the mapping in ``head``, or why there is none; it never raises."""
    plain = None if with_lines else read_plain(head, limits)
    if plain is not None:
        return plain
    from satchel.skill_md._yaml import parse_yaml  # most libraries need it never

    return parse_yaml(head, limits, with_lines=with_lines)


class Frontmatter(NamedTuple):
    """The frontmatter of one file, read."""

    # `head` is the YAML that `tree` was read from, its first line the file's `line`.
    # `repairs` are warnings, their lines the file's. `misspelled` are keys that `tree`
    # has as they were meant, and `head` as they were written.

    tree: YamlTree
    head: bytes
    line: int
    repairs: tuple[Finding, ...] = ()
    misspelled: tuple[MisspelledKey, ...] = ()

    def line_of(self, *at: str) -> int | None:
        """Return the file's line of a key, given with those around it, if known."""
        if not at:
            return None
        at = self.as_written(at)
        # A search is enough for a key at the top, and much faster than the parser.
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

    def as_written(self, at: tuple[str, ...]) -> tuple[str, ...]:
        """Return keys as the file has them, where they are given as they were meant."""
        for wrong in self.misspelled:
            depth = len(wrong.within)
            same = at[:depth] == wrong.within and at[depth : depth + 1] == (
                wrong.meant,
            )
            if wrong.counts and same:
                at = (*at[:depth], wrong.written, *at[depth + 1 :])
        return at


def too_large(name: str, limit: int, actual: int) -> Finding:
    return Finding.of(
        "limit-exceeded",
        sentence="file",
        severity="error",
        limit_name=name,
        limit=limit,
        actual=actual,
    )


class ManifestDraft(NamedTuple):
    """A file's frontmatter with its essential fields as text."""

    # `name` is as written, None for none; `description` is stripped, empty for none;
    # `repairs` are those of both.

    file: Frontmatter
    name: str | None
    description: str
    directory: str
    repairs: tuple[Finding, ...]
