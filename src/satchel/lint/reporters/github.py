"""Workflow commands of GitHub Actions: findings beside the lines of a pull request.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those
of actions/toolkit, packages/core/src/command.ts.
"""

from collections.abc import Iterator
from typing import Final

from satchel.lint.report import Report
from satchel.lint.reporters.sections import sections
from satchel.lint.reporters.view import PLAIN, View, in_log
from satchel.model import Finding
from satchel.text import printable

__all__ = ["render"]

_COMMAND: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, view: View = PLAIN) -> str:
    """Return one command a finding, then what a change brought and the summary."""
    del view
    commands = map(_command, report.findings)
    return "\n".join([*commands, *_changes(report), _line(report.summary)])


def _command(finding: Finding) -> str:
    properties = {"file": finding.path, "line": finding.line, "title": finding.code}
    given = ",".join(
        f"{key}={_property(str(value))}" for key, value in properties.items() if value
    )
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    message = _data(f"{finding.message}{fix}")
    return f"::{_COMMAND[finding.severity]} {given}::{message}"


def _changes(report: Report) -> Iterator[str]:
    change = report.change
    if change is None:
        return
    yield _line(f"since {change.rev}: {change.packs}")
    yield _line(f"catalog: {change.cost}")
    for section in sections(change):
        yield _line(f"{section.title}:")
        for subject, said in section.lines:
            yield _line(f"- {subject}: {said}")
        if section.more:
            yield f"- and {section.more:,} more"


def _line(text: str) -> str:
    """Return a line that does not begin with what is a pack's, as no command."""
    return in_log(text)


def _data(text: str) -> str:
    text = printable(text, keep="\n")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
