"""For people at a terminal: ``path:line: severity code: message``."""

from collections.abc import Iterator

from satchel.lint.report import Report
from satchel.model import Finding
from satchel.text import printable

__all__ = ["render"]


def render(report: Report) -> str:
    """Return each finding with its fix below it, and a last line that sums up."""
    lines = [line for finding in report.findings for line in _lines(finding)]
    if lines:
        lines.append("")
    return "\n".join([*lines, report.summary])


def _lines(finding: Finding) -> Iterator[str]:
    yield printable(str(finding), keep="")
    if finding.fix:
        fix = printable(finding.fix, keep="")
        yield f"    fix: {fix}"
