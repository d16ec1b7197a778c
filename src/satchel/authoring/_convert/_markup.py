"""Placeholders, conditions and commands in a text: filled where there is a value.

Inert and reported elsewhere.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from satchel.authoring._convert._values import Conversion, PackFile
from satchel.compat import fill
from satchel.model import SKILL_FILE, Finding
from satchel.skill_md import span_of_bytes

_IF: Final = re.compile(r"\{\{#IF\s++(\w++)\}\}")
_IF_NOT: Final = re.compile(r"\{\{#IF_NOT\s++(\w++)\}\}")
_END: Final = re.compile(r"\{\{/IF\}\}")
_EITHER_END: Final = re.compile(r"\{\{/IF(?:_NOT)?\}\}")
_COMMAND: Final = re.compile(r"!`([^`]++)`")
# What a client runs: Claude Code, before its model sees the text.
_RUN: Final = re.compile(r"(?<!\S)!`([^`]++)`")
_BLOCK: Final = re.compile(
    r"^[ \t]*(`{3,})!.*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL
)
_RUN_BLOCK: Final = re.compile(r"^([ \t]*`{3,})(!)", re.MULTILINE)
_PLACEHOLDER: Final = re.compile(r"\{\{(\w++)\}\}")
_Inert: TypeAlias = Callable[[re.Match[str]], str]
_MOST_LINES: Final = 5
_SHOWN_CHARS: Final = 80


class RenderedMarkup(NamedTuple):
    """A text with what could be rendered, and a finding for each kind of the rest."""

    text: str
    findings: tuple[Finding, ...]


def render_known(text: str, values: Mapping[str, str], path: str) -> RenderedMarkup:
    """Render what ``values`` decide, and tell what they do not, with its lines.

    A command is put into a code span in which no client takes it for one: Claude Code
    runs a command whose exclamation mark begins a line or follows a blank.

    Source: code.claude.com/docs/en/skills, "Inject dynamic context".
    """
    done = _choose(text, _IF, _END, lambda name: _decided(values, name))
    done = _choose(done, _IF_NOT, _EITHER_END, lambda name: _denied(values, name))
    left = tuple(_left(text, done, values, path))
    # Values first: whatever stands in one, no command is made of it.
    done = _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), done)
    done = _RUN_BLOCK.sub(r"\1 \2", done)
    return RenderedMarkup(_COMMAND.sub(_in_code, done), left)


def as_text_only(text: str, path: str, line: int = 0) -> RenderedMarkup:
    """Return a text that was never run so that no client runs what is in it.

    Args:
        text: What was text to the program that read it.
        path: What the finding calls the file.
        line: How many lines of the file stand before the text.
    """
    found = {**_places(_RUN, text), **_places(_RUN_BLOCK, text)}
    if not found:
        return RenderedMarkup(text, ())
    left = {whole: [each + line for each in at] for whole, (_, at) in found.items()}
    new = _RUN.sub(_in_code, _RUN_BLOCK.sub(r"\1 \2", text))
    why = "it was text, and stays text where a client would run it"
    fix = "see that it reads well; tell the agent to run it where that is meant"
    return RenderedMarkup(new, (_left_finding("command-left", left, why, path, fix),))


def run_as_before(before: str, after: str, path: str, line: int = 0) -> RenderedMarkup:
    """Return a filled text in which clients run what they ran before, and no value.

    A command that a value is in, or that values make, becomes text.

    Args:
        before: The text with its placeholders.
        after: The same, filled.
        path: What the finding calls the file.
        line: How many lines of the file stand before the text.
    """
    known = {each[0] for mark in (_RUN, _BLOCK) for each in mark.finditer(before)}
    left: dict[str, list[int]] = {}

    def settled(mark: re.Pattern[str], text: str, inert: _Inert) -> str:
        for whole, (_, lines) in _places(mark, text).items():
            if whole not in known:
                left[whole] = [each + line for each in lines]
        return mark.sub(lambda it: it[0] if it[0] in known else inert(it), text)

    text = settled(_BLOCK, after, lambda it: _RUN_BLOCK.sub(r"\1 \2", it[0]))
    text = settled(_RUN, text, _in_code)
    if not left:
        return RenderedMarkup(text, ())
    why = "a value is in it, so it stays text"
    fix = "write the value into the command by hand, where you trust it"
    return RenderedMarkup(text, (_left_finding("command-left", left, why, path, fix),))


def _in_code(command: re.Match[str]) -> str:
    whole = command[0]
    if whole.endswith("!`"):  # else the code span's own end would make another one
        whole = f"{whole[:-1]} `"
    # A backtick before the span would make it another one, or begin a block.
    apart = " " if command.string[max(command.start() - 1, 0)] == "`" else ""
    return f"{apart}``{whole} ``"


def _decided(values: Mapping[str, str], name: str) -> bool | None:
    return bool(values[name]) if name in values else None


def _denied(values: Mapping[str, str], name: str) -> bool | None:
    return not values[name] if name in values else None


def _choose(
    text: str,
    begins: re.Pattern[str],
    ends: re.Pattern[str],
    keeps: Callable[[str], bool | None],
) -> str:
    """Keep or drop each block that is decided; the others stay with their marks."""
    pieces: list[str] = []
    at = 0
    while (begin := begins.search(text, at)) and (
        end := ends.search(text, begin.end())
    ):
        kept = keeps(begin[1])
        pieces.append(text[at : begin.start()])
        if kept is None:
            pieces.append(text[begin.start() : end.end()])
        elif kept:
            pieces.append(text[begin.end() : end.start()])
        at = end.end()
    return "".join((*pieces, text[at:]))


def _left(
    text: str, done: str, values: Mapping[str, str], path: str
) -> Iterator[Finding]:
    """Yield a finding for each kind of markup that stays, with every place of it."""

    def stays(mark: re.Pattern[str], *, named: bool = True) -> dict[str, list[int]]:
        return {
            whole: lines
            for whole, (name, lines) in _places(mark, text).items()
            if whole in done and not (named and name in values)
        }

    for code, left, why, fix in (
        (
            "condition-left",
            {**stays(_IF), **stays(_IF_NOT)},
            "nothing decides it in a pack",
            "give --set NAME=VALUE, empty for no, or write the condition as a sentence",
        ),
        (
            "placeholder-left",
            stays(_PLACEHOLDER),
            "nothing fills it in a pack",
            "give --set NAME=VALUE, or write in the pack where the value comes from",
        ),
        (
            "command-left",
            stays(_COMMAND, named=False),
            "it was not run, and stays as text",
            "write down what it would print, or tell the agent to run it",
        ),
    ):
        if left:
            yield _left_finding(code, left, why, path, fix)


def _left_finding(
    code: str, left: Mapping[str, list[int]], why: str, path: str, fix: str
) -> Finding:
    in_order = sorted(left.items(), key=lambda each: each[1][0])
    places = ", ".join(f"{_short(each)} ({_lines(at)})" for each, at in in_order)
    line = min(lines[0] for lines in left.values())
    return Finding(code, "warning", f"{why}: {places}", path, line, fix)


def _places(mark: re.Pattern[str], text: str) -> dict[str, tuple[str, list[int]]]:
    """Return each different piece of markup, with its name and its lines."""
    found: dict[str, tuple[str, list[int]]] = {}
    line, at = 1, 0
    for each in mark.finditer(text):
        line, at = line + text.count("\n", at, each.start()), each.start()
        lines = found.setdefault(each[0], (each[1], []))[1]
        if line not in lines:
            lines.append(line)
    return found


def _lines(lines: list[int]) -> str:
    shown = ", ".join(str(line) for line in lines[:_MOST_LINES])
    more = ", ..." if len(lines) > _MOST_LINES else ""
    return f"line {shown}{more}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


_TEXT_ENDING: Final = ".md"


def fill_placeholders(
    conversion: Conversion, values: Mapping[str, str], made_in: str = ""
) -> Conversion:
    """Return the conversion with ``{{NAME}}`` filled in the body and in Markdown files.

    A name without a value stays as it is, and so does the frontmatter: a value could
    make other fields of it. A file that is no UTF-8 is left alone.
    """
    draft = conversion.draft
    if draft is None or not values:
        return conversion
    files: list[PackFile] = []
    findings: list[Finding] = []
    place = f"{made_in.rstrip('/')}/{draft.name}" if made_in else conversion.source
    for file in draft.files:
        shown = f"{place}/{file.path}"
        new, found = _fill_file(file, values, shown)
        files.append(new)
        findings += found
    made = replace(conversion, draft=replace(draft, files=tuple(files)))
    return made.with_findings(findings)


def _fill_file(
    file: PackFile, values: Mapping[str, str], shown: str
) -> tuple[PackFile, Sequence[Finding]]:
    if not file.path.endswith(_TEXT_ENDING):
        return file, ()
    span = span_of_bytes(file.data) if file.path == SKILL_FILE else None
    start = span.body if span else 0
    head = file.data[:start]
    try:
        text = file.data[start:].decode()
    except UnicodeDecodeError:
        return file, ()
    new = fill(text, values)
    if new == text:
        return file, ()
    done, findings = run_as_before(text, new, shown, head.count(b"\n"))
    return replace(file, data=head + done.encode("utf-8", "replace")), findings
