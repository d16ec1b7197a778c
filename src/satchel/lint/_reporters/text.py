"""For people at a terminal: ``path:line: severity code: message``, and the line."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, zip_longest
from typing import Final

from satchel.lint._report import CheckReport
from satchel.lint._reporters._formats import (
    PLAIN_TEXT,
    TextOptions,
    change_sections,
    safe_in_log,
)
from satchel.model import Finding, Severity

# Characters of a repaired line that are shown.
_LONGEST: Final = 200

_QUOTED: Final = re.compile(r"'([^']+)'")
_INDENT: Final = "    "
# A report with more findings counts its most frequent codes, this many:
_MANY: Final = 20
_NAMED: Final = 5
# Columns of a line that are always shown, also on a narrow terminal.
_LEAST: Final = 20
_RED: Final = "31"
_GREEN: Final = "32"
_BOLD: Final = "1"
_DIM: Final = "2"
_COLOUR: Final[dict[Severity, str]] = {"error": _RED, "warning": "33", "note": "36"}


def render(report: CheckReport, view: TextOptions = PLAIN_TEXT) -> str:
    """Return each finding with its line and its fix, then a summary."""
    paint = _Paint(view.colour)
    lines = list(_changes(report, paint))
    for _, group in groupby(report.findings, report.pack_of):
        if lines:
            lines.append("")
        findings = list(group)
        above = None
        for finding, after in zip_longest(findings, findings[1:]):
            advised = after is None or _advice(finding) != _advice(after)
            lines.extend(lines_of(finding, view, above=above, advised=advised))
            above = finding
    if lines:
        lines.append("")
    lines.append(_summary(report, paint))
    lines.extend(_often(report))
    if report.findings:
        lines.append(_hint(report))
    return "\n".join(lines)


def lines_of(
    finding: Finding,
    view: TextOptions = PLAIN_TEXT,
    *,
    above: Finding | None = None,
    advised: bool = True,
) -> Iterator[str]:
    """Yield a finding, its line, its fix, and what a repair made of the line."""
    # Without `advised` the next finding has the same fix; `above` may show the same
    # line.
    paint = _Paint(view.colour)
    place = ":".join(str(part) for part in (finding.path, finding.line) if part)
    head = f"{paint.bold(f'{_path(place)}:')} " if place else ""
    severity = paint(finding.severity, _COLOUR[finding.severity])
    code, message = safe_in_log(finding.code), safe_in_log(finding.message)
    yield f"{head}{severity} {code}: {message}"
    shown = list(_excerpt(finding, view, paint))
    if above is None or not _repeats(above, finding, shown, view):
        yield from shown
    for label, text in (
        ("fix", finding.fix if advised else ""),
        ("was", "" if shown else finding.before[:_LONGEST]),
        ("now", finding.after[:_LONGEST]),
    ):
        if text:
            yield f"{_INDENT}{paint.dim(f'{label}:')} {safe_in_log(text)}"


def _path(text: str) -> str:
    """Return a path that is not a command where it begins a line of a log."""
    return safe_in_log(f"./{text}" if text.startswith("::") else text)


def _advice(finding: Finding) -> tuple[str, str, str]:
    return finding.path, finding.code, finding.fix


class _Paint:
    def __init__(self, coloured: bool) -> None:  # noqa: FBT001 - made only here
        self.coloured = coloured

    def __call__(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self.coloured else text

    def bold(self, text: str) -> str:
        return self(text, _BOLD)

    def dim(self, text: str) -> str:
        return self(text, _DIM)


def _repeats(
    above: Finding, finding: Finding, shown: list[str], view: TextOptions
) -> bool:
    """Tell whether the finding above shows the same line, marked in the same place."""
    if (above.path, above.line) != (finding.path, finding.line):
        return False
    return shown == list(_excerpt(above, view, _Paint(view.colour)))


def _excerpt(finding: Finding, view: TextOptions, paint: _Paint) -> Iterator[str]:
    """Yield the line of a finding, with the part that the message quotes marked."""
    if not finding.line:
        return
    line = view.line_at(finding.path, finding.line)
    if line is None or not line.strip():
        return
    gutter = f"{_INDENT}{finding.line} | "
    text = safe_in_log(line.replace("\t", " ").rstrip())
    room = max(_LEAST, (view.width or _LONGEST) - len(gutter))
    at, length = _named(finding.message, text) if text.isascii() else (0, 0)
    if at + length > room:  # show the quoted part, not the beginning
        start = max(1, at - room // 3)
        text, at = f"…{text[start:]}", at - start + 1
    if len(text) > room:
        text = f"{text[: room - 1]}…"
    yield f"{paint.dim(gutter)}{text}"
    if length:
        below = " " * (len(gutter) - 2)
        marks = "^" * min(length, room - at)
        yield f"{paint.dim(f'{below}| ')}{' ' * at}{paint(marks, _RED)}"


def _named(message: str, text: str) -> tuple[int, int]:
    for match in _QUOTED.finditer(message):
        if text.count(match[1]) == 1:
            return text.index(match[1]), len(match[1])
    return 0, 0


def _changes(report: CheckReport, paint: _Paint) -> Iterator[str]:
    change = report.change
    if change is None:
        return
    yield paint.bold(f"since {safe_in_log(change.rev)}: {change.packs}")
    yield f"catalog: {report.cost}"
    for section in change_sections(change):
        yield ""
        colour = _RED if section.title == "hidden text" else _BOLD
        yield paint(f"{section.title}:", colour)
        for subject, text in section.lines:
            yield f"{_INDENT}{_path(subject)}: {safe_in_log(text)}"
        if section.more:
            yield f"{_INDENT}and {section.more:,} more"


def _summary(report: CheckReport, paint: _Paint) -> str:
    colour = next(
        (_COLOUR[severity] for severity in _COLOUR if report.count(severity)), _GREEN
    )
    return paint(report.summary, colour)


def _often(report: CheckReport) -> Iterator[str]:
    codes = Counter(finding.code for finding in report.findings)
    if len(report.findings) > _MANY and len(codes) > 1:
        most = codes.most_common(_NAMED)
        counts = ", ".join(f"{safe_in_log(code)} {count:,}" for code, count in most)
        yield f"most often: {counts}"


def _hint(report: CheckReport) -> str:
    order = list(_COLOUR)
    first = min(report.findings, key=lambda finding: order.index(finding.severity))
    fixable = report.fixable
    fix = f"{fixable} can be fixed by --fix. " if fixable else ""
    return f"{fix}More: satchel explain {safe_in_log(first.code)}"
