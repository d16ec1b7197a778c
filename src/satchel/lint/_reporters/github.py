"""Workflow commands of GitHub Actions: findings beside the lines of a pull request.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those
of actions/toolkit, packages/core/src/command.ts.
"""

from collections.abc import Iterator
from typing import Final

from satchel.lint._report import CheckReport
from satchel.lint._reporters._formats import (
    PLAIN_TEXT,
    TextOptions,
    change_sections,
    safe_in_log,
)
from satchel.model import Finding
from satchel.text import printable

_COMMAND: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: CheckReport, view: TextOptions = PLAIN_TEXT) -> str:
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


def _changes(report: CheckReport) -> Iterator[str]:
    change = report.change
    if change is None:
        return
    yield _line(f"since {change.rev}: {change.packs}")
    yield _line(f"catalog: {change.cost}")
    for section in change_sections(change):
        yield _line(f"{section.title}:")
        for subject, said in section.lines:
            yield _line(f"- {subject}: {said}")
        if section.more:
            yield f"- and {section.more:,} more"


def _line(text: str) -> str:
    """Return a line that does not begin with what is a pack's, as no command."""
    return safe_in_log(text)


def _data(text: str) -> str:
    text = printable(text, keep="\n")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
