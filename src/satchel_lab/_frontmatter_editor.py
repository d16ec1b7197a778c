"""Frontmatter edited as text, entry by entry: what does not change keeps its bytes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

from satchel.model import DEFAULT_LIMITS, Json, Limits
from satchel.skill_md import (
    ANY_DEPTH,
    HEADING,
    RepairedFrontmatter,
    Span,
    YamlTree,
    before_frontmatter,
    find_span,
    read_tree,
    render_frontmatter,
    repair_frontmatter,
    split_entries,
    tolerant_span,
    without_controls,
)

# A repair that leaves text out: only the author can write it down.
LOSSY_REPAIR: Final = "translated-keys"

LINES: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_OPENING: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"(?:---|\.\.\.)[ \t]*(?:\r?\n|\r?\Z)")
_ENDS: Final = "\r\n"
_LINE_END: Final = re.compile(r"\r?\n|\r")
_MARK: Final = "\ufeff"
_INVISIBLE: Final = "\ufeff\u200b \t\r\n"
_QUOTED: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:''|[^'])*'")
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*")
_BLOCK_TEXT: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_OPENS_BLOCK: Final = re.compile(r"[ \t]*(?:#.*)?")


# A layout that is misjudged could cost a value, so every caller reads the result again.
def repaired_text(text: str, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Return the file with its frontmatter repaired; None where that cannot be done."""
    # Text before it becomes comments; the body is the same, to the byte. The caller
    # checks that the result is read as the file was.
    span = find_span(text)
    if span is None or HEADING.search(text, span.head, span.end):
        tolerant = tolerant_span(text)
        if tolerant is None:
            return None
        span = tolerant[0]
    head = _repaired_head(text[span.head : span.end], limits)
    if head is None:
        return None
    end = _line_end(text)
    if head and not head.endswith(("\n", "\r")):
        head += end
    opening, closing = text[: span.head], text[span.end : span.body]
    body = text[span.body :]
    if not _OPENING.fullmatch(opening):
        mark = _MARK if text.startswith(_MARK) else ""
        lines = (
            line.strip(_INVISIBLE) for line in before_frontmatter(text).splitlines()
        )
        comments = "".join(f"# {line}{end}" for line in lines if line)
        opening = f"{mark}---{end}{comments}"
    if not _CLOSING.fullmatch(closing) or (body and closing[-1] != "\n"):
        closing = f"---{end}"
    return f"{opening}{head}{closing}{body}"


def _repaired_head(head: str, limits: Limits) -> str | None:
    tree = read_tree(head.encode("utf-8", "replace"), limits)
    if isinstance(tree, YamlTree):
        return head
    repaired = repair_frontmatter(head, tree, limits)
    if not isinstance(repaired, RepairedFrontmatter) or any(
        finding.code == LOSSY_REPAIR for finding in repaired.findings
    ):
        return None
    return "".join(_repaired_lines(head, repaired))


def _repaired_lines(head: str, repaired: RepairedFrontmatter) -> Iterator[str]:
    lines = LINES.findall(head)
    at = 0
    for change in repaired.changes:
        yield from map(without_controls, lines[at : change.line - 1])
        text = change.text.replace("\n", _line_end(lines[change.line - 1]))
        at = change.line - 1 + change.lines
        yield text
        first = change.line + _own_count(lines[change.line : at], least=0)
        after = "".join(lines[first:at])
        if not text.endswith(after):
            yield without_controls(after)
    yield from map(without_controls, lines[at:])


def entry_text(text: str, key: str) -> str | None:
    """Return an entry as written, lines ended by LF; empty for none, None for two."""
    place = _find_entry(text, key)
    if place is None:
        return None
    lines = place.lines[place.first : place.first + place.size]
    return "".join(f"{line.rstrip(_ENDS)}\n" for line in lines)


def set_entry(text: str, key: str, lines: str, *, first: bool = False) -> str | None:
    """Return the file with such an entry; a new one is the last, or the ``first``."""
    place = _find_entry(text, key)
    if place is None:
        return None
    span, raw, at, count = place
    if not count and first:
        at = 0
    end = _line_end("".join((*raw[at : at + count], text)))
    raw[at : at + count] = [lines.replace("\n", end)]
    return f"{text[: span.head]}{''.join(raw)}{text[span.end :]}"


class _EntryPlace(NamedTuple):
    """The lines of a frontmatter, and which of them are an entry's."""

    span: Span
    lines: list[str]
    first: int
    size: int


def _find_entry(text: str, key: str) -> _EntryPlace | None:
    """Return where an entry is; None where there are two of it, or no frontmatter."""
    span = find_span(text)
    if span is None:
        return None
    lines = LINES.findall(text[span.head : span.end])
    entries = split_entries([line.rstrip(_ENDS) for line in lines])
    named = [entry for entry in entries if entry.key.strip("\"'") == key]
    # Which of two entries counts is for the author to say.
    if len(named) > 1:
        return None
    if not named:
        return _EntryPlace(span, lines, len(lines), 0)
    entry = named[0]
    count = _own_count([entry.first, *entry.more])
    return _EntryPlace(span, lines, entry.line - 1, count)


def _own_count(lines: Sequence[str], least: int = 1) -> int:
    count = len(lines)
    while count > least and (
        not lines[count - 1].strip() or lines[count - 1].startswith("#")
    ):
        count -= 1
    return count


def _line_end(text: str) -> str:
    end = _LINE_END.search(text)
    return end[0] if end else "\n"


class EditedFields(NamedTuple):
    """The lines of a frontmatter after a change, and the comments it cost."""

    lines: list[str]
    lost: list[str]


def edit_fields(
    lines: list[str],
    before: Mapping[str, Json],
    after: Mapping[str, Json],
    rendered: Mapping[str, Json],
) -> EditedFields:
    """Return the lines of a frontmatter changed from ``before`` to ``after``."""
    # Entries of equal value keep their lines and comments, unless the layout does not
    # allow it: then `rendered`, the same fields, is rendered.
    if same_values(before, after):
        return EditedFields(lines, [])
    # The layout is only guessed, so the result is read again before it is used.
    edited = edit_entries(lines, before, after)
    if edited is not None:
        head = "".join(f"{line}\n" for line in edited)
        tree = read_tree(head.encode("utf-8", "surrogatepass"), ANY_DEPTH)
        if isinstance(tree, YamlTree) and same_values(
            cast("Mapping[str, Json]", tree.root), after
        ):
            return EditedFields(edited, [])
    return EditedFields(_rendered(rendered), comments_in(lines))


def edit_entries(
    lines: Sequence[str], before: Mapping[str, Json], after: Mapping[str, Json]
) -> list[str] | None:
    """Return the lines of a block mapping changed from ``before`` to ``after``."""
    # Comments inside an entry that goes stay in its place, on lines of their own. A
    # name that was not there comes first, other new keys where the first entry went
    # away, else last. None where the lines are laid out in another way.
    entries = list(split_entries(list(lines)))
    keys = [entry.key for entry in entries if entry.key]
    # The split only guesses at YAML: if its keys are not the parser's, it is wrong.
    if sorted(keys) != sorted(before):
        return None
    new = {key: value for key, value in after.items() if key not in before}
    out = _rendered({"name": new.pop("name")}) if "name" in new else []
    for entry in entries:
        whole = [entry.first, *entry.more]
        count = _own_count(whole)
        own, key = whole[:count], entry.key
        if not key or (key in after and same_values(before[key], after[key])):
            out += own
        elif key in after:
            out += _changed(key, own, before[key], after[key])
        else:
            out += comments_in(own)
            out += _rendered(new)
            new = {}
        out += whole[count:]
    return out + _rendered(new)


def comments_in(lines: Sequence[str]) -> list[str]:
    """Return the comments in the lines of an entry, each as a line of its own."""
    comments: list[str] = []
    for index, line in enumerate(lines):
        # The same length, so that the offset of a comment is valid in the line itself.
        shown = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
        comment = _COMMENT.search(shown)
        if comment:
            comments.append(line[comment.start() :].rstrip())
        value = line.partition(":")[2].strip() if index == 0 else ""
        if _BLOCK_TEXT.fullmatch(value):
            break
    return comments


def _changed(key: str, own: list[str], before: Json, after: Json) -> list[str]:
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
    indent = indent_of(first)
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


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _rendered(mapping: Mapping[str, Json]) -> list[str]:
    # Without the two fences, and the empty text after the last line end.
    return render_frontmatter(mapping).split("\n")[1:-2] if mapping else []


def same_values(first: Json, second: Json) -> bool:
    """Return whether two values are equal and of one kind: 1 is not 1.0, nor true."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
