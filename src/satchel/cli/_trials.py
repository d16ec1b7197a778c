"""``satchel eval --model``: the options, and one run of the trials."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from satchel.cli._errors import NoAnswerError
from satchel.cli._options import open_skills
from satchel.cli._progress import progress
from satchel.cli._terminal import echo, echo_json
from satchel.model import Style

if TYPE_CHECKING:
    from satchel.evals import EvalCase

_STYLES = get_args(Style)


def _split_styles(
    ctx: click.Context, param: click.Parameter, value: str
) -> tuple[str, ...]:
    styles = tuple(dict.fromkeys(part.strip() for part in value.split(",")))
    if not set(styles) <= set(_STYLES):
        detail = f"expected some of {', '.join(_STYLES)}, with commas between them"
        raise click.BadParameter(detail, ctx, param)
    return styles


_OPTIONS = (
    click.option(
        "--model",
        metavar="NAME",
        help="Ask this model which skill it loads, instead of ranking words.",
    ),
    click.option(
        "--base-url",
        metavar="URL",
        default="",
        help="With --model: where it is, above /chat/completions. Default: "
        "OPENAI_BASE_URL. The key is that of OPENAI_API_KEY.",
    ),
    click.option(
        "--runs",
        type=click.IntRange(1, 100),
        default=3,
        show_default=True,
        help="With --model: how often each query is asked.",
    ),
    click.option(
        "--styles",
        default=",".join(_STYLES),
        show_default=True,
        callback=_split_styles,
        help="With --model: the styles of the tools.",
    ),
    click.option(
        "--max-calls",
        type=click.IntRange(0),
        metavar="N",
        help="With --model: requests at most, those of answers in the cache included.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(0),
        metavar="N",
        help="With --model: after so many tokens no more is asked.",
    ),
    click.option(
        "--cache",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="With --model: the file of answers. Default: one in your state folder.",
    ),
)


def trial_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `TrialCommand`."""
    return reduce(lambda function, option: option(function), _OPTIONS[::-1], command)


@dataclass(frozen=True, kw_only=True)
class TrialCommand:
    """The options of a run with a model; without one, ``model`` is None."""

    model: str | None
    base_url: str
    runs: int
    styles: tuple[Style, ...]
    max_calls: int | None
    max_tokens: int | None
    cache: str | None

    def run(
        self,
        paths: tuple[str, ...],
        cases: Sequence["EvalCase"],
        *,
        as_json: bool,
        fail_under: float | None,
    ) -> int:
        """Ask, and print the report. Return the exit status."""
        from satchel.evals import ModelEndpoint, TrialLimits, is_eval_file, run_trials

        if not cases:
            raise NoAnswerError("no eval case was read, so there is nothing to ask")
        model = ModelEndpoint(cast("str", self.model), self.base_url)
        limits = TrialLimits(max_calls=self.max_calls, max_tokens=self.max_tokens)
        packs = tuple(path for path in paths if not is_eval_file(path))
        with open_skills(packs) as skills, progress("asking the model"):
            report = run_trials(
                skills,
                cases,
                model,
                styles=self.styles,
                runs=self.runs,
                cache=self.cache or _cache_file(),
                identity=model.identity,
                limits=limits,
            )
        if as_json:
            echo_json(report.to_json())
        else:
            echo(report.text())
        if not report.answers:
            raise NoAnswerError("no query has an answer; the report says why")
        passed = sum(result.passed is True for result in report.results)
        bar = 1.0 if fail_under is None else fail_under
        return 0 if passed / len(report.results) >= bar else 1


def _cache_file() -> Path:
    from satchel.usage import state_file

    path = Path(state_file()).with_name("trials.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
