"""Workflow commands of GitHub Actions: findings at the lines of a pull request."""

from typing import Final

from satchel.model import Finding
from satchel.text import printable, safe_in_log
from satchel_lab.lint._report import CheckReport
from satchel_lab.lint._reporters._formats import change_lines

# docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those of
# actions/toolkit, packages/core/src/command.ts.
_COMMAND: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: CheckReport) -> str:
    """Return one command a finding, then the change, if any, and the summary."""
    commands = map(_command, report.findings)
    return "\n".join([*commands, *change_lines(report), safe_in_log(report.summary)])


def _command(finding: Finding) -> str:
    properties = {"file": finding.path, "line": finding.line, "title": finding.code}
    given = ",".join(
        f"{key}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
        if value
    )
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    message = _data(f"{finding.message}{fix}")
    return f"::{_COMMAND[finding.severity]} {given}::{message}"


def _data(text: str) -> str:
    # A raw line end would let a message begin another workflow command.
    text = printable(text, keep="\n")
    # `%` comes first, so that the other escapes are not escaped again.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
