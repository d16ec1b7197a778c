"""One file for each way to print a report."""

from importlib import import_module
from typing import Final, Literal, Protocol, TypeAlias, cast, get_args

from satchel.lint.report import Report
from satchel.lint.reporters.view import PLAIN, View

__all__ = ["FORMATS", "Format", "View", "render_report"]

Format: TypeAlias = Literal["text", "json", "sarif", "github", "markdown"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)


class _Reporter(Protocol):
    def render(self, report: Report, view: View) -> str:
        """Return the report, without a line end behind the last line."""
        ...


def render_report(report: Report, style: Format, view: View = PLAIN) -> str:
    """Return the report as one text; only the reporter in use is imported.

    ``view`` is for ``text`` alone: colours, the width, and the lines of files.
    """
    reporter = cast("_Reporter", import_module(f"{__name__}.{style}"))
    return reporter.render(report, view)
