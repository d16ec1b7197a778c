"""One line a finding, ``path:line: severity code: message``, for editors and grep."""

from satchel.text import safe_in_log
from satchel_lab.lint._report import CheckReport
from satchel_lab.lint._reporters._formats import change_lines, line_in_log


def render(report: CheckReport) -> str:
    """Return the findings, what a change brings, if any, and the summary."""
    findings = map(line_in_log, map(str, report.findings))
    return "\n".join([*findings, *change_lines(report), safe_in_log(report.summary)])
