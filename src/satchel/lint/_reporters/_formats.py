"""The formats of a report, and what several of them share."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, cast, get_args

from satchel.lint._report import CheckReport, LibraryChange, Likeness
from satchel.text import decode, is_text, plural, printable

MOST: Final = 50
"""Lines of one section that are shown before the rest is only counted."""

_LIKENESS: Final[dict[Likeness, str]] = {
    "files": "has the same files as",
    "name": "has the same name as",
    "description": "says nearly the same as",
}


class ChangeSection(NamedTuple):
    """A heading, and pairs of what it is about and what is said of that."""

    title: str
    lines: tuple[tuple[str, str], ...]
    more: int = 0


def change_sections(change: LibraryChange) -> Iterator[ChangeSection]:
    """Yield the sections that have something to say; texts are those of the packs."""
    yield from _section(
        "hidden text",
        [
            (f"{each.path}:{each.line}" if each.line else each.path, each.message)
            for each in change.hidden
        ],
    )
    yield from _section(
        "executable",
        [
            (each.path, f"{'new' if each.new else 'changed'} ({each.why})")
            for each in change.executables
        ],
    )
    yield from _section(
        "duplicate",
        [
            (each.path, f"{_LIKENESS[each.likeness]} {each.other}")
            for each in change.twins
        ],
    )
    yield from _section(
        "pack",
        [
            *((path, "added") for path in change.added),
            *((path, "changed") for path in change.changed),
            *((path, f"moved from {origin}") for origin, path in change.moved),
            *((path, "removed") for path in change.removed),
        ],
    )


def _section(noun: str, lines: list[tuple[str, str]]) -> Iterator[ChangeSection]:
    if lines:
        title = noun if noun == "hidden text" else plural(len(lines), noun)
        more = max(0, len(lines) - MOST)
        yield ChangeSection(title, tuple(lines[:MOST]), more)


_COMMAND: Final = re.compile(r"##(?=[A-Za-z]{0,20}\[)")


def _no_line(path: str, line: int) -> str | None:
    del path, line
    return None


@dataclass(frozen=True, slots=True)
class TextOptions:
    """Whether there are colours, how many columns, and how to see a line of a file.

    ``width`` is None where nothing limits a line. ``line_at`` takes a path as findings
    have it and a number from 1, and gives None for what cannot be shown.
    """

    colour: bool = False
    width: int | None = None
    line_at: Callable[[str, int], str | None] = _no_line


PLAIN_TEXT: Final = TextOptions()


def safe_in_log(text: str) -> str:
    """Return text of a pack as part of a line that may stand in the log of a CI system.

    ``##[error]``, ``##vso[...]`` and ``##teamcity[...]`` are commands anywhere in a
    line of standard output or error.
    """
    return _COMMAND.sub("## ", printable(text, keep=""))


def as_json(document: object) -> str:
    """Return JSON of ASCII that is safe on a terminal and in such a log."""
    text = json.dumps(document, indent=2).replace("\x7f", "\\u007f")
    return _COMMAND.sub(r"#\\u0023", text)


_MOST_BYTES: Final = 1024 * 1024


def line_reader() -> Callable[[str, int], str | None]:
    """Return what gives a line of a file by its number, from 1; None for none.

    The last file is remembered, for findings come file by file.
    """
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
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return []
        data = file.read_bytes()
    except (OSError, ValueError):
        return []
    return decode(data).text.split("\n") if is_text(data) else []


Format: TypeAlias = Literal["text", "json", "sarif", "github", "markdown"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)


class _Reporter(Protocol):
    def render(self, report: CheckReport, view: TextOptions) -> str:
        """Return the report, without a line end behind the last line."""
        ...


def render_report(
    report: CheckReport, style: Format, view: TextOptions = PLAIN_TEXT
) -> str:
    """Return the report as one text; only the reporter in use is imported.

    ``view`` is for ``text`` alone: colours, the width, and the lines of files.
    """
    reporter = cast("_Reporter", import_module(f"satchel.lint._reporters.{style}"))
    return reporter.render(report, view)
