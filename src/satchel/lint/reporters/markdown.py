"""A table for a comment on a pull request."""

import re
from typing import Final

from satchel.lint.report import Report
from satchel.model import Finding
from satchel.text import printable

__all__ = ["render"]

_SIGN: Final = {"error": "❌ error", "warning": "⚠️ warning", "note": "ℹ️ note"}  # noqa: RUF001

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()~|!]")

_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def render(report: Report) -> str:
    """Return the summary and, where there are findings, one row for each."""
    head = f"**satchel check**: {report.summary}"
    if not report.findings:
        return head
    rows = ["| | where | what | fix |", "|---|---|---|---|"]
    return "\n".join([head, "", *rows, *map(_row, report.findings)])


def _row(finding: Finding) -> str:
    line = f":{finding.line}" if finding.line else ""
    where = _code(f"{finding.path}{line}") if finding.path else ""
    what = f"{_code(finding.code)} {_plain(finding.message)}"
    return f"| {_SIGN[finding.severity]} | {where} | {what} | {_plain(finding.fix)} |"


def _plain(text: str) -> str:
    """Return text that no reader takes for markup, a mention or a link to an issue."""
    text = " ".join(printable(text, keep="").split()).translate(_HTML)
    text = _MARKUP.sub(r"\\\g<0>", text)
    # A zero-width space keeps a hosted page from calling people or linking issues.
    return re.sub(r"[@#](?=\w)", r"\g<0>&#8203;", text).replace("://", ":&#8203;//")


def _code(text: str) -> str:
    """Return a code span: fenced by more back-ticks than it holds in a row."""
    text = " ".join(printable(text, keep="").split()).replace("|", "\\|")
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"
