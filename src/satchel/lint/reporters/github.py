"""Workflow commands of GitHub Actions: findings beside the lines of a pull request.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those
of actions/toolkit, packages/core/src/command.ts.
"""

from typing import Final

from satchel.lint.report import Report
from satchel.model import Finding
from satchel.text import printable

__all__ = ["render"]

_COMMAND: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report) -> str:
    """Return one command a finding, then the summary as a plain line."""
    return "\n".join([*map(_command, report.findings), report.summary])


def _command(finding: Finding) -> str:
    properties = {"file": finding.path, "line": finding.line, "title": finding.code}
    given = ",".join(
        f"{key}={_property(str(value))}" for key, value in properties.items() if value
    )
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    message = _data(f"{finding.message}{fix}")
    return f"::{_COMMAND[finding.severity]} {given}::{message}"


def _data(text: str) -> str:
    text = printable(text, keep="\n")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
