"""The formats of a report, and what several of them share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from satchel.text import LOG_COMMAND, ascii_json, decode, is_text, plural, safe_in_log
from satchel_lab.lint._report import CheckReport, LibraryChange, Likeness

# The sections that nobody may pass over.
URGENT: Final = ("to review", "hidden text")
# Lines of one section that are shown before the rest is only counted.
MAX_LINES: Final = 50

_LIKENESS: Final[dict[Likeness, str]] = {
    "files": "has the same files as",
    "name": "has the same name as",
    "description": "says nearly the same as",
}


class ChangeSection(NamedTuple):
    """A heading, and pairs of a subject and what is said about it."""

    title: str
    lines: tuple[tuple[str, str], ...]
    more: int = 0


def change_sections(change: LibraryChange) -> Iterator[ChangeSection]:
    """Yield the sections that are not empty; their text comes from the packs."""
    review, hidden = (
        [(f"{f.path}:{f.line}" if f.line else f.path, f.message) for f in findings]
        for findings in (change.review, change.hidden)
    )
    executables = [
        (file.path, f"{'new' if file.new else 'changed'} ({file.why})")
        for file in change.executables
    ]
    duplicates = [
        (pair.path, f"{_LIKENESS[pair.likeness]} {pair.other}")
        for pair in change.similar
    ]
    packs = [
        *((path, "added") for path in change.added),
        *((path, "changed") for path in change.changed),
        *((path, f"moved from {origin}") for origin, path in change.moved),
        *((path, "removed") for path in change.removed),
    ]
    for title, lines in (
        ("to review", review),
        ("hidden text", hidden),
        (plural(len(executables), "executable"), executables),
        (plural(len(duplicates), "duplicate"), duplicates),
        (plural(len(packs), "pack"), packs),
    ):
        if lines:
            more = max(0, len(lines) - MAX_LINES)
            yield ChangeSection(title, tuple(lines[:MAX_LINES]), more)


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How a report is printed for people.

    ``width`` is in columns; None is no limit. ``line_at`` reads a line of a file, from
    1. ``link`` gets a code and returns it as a link for a terminal. ``fix_command`` is
    what fixes the findings that can be fixed.
    """

    colour: bool = False
    width: int | None = None
    line_at: Callable[[str, int], str | None] = lambda _path, _line: None
    link: Callable[[str], str] = str
    fix_command: str = "satchel check --fix"

    def paint(self, text: str, colour: str) -> str:
        """Return the text in a colour, where there are any."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour and text else text


PLAIN_TEXT: Final = TextOptions()


def line_in_log(text: str) -> str:
    """Return a line that is not a command where it begins a line of such a log."""
    return safe_in_log(f"./{text}" if text.startswith("::") else text)


def as_json(document: object) -> str:
    """Return JSON of ASCII that is safe on a terminal and in such a log."""
    # An escape of JSON, so that a parser still reads the same text.
    return LOG_COMMAND.sub(r"#\\u0023", ascii_json(document))


def change_lines(report: CheckReport) -> Iterator[str]:
    """Yield what a change is and brings, for a log: a line each."""
    change = report.change
    if change is None:
        return
    yield safe_in_log(f"since {change.rev}: {change.packs}")
    yield safe_in_log(f"catalog: {change.cost}")
    for section in change_sections(change):
        yield safe_in_log(f"{section.title}:")
        for subject, text in section.lines:
            yield safe_in_log(f"- {subject}: {text}")
        if section.more:
            yield f"- and {section.more:,} more"


_MAX_BYTES: Final = 1024 * 1024


def line_reader() -> Callable[[str, int], str | None]:
    """Return a function that gives a line of a file by its number, from 1, or None."""
    # Only the last file is kept: findings come file by file.
    last: tuple[str, list[str]] = ("", [])

    def line_at(path: str, number: int) -> str | None:
        nonlocal last
        if last[0] != path:
            last = (path, _lines_of_file(path))
        return last[1][number - 1] if 0 < number <= len(last[1]) else None

    return line_at


def _lines_of_file(path: str) -> list[str]:
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _MAX_BYTES:
            return []
        data = file.read_bytes()
    except (OSError, ValueError):
        return []
    return decode(data).text.split("\n") if is_text(data) else []


Format: TypeAlias = Literal[
    "text", "concise", "statistics", "json", "sarif", "github", "markdown"
]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)
# The modules of what people read; programs read the others.
_HOMES: Final = {"text": "text", "statistics": "text", "markdown": "markdown"}


def render_report(
    report: CheckReport, style: Format, view: TextOptions = PLAIN_TEXT
) -> str:
    """Return the report as one text; only the reporter in use is imported.

    ``view`` is for ``text`` and ``statistics``: colours, the width, lines of files.
    """
    home = _HOMES.get(style, "programs")
    reporter: Any = import_module(f"satchel_lab.lint._reporters.{home}")
    render = getattr(reporter, f"render_{style}")
    text: str = render(report, view) if home == "text" else render(report)
    return text
