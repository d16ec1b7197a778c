"""A comment on a pull request: what a reviewer needs, the rest folded."""

from collections.abc import Iterator
from typing import Final

from satchel.model import Finding
from satchel.text import plural
from satchel_lab._markup import markdown_code, markdown_details, markdown_text
from satchel_lab.lint._report import CheckReport
from satchel_lab.lint._reporters._formats import URGENT, change_sections

# What GitHub accepts as the body of a comment.
MAX_CHARS: Final = 65_536

_SIGN: Final = {"error": "❌ error", "warning": "⚠️ warning", "note": "ℹ️ note"}  # noqa: RUF001

# More findings than this are folded.
_OPEN: Final = 10
# For the row that counts what is left out, and the end.
_ROOM: Final = 256
_HEAD: Final = ("| | where | what | fix |", "|---|---|---|---|")


def render_markdown(report: CheckReport) -> str:
    """Return the summary, the change, if any, and one row for each finding.

    At most `MAX_CHARS` characters; what does not fit is counted.
    """
    parts = [f"**satchel check**: {report.summary}"]
    parts += _changes(report)
    if report.findings:
        used = sum(map(_chars, parts)) + _ROOM
        table = _table(report.findings, MAX_CHARS - used)
        folded = len(report.findings) > _OPEN
        summary = plural(len(report.findings), "finding")
        parts += markdown_details(summary, table) if folded else ("", *table)
    return "\n".join(parts)


def _table(findings: tuple[Finding, ...], room: int) -> Iterator[str]:
    yield from _HEAD
    for number, finding in enumerate(findings):
        row = _row(finding)
        room -= _chars(row)
        if room < 0:
            left = plural(len(findings) - number, "finding")
            yield f"| | | {left} more, left out for want of room | |"
            break
        yield row


def _row(finding: Finding) -> str:
    line = f":{finding.line}" if finding.line else ""
    where = markdown_code(f"{finding.path}{line}") if finding.path else ""
    what = f"{markdown_code(finding.code)} {markdown_text(finding.message)}"
    fix = markdown_text(finding.fix)
    return f"| {_SIGN[finding.severity]} | {where} | {what} | {fix} |"


def _changes(report: CheckReport) -> Iterator[str]:
    change = report.change
    if change is None:
        return
    yield ""
    yield f"| since {markdown_code(change.rev)} | |"
    yield "|---|---|"
    yield f"| packs | {change.packs} |"
    yield f"| catalog | {change.cost.replace('->', '→')} |"
    for section in change_sections(change):
        urgent = section.title in URGENT
        title = f"⚠️ <b>{section.title}</b>" if urgent else section.title
        lines = [f"- {markdown_code(s)}: {markdown_text(t)}" for s, t in section.lines]
        lines += [f"- and {section.more:,} more"] if section.more else []
        yield from markdown_details(title, lines, is_open=urgent)


def _chars(text: str) -> int:
    """Return the length as JavaScript counts it, and one for the line end."""
    return len(text) + sum(char > "\uffff" for char in text) + 1
