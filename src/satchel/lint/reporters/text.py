"""For people at a terminal: ``path:line: severity code: message``."""

from collections.abc import Iterator
from typing import Final

from satchel.lint.report import Report
from satchel.model import Finding
from satchel.text import printable

__all__ = ["lines_of", "render"]

_LONGEST: Final = 200
"""Characters of a repaired line that are shown."""


def render(report: Report) -> str:
    """Return each finding with its fix below it, and a last line that sums up."""
    lines = [line for finding in report.findings for line in lines_of(finding)]
    if lines:
        lines.append("")
    return "\n".join([*lines, report.summary])


def lines_of(finding: Finding) -> Iterator[str]:
    """Yield a finding, how to mend it, and what a repair made of the text."""
    yield _flat(str(finding))
    for label, text in (
        ("fix", finding.fix),
        ("was", finding.before[:_LONGEST]),
        ("now", finding.after[:_LONGEST]),
    ):
        if text:
            yield f"    {label}: {_flat(text)}"


def _flat(text: str) -> str:
    return printable(text, keep="")
