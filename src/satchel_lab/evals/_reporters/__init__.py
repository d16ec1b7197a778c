"""How an evaluation is printed: a module for each format."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from satchel_lab.evals._report import EvalReport

EvalFormat: TypeAlias = Literal["text", "json", "junit", "markdown", "html"]
EVAL_FORMATS: Final[tuple[EvalFormat, ...]] = get_args(EvalFormat)


def render_eval(report: "EvalReport", style: EvalFormat, *, whole: bool = False) -> str:
    """Return the report as one text; only the reporter in use is imported.

    ``whole`` names every case that did not go well in style ``text``, not only ten.
    """
    reporter: Any = import_module(f"satchel_lab.evals._reporters.{style}")
    text: str = (
        reporter.render(report, whole=True)
        if whole and style == "text"
        else reporter.render(report)
    )
    return text
