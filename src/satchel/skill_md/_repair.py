"""Frontmatter that cannot be read as it is: repaired entry by entry, or an error."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

from satchel.model import Finding, Limits
from satchel.skill_md._body import first_sentence, tolerant_span, with_line_feeds
from satchel.skill_md._entries import (
    TEXT_FIELDS,
    FrontmatterEntry,
    Rewrite,
    entry_rewrites,
    fold,
    line_rewrite,
    literal_rewrites,
    realigned,
    split_entries,
    with_english_keys,
    without_bold_keys,
)
from satchel.skill_md._frontmatter import (
    HEADING,
    Span,
    YamlProblem,
    YamlTree,
    find_span,
)
from satchel.skill_md._opening import Frontmatter, read_tree, too_large
from satchel.skill_md._writer import quoted
from satchel.text import decode

# Broken entries in one frontmatter; the most seen in 11,793 public files: 3.
MAX_BROKEN: Final = 50
_MAX_BROKEN_LINES: Final = 20
_MAX_ROUNDS: Final = 5
_SHOWN_CHARS: Final = 300
# Refused on purpose, not by mistake: a repair must not get around it.
_FINAL: Final = frozenset(["yaml-alias", "yaml-anchor", "yaml-tag", "limit-exceeded"])
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class RepairedFrontmatter:
    """Broken frontmatter after its repair; its lines are numbered as in the file."""

    tree: YamlTree
    head: bytes
    findings: tuple[Finding, ...]
    changes: tuple["EntryChange", ...] = ()


class EntryChange(NamedTuple):
    """An entry that was rewritten: its lines, from 1, and its text now."""

    line: int
    lines: int
    text: str


def repair_frontmatter(
    head: str, problem: YamlProblem, limits: Limits, *, line: int = 1
) -> RepairedFrontmatter | YamlProblem:
    """Return frontmatter that the parser refused, repaired, or why it cannot be."""
    # An unfilled `{{name}}` is a complex key for YAML; any other one stays refused.
    if problem.code in _FINAL or (problem.code == "complex-key" and "{{" not in head):
        return problem
    findings: list[Finding] = []
    text = _cleaned(head, findings, line)
    entries = list(split_entries(text.removesuffix("\n").split("\n")))
    if not any(entry.key for entry in entries):
        return problem
    work = _EntryRepairs(entries, limits, findings, line)
    work.apply(
        index
        for index, entry in enumerate(entries)
        if entry.misaligned or not entry.key
    )
    tree: YamlTree | YamlProblem = work.read() if findings else problem
    # Each round repairs at least one entry, or ends.
    for attempt in range(_MAX_ROUNDS):
        if isinstance(tree, YamlTree) or tree.code in _FINAL:
            break
        # First where the parser says, then, once, wherever an entry fails alone.
        broken = work.near(tree.line) if attempt < _MAX_ROUNDS - 1 else work.all()
        if not broken and attempt < _MAX_ROUNDS - 1:
            broken = work.all()
        refused = work.apply(broken)
        if refused is not None or not broken:
            return refused or tree
        tree = work.read()
    if isinstance(tree, YamlProblem):
        return tree
    changes = tuple(work.changes[index] for index in sorted(work.changes))
    findings.sort(key=lambda finding: finding.line or 0)
    return RepairedFrontmatter(tree, work.whole(), tuple(findings), changes)


class _EntryRepairs:
    """The entries of one frontmatter, and their texts so far."""

    def __init__(
        self,
        entries: list[FrontmatterEntry],
        limits: Limits,
        findings: list[Finding],
        line: int,
    ) -> None:
        self.entries = entries
        self.limits = limits
        self.findings = findings
        self.line = line
        self.texts = [entry.text for entry in entries]
        self.open = set(range(len(entries)))
        self.problems: dict[int, YamlProblem | None] = {}
        self.changes: dict[int, EntryChange] = {}

    def whole(self) -> bytes:
        return "".join(self.texts).encode("utf-8", "replace")

    def read(self) -> YamlTree | YamlProblem:
        return read_tree(self.whole(), self.limits)

    def near(self, line: int | None) -> list[int]:
        """Return the entry that fails alone, on ``line`` or up to two before it."""
        at = 0
        for index, entry in enumerate(self.entries):
            if entry.line > (line or 0):
                break
            at = index
        # The parser may notice a mistake only on a line after the broken entry.
        for index in range(at, max(at - 3, -1), -1):
            if self._fails(index):
                return [index]
        return []

    def all(self) -> list[int]:
        """Return every entry that fails alone, none if there are too many."""
        broken = [index for index in range(len(self.entries)) if self._fails(index)]
        return broken if len(broken) <= MAX_BROKEN else []

    def apply(self, indices: Iterable[int]) -> YamlProblem | None:
        """Rewrite these entries; return why one of them cannot be."""
        for index in indices:
            entry = self.entries[index]
            # No entry is rewritten twice, so that the rounds end.
            self.open.discard(index)
            rewrite = _rewritten(entry, self.limits, self.problems.get(index))
            if isinstance(rewrite, YamlProblem):
                line = entry.line - 1 + (rewrite.line or 1)
                return YamlProblem(rewrite.code, rewrite.message, line)
            if rewrite is not None:
                text = rewrite.text
                lines = entry.text.count("\n")
                # Filled with empty lines, so that later entries keep their lines.
                missing = lines - text.count("\n")
                self.changes[index] = EntryChange(entry.line, lines, text)
                self.texts[index] = text + "\n" * missing
                line = entry.line - 1 + self.line
                self.findings.append(
                    repair_finding(rewrite.code, line, entry.text, text)
                )
        return None

    def _fails(self, index: int) -> bool:
        if index not in self.open:
            return False
        if index not in self.problems:
            self.problems[index] = _problem(self.texts[index], self.limits)
        return self.problems[index] is not None


def _cleaned(head: str, findings: list[Finding], line: int) -> str:
    """Return the text with one kind of line end, and no character YAML forbids."""
    text = head.replace("\r\n", "\n").replace("\r", "\n")
    control = _CONTROL.search(text)
    if control is not None:
        at = line + text.count("\n", 0, control.start())
        findings.append(repair_finding("control-characters", at))
        text = without_controls(text)
    for code, rewrite in (
        ("marked-keys", without_bold_keys),
        ("translated-keys", with_english_keys),
    ):
        rewritten = rewrite(text)
        if rewritten is not None:
            findings.append(repair_finding(code, line, text, rewritten))
            text = rewritten
    return text


def without_controls(text: str) -> str:
    return _CONTROL.sub("", text)


def _rewritten(
    entry: FrontmatterEntry, limits: Limits, problem: YamlProblem | None
) -> Rewrite | YamlProblem | None:
    """Return the entry as YAML; None where it needs nothing, else why it cannot be."""
    if not entry.key:
        return _without_stray(entry)
    entry, code = realigned(entry)
    if code or problem is None:
        problem = _problem(entry.text, limits)
    if problem is None:
        return Rewrite(code, entry.text) if code else None
    if problem.code in _FINAL:
        return problem
    for rewrite in chain(
        entry_rewrites(entry), _repair_lines(entry, limits), literal_rewrites(entry)
    ):
        if _problem(rewrite.text, limits) is None:
            return rewrite
    return problem


def _without_stray(entry: FrontmatterEntry) -> Rewrite | None:
    """Return the text before the first key as comments; None where it is comments."""
    lines = (entry.first, *entry.more)
    if all(not line.strip() or line.lstrip().startswith("#") for line in lines):
        return None
    return Rewrite("stray-text", "".join(f"# {line}\n" for line in lines))


def _repair_lines(entry: FrontmatterEntry, limits: Limits) -> Iterator[Rewrite]:
    """Yield a nested entry with its broken lines quoted, one after the other."""
    if not entry.more or entry.key in TEXT_FIELDS:
        return
    lines = entry.text.removesuffix("\n").split("\n")
    left = set(range(1, len(lines)))
    code = ""
    for _ in range(_MAX_BROKEN_LINES):
        problem = _problem("\n".join(lines), limits)
        if problem is None:
            yield Rewrite(code, "".join(f"{line}\n" for line in lines))
        at = (
            _quote_near(lines, problem.line, left) if problem and problem.line else None
        )
        if at is None:
            return
        code = code or at


def _quote_near(lines: list[str], number: int, left: set[int]) -> str | None:
    """Quote the value that the parser stumbled over, on its line or up to two above."""
    # No line is quoted twice: each time would double its backslashes.
    for index in range(min(number, len(lines)) - 1, 0, -1)[:3]:
        rewrite = line_rewrite(lines[index]) if index in left else None
        if rewrite is not None:
            left.discard(index)
            lines[index] = rewrite.text
            return rewrite.code
    return None


def _problem(text: str, limits: Limits) -> YamlProblem | None:
    read = read_tree(text.encode("utf-8", "replace"), limits)
    return read if isinstance(read, YamlProblem) else None


def repair_finding(
    code: str, line: int | None, before: str = "", after: str = ""
) -> Finding:
    return Finding.of(
        code,
        "",
        line,
        before=_shortened(before.rstrip("\n")),
        after=_shortened(after.rstrip("\n")),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def repair_file(
    data: bytes, span: Span | None, problem: YamlProblem | None, limits: Limits
) -> Frontmatter | Finding:
    """Return the frontmatter of a file that is not sound as it is, or the error."""
    if span is not None and problem is not None:
        head: str | None = None
        with suppress(UnicodeDecodeError):
            head = data[span.head : span.end].decode()
        # With a heading inside, the fences may be wrong: they are searched again below.
        if head is not None and not HEADING.search(head):
            return _repaired(head, problem, span.line, (), limits)
    if not data.strip():
        return Finding.of("empty-file")
    decoded = decode(data)
    text, repairs = with_line_feeds(decoded.text), decoded.findings
    if text is not decoded.text and "\r" in decoded.text:
        repairs += (Finding.of("old-line-ends", "", 1),)
    span = find_span(text)
    if span is None or HEADING.search(text, span.head, span.end):
        tolerant = tolerant_span(text)
        if tolerant is None:
            return _no_frontmatter(text)
        span, repairs = tolerant[0], repairs + tolerant[1]
    head = text[span.head : span.end]
    raw = head.encode("utf-8", "replace")
    if len(raw) > limits.frontmatter_bytes:
        return too_large("frontmatter_bytes", limits.frontmatter_bytes, len(raw))
    tree = read_tree(raw, limits)
    if isinstance(tree, YamlTree):
        return Frontmatter(tree, raw, span.line, repairs)
    return _repaired(head, tree, span.line, repairs, limits)


def _repaired(
    head: str,
    problem: YamlProblem,
    line: int,
    repairs: tuple[Finding, ...],
    limits: Limits,
) -> Frontmatter | Finding:
    repaired = repair_frontmatter(head, problem, limits, line=line)
    if isinstance(repaired, YamlProblem):
        at = repaired.line + line - 1 if repaired.line else None
        return Finding.of(
            repaired.code, "", at, severity="error", problem=repaired.message
        )
    return Frontmatter(repaired.tree, repaired.head, line, repairs + repaired.findings)


_LINK: Final = re.compile(r"\s*[^\s:*]+/[^\s:*]+\.md\s*", re.IGNORECASE)
# As Hugo and Zola have it.
_TOML: Final = re.compile(r"\s*\+\+\+[ \t]*\n")


def _no_frontmatter(text: str) -> Finding:
    if _LINK.fullmatch(text):
        return Finding.of("link-text", "", 1, path=text.strip())
    if _TOML.match(text):
        return Finding.of("no-frontmatter", "", 1, sentence="toml")
    offer = offer_of(text)
    return Finding.of(
        "no-frontmatter", "", 1, sentence="body" if offer else "", offer=quoted(offer)
    )


def offer_of(text: str) -> str:
    """Return what a body offers for a description, if it is more than a word."""
    # One word says nothing of what a skill does.
    sentence = first_sentence(text)
    return sentence if " " in sentence else ""


def description_as_written(file: Frontmatter) -> tuple[str, Finding]:
    """Return a description that is not text as text, and the finding of that."""
    text = file.head.decode("utf-8", "replace").replace("\r\n", "\n")
    # The entries come from the text as written, where the key may be misspelled.
    (key,) = file.as_written(("description",))
    values = (
        fold(entry.value, entry.more)
        for entry in split_entries(text.split("\n"))
        if entry.key == key
    )
    description = next(values, "")
    line = file.line_of("description")
    return description, repair_finding(
        "description-not-text", line, description, description
    )
