"""Placeholders, conditions and commands in a text: filled where there is a value.

Elsewhere they stay, are reported, and no client runs them. Commands are never run here.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from satchel.model import SKILL_FILE, Finding
from satchel.skill_md import find_span
from satchel_lab.authoring._convert._values import Conversion
from satchel_lab.authoring._role_format import (
    COMMAND,
    IF,
    IF_NOT,
    PLACEHOLDER,
    choose_branches,
    fill,
)

# What a client runs: Claude Code, before its model sees the text.
_RUN: Final = re.compile(r"(?<!\S)!`([^`]++)`")
_BLOCK: Final = re.compile(
    r"^[ \t]*(`{3,})!.*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL
)
_RUN_BLOCK: Final = re.compile(r"^([ \t]*`{3,})(!)", re.MULTILINE)
_LEFT: Final = {
    "condition-left": (IF, IF_NOT),
    "placeholder-left": (PLACEHOLDER,),
    "command-left": (COMMAND,),
}
_MOST_LINES: Final = 5
_SHOWN_CHARS: Final = 80

# The lines of each different piece of markup.
_Lines: TypeAlias = dict[str, list[int]]


class RenderedMarkup(NamedTuple):
    """A text with what could be rendered, and a finding for each kind of the rest."""

    text: str
    findings: tuple[Finding, ...] = ()


def render_known(text: str, values: Mapping[str, str], path: str) -> RenderedMarkup:
    """Render what ``values`` decide, and report what they do not, with its lines.

    A command is put into a code span in which no client takes it for one: Claude Code
    runs a command whose exclamation mark begins a line or follows a space.

    Source: code.claude.com/docs/en/skills, "Inject dynamic context".
    """
    rendered = choose_branches(
        text, lambda name: bool(values[name]) if name in values else None
    )
    findings = tuple(_unrendered(text, rendered, values, path))
    # Values first: whatever is in one, no command is made of it.
    rendered = _RUN_BLOCK.sub(r"\1 \2", fill(rendered, values))
    return RenderedMarkup(COMMAND.sub(_in_code, rendered), findings)


def as_text_only(text: str, path: str, line: int = 0) -> RenderedMarkup:
    """Return a text that was never run so that no client runs what is in it.

    ``line`` is how many lines of the file come before the text.
    """
    commands = {**_places(_RUN, text, line), **_places(_RUN_BLOCK, text, line)}
    if not commands:
        return RenderedMarkup(text)
    inert = _RUN.sub(_in_code, _RUN_BLOCK.sub(r"\1 \2", text))
    return RenderedMarkup(inert, (_left("command-left", path, commands, "text"),))


def run_as_before(before: str, after: str, path: str, line: int = 0) -> RenderedMarkup:
    """Return a filled text in which clients run what they ran before, and no value.

    A command that a value is in, or that values make, becomes text. ``line`` is how
    many lines of the file come before it.
    """
    ran = {run[0] for mark in (_RUN, _BLOCK) for run in mark.finditer(before)}
    stopped: _Lines = {}

    def stop_new(
        mark: re.Pattern[str], text: str, inert: Callable[[re.Match[str]], str]
    ) -> str:
        for whole, lines in _places(mark, text, line).items():
            if whole not in ran:
                stopped[whole] = lines
        return mark.sub(lambda run: run[0] if run[0] in ran else inert(run), text)

    text = stop_new(_BLOCK, after, lambda run: _RUN_BLOCK.sub(r"\1 \2", run[0]))
    text = stop_new(_RUN, text, _in_code)
    if not stopped:
        return RenderedMarkup(text)
    return RenderedMarkup(text, (_left("command-left", path, stopped, "value"),))


def _in_code(command: re.Match[str]) -> str:
    whole = command[0]
    if whole.endswith("!`"):  # else the code span's own end would make another one
        whole = f"{whole[:-1]} `"
    # A backtick before the span would make it another one, or begin a block.
    apart = " " if command.string[max(command.start() - 1, 0)] == "`" else ""
    return f"{apart}``{whole} ``"


def _unrendered(
    text: str, rendered: str, values: Mapping[str, str], path: str
) -> Iterator[Finding]:
    """Yield a finding for each kind of markup that stays, with every place of it."""
    for code, marks in _LEFT.items():
        stays = {
            whole: lines
            for mark in marks
            for whole, lines in _places(mark, text).items()
            if whole in rendered
            and (mark is COMMAND or mark.sub(r"\1", whole) not in values)
        }
        if stays:
            yield _left(code, path, stays)


def _places(mark: re.Pattern[str], text: str, before: int = 0) -> _Lines:
    """Return the lines of each different piece of markup, from ``before`` + 1."""
    places: _Lines = {}
    line, at = before + 1, 0
    for piece in mark.finditer(text):
        line, at = line + text.count("\n", at, piece.start()), piece.start()
        lines = places.setdefault(piece[0], [])
        if line not in lines:
            lines.append(line)
    return places


def _left(code: str, path: str, places: _Lines, sentence: str = "") -> Finding:
    """Return the finding for markup that stays, on its first line, with all places."""
    shown: list[str] = []
    for whole, lines in sorted(places.items(), key=lambda place: place[1][0]):
        short = whole if len(whole) <= _SHOWN_CHARS else f"{whole[:_SHOWN_CHARS]}…"
        numbers = ", ".join(map(str, lines[:_MOST_LINES]))
        more = ", ..." if len(lines) > _MOST_LINES else ""
        shown.append(f"{short} (line {numbers}{more})")
    line = min(lines[0] for lines in places.values())
    return Finding.of(code, path, line, sentence=sentence, places=", ".join(shown))


def fill_placeholders(
    conversion: Conversion, values: Mapping[str, str], made_in: str = ""
) -> Conversion:
    """Return the conversion with ``{{NAME}}`` filled in the body and in Markdown files.

    A name without a value stays as it is, and so does the frontmatter: a value could
    make other fields of it. A file that is not UTF-8 is left alone.
    """
    draft = conversion.draft
    if draft is None or not values:
        return conversion
    files: dict[str, bytes] = {}
    findings: list[Finding] = []
    place = f"{made_in.rstrip('/')}/{draft.name}" if made_in else conversion.source
    for path, data in draft.files.items():
        files[path], left = _filled(path, data, values, f"{place}/{path}")
        findings += left
    filled_draft = replace(draft, files=files)
    return replace(conversion, draft=filled_draft).with_findings(findings)


def _filled(
    path: str, data: bytes, values: Mapping[str, str], shown: str
) -> tuple[bytes, tuple[Finding, ...]]:
    # In a script a value would become code.
    if not path.endswith(".md"):
        return data, ()
    span = find_span(data) if path == SKILL_FILE else None
    start = span.body if span else 0
    head = data[:start]
    try:
        text = data[start:].decode()
    except UnicodeDecodeError:
        return data, ()
    filled = fill(text, values)
    if filled == text:
        return data, ()
    safe, findings = run_as_before(text, filled, shown, head.count(b"\n"))
    return head + safe.encode("utf-8", "replace"), findings
