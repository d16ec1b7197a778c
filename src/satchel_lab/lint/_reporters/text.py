"""For people at a terminal: what is wrong, where, the line, and what to do."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from satchel.lazy import lazy_pattern
from satchel.model import Finding, codes
from satchel.text import cells, clip, safe_in_log, wrap
from satchel_lab._pages import title_of
from satchel_lab.lint._report import CheckReport
from satchel_lab.lint._reporters._formats import (
    PLAIN_TEXT,
    URGENT,
    TextOptions,
    change_sections,
    line_in_log,
)

_TAB: Final = " " * 4
# Characters of a line and of a message that are looked at: a pack may have millions.
_LONGEST_LINE: Final = 10_000
_LONGEST_MESSAGE: Final = 500
_QUOTED: Final = lazy_pattern(r"'([^']+)'")
# A word of a message that can only be a path, a link, a field, a tag or a variable.
_TERM: Final = lazy_pattern(r"[^\s,;:()`'\"]*[/.$<#_-][^\s,;:()`'\"]*")
_FIELD: Final = lazy_pattern(r"(\s*)([A-Za-z][\w-]*)\s*:")
_MARKER: Final = lazy_pattern(r"\s*([#`~]+|-{3,})")
# Where no word of the message is the one to mark: group 1 of these is.
_MARKED_BY_CODE: Final = {
    code: re.compile(pattern)
    for code, pattern in {
        "unquoted-colon": r"[^:]*:\s(?:[^:]|:(?=\S))*(:)",
        "reserved-character": r"[^:]*:\s*(\S)",
        "unlimited-shell": r".*?\b(Bash|Shell)\b",
    }.items()
}


class Excerpt(NamedTuple):
    """A line as it is printed, and the columns of its marked part: first, number."""

    text: str
    column: int = 0
    columns: int = 0


def excerpt(finding: Finding, line: str, room: int) -> Excerpt:
    """Return the line of a finding in at most ``room`` columns, its part in view."""
    text = safe_in_log(line[:_LONGEST_LINE].replace("\t", _TAB).rstrip())
    at, end = _span(finding, text)
    if cells(text[:end]) > room:  # not the beginning of the line, but its marked part
        start, before = at, room // 3
        for start in range(at, 0, -1):
            if cells(text[start - 1 : at]) > before:
                break
        text, at, end = f"…{text[start:]}", at - start + 1, end - start + 1
    text = clip(text, room)
    # A terminal may show these from the right, where no column can be counted.
    letters = () if text.isascii() else text
    if any(unicodedata.bidirectional(char) in {"R", "AL"} for char in letters):
        return Excerpt(text)
    return Excerpt(text, cells(text[:at]), cells(text[at:end]))


def _span(finding: Finding, text: str) -> tuple[int, int]:
    """Return where the part begins and ends; equal where nothing is to be marked."""
    by_code = _MARKED_BY_CODE.get(finding.code)
    if by_code is not None and (match := by_code.match(text)):
        return match.span(1)
    message = safe_in_log(finding.message[:_LONGEST_MESSAGE])
    terms = _TERM.findall(message)
    for term in (*_QUOTED.findall(message), *sorted(terms, key=len, reverse=True)):
        # A link may have its target as its text; the target is what is wrong.
        for part in (term.rstrip("."), term.removeprefix("metadata.")):
            at = _only_place(part, text)
            if at >= 0:
                return at, at + len(part)
    field = _FIELD.match(text)
    if field and re.search(rf"\b{field[2]}\b", message):
        return field.span(2)
    marker = _MARKER.match(text)
    return marker.span(1) if marker else (0, 0)


def _only_place(part: str, text: str) -> int:
    """Return where the part is, once or once as the target of a link; -1 if nowhere."""
    count = text.count(part) if part else 0
    if count > 1:
        count, at = text.count(f"]({part}"), text.find(f"]({part}") + 2
    else:
        at = text.find(part)
    return at if count == 1 else -1


# Characters of a repaired line that are shown, and columns of a line in a file.
_LONGEST: Final = 200
# Columns of a line that are always shown, also on a narrow terminal.
_LEAST: Final = 20
_INDENT: Final = "    "
# A report with more findings counts its most frequent codes, this many:
_MANY: Final = 20
_NAMED: Final = 5
_MARK: Final = "[*]"
_BOLD: Final = "1"
_FRAME: Final = "1;34"
_RED: Final = "1;31"
_GREEN: Final = "1;32"
_CYAN: Final = "1;36"
_COLOUR: Final[Mapping[str, str]] = {"error": _RED, "warning": "1;33", "note": _CYAN}


def render_text(report: CheckReport, view: TextOptions = PLAIN_TEXT) -> str:
    """Return each finding with its line and its fix, then a summary."""
    lines = list(_changes(report, view))
    fixes = report.fix_of_finding()
    blocks: dict[tuple[str, ...], list[Finding]] = {}
    for finding in report.findings:
        mark = _MARK if (finding.path, finding.code) in fixes else ""
        pack = report.pack_of(finding)
        key = mark, pack, finding.severity, finding.code, finding.fix
        blocks.setdefault(key, []).append(finding)
    for (mark, *_), block in blocks.items():
        lines += [""] if lines else []
        lines += lines_of(block, view, mark=mark)
    lines += [""] if lines else []
    return "\n".join([*lines, *_often(report), *_end(report, view)])


def render_statistics(report: CheckReport, view: TextOptions = PLAIN_TEXT) -> str:
    """Return how often each code was found, the most frequent first, then a summary."""
    fixed = {code for _, code in report.fix_of_finding()}
    counts = Counter((one.code, one.severity) for one in report.findings)
    widths = [max(map(len, texts), default=0) for texts in zip(*counts, strict=True)]
    digits = max((len(f"{count:,}") for count in counts.values()), default=0)
    lines: list[str] = []
    for (code, severity), count in counts.most_common():
        mark = view.paint(_MARK, _CYAN) if code in fixed else " " * len(_MARK)
        kind = view.paint(severity.ljust(widths[1]), _COLOUR[severity])
        name = view.paint(view.link(safe_in_log(code)), _BOLD)
        begin = f"{count:{digits},}  {kind}  {mark}  {name}"
        title = title_of(code) if code in codes() else ""
        used = digits + widths[1] + len(_MARK) + widths[0] + 8
        room = view.width and max(_LEAST, view.width - used)
        pad = " " * (widths[0] - len(code))
        lines.append(f"{begin}{pad}  {clip(title, room)}".rstrip())
    return "\n".join([*lines, *([""] if lines else []), *_end(report, view)])


def lines_of(
    findings: Sequence[Finding], view: TextOptions = PLAIN_TEXT, *, mark: str = ""
) -> Iterator[str]:
    """Yield findings of one code and fix: what is wrong, where, the line, the fix."""
    headed = None
    for finding in findings:
        if finding.message != headed:
            yield from _head(finding, view, mark)
        headed = finding.message
        margin = " " * len(str(finding.line or 0))
        place = ":".join(str(part) for part in (finding.path, finding.line) if part)
        if place:
            yield from _framed(f"{margin}--> ", place, view)
        shown = list(_excerpt(finding, view))
        yield from shown
        for label, text in (
            ("fix", finding.fix if finding is findings[-1] else ""),
            ("was", "" if shown else finding.before[:_LONGEST]),
            ("now", finding.after[:_LONGEST]),
        ):
            if text:
                yield from _framed(f"{margin} = {label}: ", text, view)


def _head(finding: Finding, view: TextOptions, mark: str) -> Iterator[str]:
    code, message = safe_in_log(finding.code), _in_words(finding.message)
    begin = " ".join(filter(None, (finding.severity, code, mark)))
    first, *more = wrap(f"{begin}: {message}", view.width, rest=_INDENT)
    if first.startswith(f"{begin}:"):  # not on a terminal that is too narrow for it
        title = view.paint(first.removeprefix(begin), _BOLD)
        first = view.paint(finding.severity, _COLOUR[finding.severity])
        first += f" {view.paint(view.link(code), _BOLD)}"
        first += f" {view.paint(mark, _CYAN)}{title}" if mark else title
    yield first
    for line in more:
        yield view.paint(line, _BOLD)


def _framed(begin: str, text: str, view: TextOptions) -> Iterator[str]:
    """Yield a text after what begins its first line, and below it if it is long."""
    rest = " " * len(begin)
    for line in wrap(_in_words(text), view.width, first=begin, rest=rest):
        yield f"{view.paint(line[: len(begin)], _FRAME)}{line[len(begin) :]}"


def _in_words(text: str) -> str:
    """Return text that is safe in a log also where a new line begins at a word."""
    return f" {safe_in_log(text)}".replace(" ::", " : :")[1:]


def _excerpt(finding: Finding, view: TextOptions) -> Iterator[str]:
    """Yield the line of a finding, with the part that the finding is about marked."""
    line = view.line_at(finding.path, finding.line) if finding.line else None
    if line is None or not line.strip():
        return
    gutter, below = f"{finding.line} |", f"{' ' * len(str(finding.line))} |"
    room = max(_LEAST, (view.width or _LONGEST) - len(gutter) - 1)
    part = excerpt(finding, line, room)
    yield f"{view.paint(gutter, _FRAME)} {part.text}"
    if part.columns:
        marks = view.paint("^" * part.columns, _COLOUR[finding.severity])
        yield f"{view.paint(below, _FRAME)} {' ' * part.column}{marks}"


def _changes(report: CheckReport, view: TextOptions) -> Iterator[str]:
    change = report.change
    if change is None:
        return
    yield view.paint(f"since {safe_in_log(change.rev)}: {change.packs}", _BOLD)
    yield safe_in_log(f"catalog: {report.cost}")
    for section in change_sections(change):
        yield ""
        colour = _RED if section.title in URGENT else _BOLD
        yield view.paint(f"{section.title}:", colour)
        for subject, text in section.lines:
            yield f"{_INDENT}{line_in_log(subject)}: {safe_in_log(text)}"
        if section.more:
            yield f"{_INDENT}and {section.more:,} more"


def _often(report: CheckReport) -> Iterator[str]:
    codes = Counter(finding.code for finding in report.findings)
    if len(report.findings) > _MANY and len(codes) > 1:
        most = codes.most_common(_NAMED)
        counts = ", ".join(f"{safe_in_log(code)} {count:,}" for code, count in most)
        yield f"most often: {counts} (all of them: --statistics)"


def _end(report: CheckReport, view: TextOptions) -> Iterator[str]:
    """Yield the summary, what can be fixed and by which command, and where to read."""
    severities = {finding.severity for finding in report.findings}
    worst = next((one for one in _COLOUR if one in severities), "")
    yield view.paint(report.summary, _COLOUR.get(worst, _GREEN))
    if report.fixable:
        command = safe_in_log(view.fix_command)
        yield f"{view.paint(_MARK, _CYAN)} {report.fixable:,} can be fixed: {command}"
    if worst:
        first = next(one for one in report.findings if one.severity == worst)
        yield f"More: satchel explain {safe_in_log(first.code)}"
