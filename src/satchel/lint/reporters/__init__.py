"""One file for each way to print a report."""

from importlib import import_module
from typing import Final, Literal, Protocol, TypeAlias, cast, get_args

from satchel.lint.report import Report

__all__ = ["FORMATS", "Format", "render_report"]

Format: TypeAlias = Literal["text", "json", "sarif", "github", "markdown"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)


class _Reporter(Protocol):
    def render(self, report: Report) -> str:
        """Return the report, without a line end behind the last line."""
        ...


def render_report(report: Report, style: Format) -> str:
    """Return the report as one text; only the reporter in use is imported."""
    reporter = cast("_Reporter", import_module(f"{__name__}.{style}"))
    return reporter.render(report)
