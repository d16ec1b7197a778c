"""How an evaluation is printed: a module for each format."""

from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, cast, get_args

if TYPE_CHECKING:
    from satchel.evals._report import EvalReport

EvalFormat: TypeAlias = Literal["text", "json", "junit", "markdown", "html"]
EVAL_FORMATS: Final[tuple[EvalFormat, ...]] = get_args(EvalFormat)


class _EvalReporter(Protocol):
    def render(self, report: "EvalReport") -> str:
        """Return the report, without a line end after the last line."""
        ...


def render_eval(report: "EvalReport", style: EvalFormat) -> str:
    """Return the report as one text; only the reporter in use is imported."""
    module = import_module(f"satchel.evals._reporters.{style}")
    return cast("_EvalReporter", module).render(report)
