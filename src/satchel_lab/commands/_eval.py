"""One run of ``satchel eval``: what is routed, what is printed and written."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from satchel.cli import (
    NoAnswerError,
    echo,
    echo_error,
    echo_json,
    echo_prose,
    is_verbose,
    one_line,
    open_skills,
    progress,
    read_settings,
)
from satchel.config import Config
from satchel.errors import (
    LimitExceededError,
    MissingPathError,
    NotWrittenError,
    SkillNotFoundError,
)
from satchel.files import write_file
from satchel.model import FailOn, Style
from satchel.sources import usual_folders
from satchel.text import nearest, plural
from satchel_lab._replace import replace_file
from satchel_lab.checking import EvalRun, folders_of_skills, run_evals
from satchel_lab.evals import (
    NEW_FILE,
    EvalFormat,
    EvalReport,
    compared,
    is_eval_file,
    is_eval_path,
    new_evals,
    read_eval_baseline,
    render_eval,
    with_case,
)

# Where a project has eval files that are in no pack.
_FOLDERS = ("evals", "eval", "tests/evals")
_MODE = 0o644


@dataclass(frozen=True, kw_only=True)
class EvalCommand:
    """One run with the options of the command; `run` does it."""

    paths: tuple[str, ...]
    k: int
    style: EvalFormat
    also: tuple[tuple[EvalFormat, str], ...]
    fail_under: float | None
    fail_on: FailOn
    baseline: str | None
    since: str | None
    max_queries: int
    suggest: bool
    query: str | None
    skill: str | None
    should_not: bool
    # With a model; without one, it is None.
    model: str | None
    base_url: str
    runs: int
    styles: tuple[Style, ...]
    max_calls: int | None
    max_tokens: int | None
    cache: str | None

    def run(self) -> int:
        """Evaluate, print, write; or add a case. Return the exit status."""
        if (self.query is None) != (self.skill is None):
            raise click.UsageError("--add and --skill go together")
        if self.baseline is not None and self.since is not None:
            raise click.UsageError("--baseline or --since: a report has one of them")
        # Eval files alone are about the skills of the project.
        only_evals = all(is_eval_file(path) for path in self.paths)
        config = read_settings() if only_evals else Config()
        paths = (*_project_paths(config), *self.paths) if only_evals else self.paths
        if self.query is not None and self.skill is not None:
            return _add(paths, self.query, self.skill, should=not self.should_not)
        if self.should_not:
            raise click.UsageError("--not goes with --add")
        with progress("evaluating skills"):
            run = self._evaluated(paths, config)
        if not run.report.skills and run.report.named and not only_evals:
            # A folder of eval files alone is about them, too.
            config = read_settings()
            paths = (*_project_paths(config), *self.paths)
            run = self._evaluated(paths, config)
        if self.model is not None:
            return self._ask(self.model, paths, run.report, config)
        report = self._compared(run.report)
        show = echo_prose if self.style == "text" else echo
        show(render_eval(report, self.style, whole=is_verbose()))
        if self.suggest:
            _print_suggestions(run)
        for style, file in self.also:
            text = render_eval(report, style)
            Path(file).write_text(f"{text}\n", "utf-8", errors="backslashreplace")
        return self._status(report)

    def _evaluated(self, paths: tuple[str, ...], config: Config) -> EvalRun:
        limits = replace(config.limits, eval_queries=self.max_queries)
        try:
            return run_evals(
                paths,
                k=self.k,
                since=self.since,
                suggestions=self.suggest,
                disabled=config.disabled,
                limits=limits,
            )
        except LimitExceededError as error:
            if error.limit != "eval_queries":
                raise
            advice = "name fewer files, or raise it with --max-queries"
            raise NoAnswerError(f"{error}: {advice}") from error

    def _ask(
        self, name: str, paths: tuple[str, ...], evals: EvalReport, config: Config
    ) -> int:
        """Ask a model, and print its report. Return the exit status."""
        from satchel.usage import state_file
        from satchel_lab.evals import ModelEndpoint, TrialLimits, run_trials

        if not evals.routed:
            raise NoAnswerError("no eval case was read, so there is nothing to ask")
        model = ModelEndpoint(name, self.base_url)
        cache: str | Path | None = self.cache
        if not cache:
            cache = Path(state_file()).with_name("trials.jsonl")
            cache.parent.mkdir(parents=True, exist_ok=True)
        packs = tuple(path for path in paths if not is_eval_file(path))
        skills_of = open_skills(packs, disabled=config.disabled)
        with skills_of as skills, progress("asking the model"):
            report = run_trials(
                skills,
                [routed.case for routed in evals.routed],
                model,
                styles=self.styles,
                runs=self.runs,
                cache=cache,
                identity=model.identity,
                limits=TrialLimits(
                    max_calls=self.max_calls, max_tokens=self.max_tokens
                ),
            )
        if self.style == "json":
            echo_json(report.to_json())
        else:
            echo(report.text())
        if not report.answers:
            raise NoAnswerError("no query has an answer; the report says why")
        passed = sum(result.passed is True for result in report.results)
        bar = 1.0 if self.fail_under is None else self.fail_under
        return 0 if passed / len(report.results) >= bar else 1

    def _compared(self, report: EvalReport) -> EvalReport:
        if self.baseline is None:
            return report
        try:
            text = Path(self.baseline).read_text("utf-8", errors="replace")
        except FileNotFoundError as error:
            raise MissingPathError(self.baseline) from error
        before = read_eval_baseline(self.baseline, text)
        return compared(report, self.baseline, before)

    def _status(self, report: EvalReport) -> int:
        if not report.skills:
            raise NoAnswerError("no pack was found: name the folder that has them")
        if not report.routed:
            message = (
                "no eval case was read; write one with satchel eval --add QUERY "
                "--skill NAME"
            )
            if report.named and self.paths:
                raise NoAnswerError("no eval case was read in what was named")
            if self.fail_under is not None:
                raise NoAnswerError(f"{message}, or leave out --fail-under")
            echo_error(message)
        return 1 if report.fails(self.fail_on, self.fail_under) else 0


def _project_paths(config: Config) -> tuple[str, ...]:
    """Return what satchel.toml names, else the usual folders; and those of evals."""
    named = tuple(place for place in config.skills if "://" not in place)
    folders = named or usual_folders(limits=config.limits)
    if not folders:
        raise NoAnswerError("no pack was found here: name the folder that has them")
    more = tuple(folder for folder in _FOLDERS if Path(folder).is_dir())
    inside = () if os.curdir in folders else more
    echo_error(f"looked in {', '.join((*folders, *inside))}")
    return (*folders, *inside)


def _print_suggestions(run: EvalRun) -> None:
    """Print what could be written; on standard error, for a report may be parsed."""
    hidden, same = len(run.report.shadows), run.report.duplicates
    if same:
        echo_error(f"{plural(len(same), 'duplicate')}: {same[0].finding().fix}")
    advised = len(run.suggestions)
    echo_error(f"advice for {advised} of {plural(hidden, 'hidden skill')}")
    for one in run.suggestions:
        echo_error(f"{one.location}: brings back {one.back} of {one.taken} queries")
        echo_error(f"- description: {one_line(one.before)}")
        echo_error(f"+ description: {one_line(one.after)}")


def _add(paths: Iterable[str], query: str, skill: str, *, should: bool) -> int:
    """Write one case into an eval file of the skill's pack, and print which."""
    folders = folders_of_skills(list(paths))
    if skill not in folders:
        raise SkillNotFoundError(skill, tuple(nearest(skill, list(folders), 3)))
    folder = folders[skill]
    if not query.strip():
        raise click.UsageError("--add: the query is empty")
    # A link may lead out of the pack, and a pipe never ends.
    files = [
        (b"should" not in (data := file.read_bytes()), file, data)
        for file in sorted(folder.rglob("*.json"))
        if is_eval_path(file.relative_to(folder).as_posix())
        and file.is_file()
        and not file.is_symlink()
    ]
    # A file with verdicts is about triggers, another one about outputs.
    for _, file, before in sorted(files):
        try:
            text = with_case(before.decode("utf-8"), query, skill, should=should)
        except UnicodeDecodeError:
            continue
        if text is None:
            continue
        if (after := text.encode("utf-8")) == before:
            echo(f"nothing added: {one_line(str(file))} has this case")
        else:
            replace_file(file, before, after)
            echo(f"added to {one_line(str(file))}")
        return 0
    file = folder / NEW_FILE
    if os.path.lexists(file):
        raise NotWrittenError(str(file), "it has a shape that no case is added to")
    if file.parent.is_symlink():
        raise NotWrittenError(str(file), f"{file.parent} is a link")
    file.parent.mkdir(exist_ok=True)
    write_file(file, new_evals({query: should}).encode("utf-8"), _MODE)
    echo(f"wrote {one_line(str(file))}")
    return 0
