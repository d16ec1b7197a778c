"""One run of ``satchel eval``: what is routed, what is printed and written."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from satchel.checking import (
    EvalRun,
    folders_of_skills,
    run_evals,
    usual_folders,
)
from satchel.cli._errors import NoAnswerError
from satchel.cli._progress import progress
from satchel.cli._terminal import echo, echo_error, one_line
from satchel.cli._trials import TrialCommand
from satchel.errors import MissingPathError, NotWrittenError, SkillNotFoundError
from satchel.evals import (
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
from satchel.files import replace_file, write_file
from satchel.model import FailOn
from satchel.text import nearest, plural

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
    suggest: bool
    query: str | None
    skill: str | None
    should_not: bool
    trials: TrialCommand

    def run(self) -> int:
        """Evaluate, print, write; or add a case. Return the exit status."""
        if (self.query is None) != (self.skill is None):
            raise click.UsageError("--add and --skill go together")
        if self.baseline is not None and self.since is not None:
            raise click.UsageError("--baseline or --since: a report has one of them")
        # Eval files alone are about the skills of the project.
        only_evals = all(is_eval_file(path) for path in self.paths)
        paths = (*_project_paths(), *self.paths) if only_evals else self.paths
        if self.query is not None and self.skill is not None:
            return _add(paths, self.query, self.skill, should=not self.should_not)
        if self.should_not:
            raise click.UsageError("--not goes with --add")
        with progress("evaluating skills"):
            run = run_evals(paths, k=self.k, since=self.since, suggestions=self.suggest)
        if self.trials.model is not None:
            cases = [routed.case for routed in run.report.routed]
            as_json = self.style == "json"
            bar = self.fail_under
            return self.trials.run(paths, cases, as_json=as_json, fail_under=bar)
        report = self._compared(run.report)
        echo(render_eval(report, self.style))
        if self.suggest:
            _print_suggestions(run)
        for style, file in self.also:
            text = render_eval(report, style)
            Path(file).write_text(f"{text}\n", "utf-8", errors="backslashreplace")
        return self._status(report)

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
            if self.fail_under is not None:
                raise NoAnswerError(f"{message}, or leave out --fail-under")
            echo_error(message)
        return 1 if report.fails(self.fail_on, self.fail_under) else 0


def _project_paths() -> tuple[str, ...]:
    folders = usual_folders()
    if not folders:
        raise NoAnswerError("no pack was found here: name the folder that has them")
    more = tuple(folder for folder in _FOLDERS if Path(folder).is_dir())
    inside = () if os.curdir in folders else more
    echo_error(f"looked in {', '.join((*folders, *inside))}")
    return (*folders, *inside)


def _print_suggestions(run: EvalRun) -> None:
    """Print what could be written; on standard error, for a report may be parsed."""
    hidden = len(run.report.shadows)
    advised = len(run.suggestions)
    echo_error(f"advice for {advised} of {plural(hidden, 'hidden skill')}")
    for one in run.suggestions:
        echo_error(f"{one.location}: brings back {one.back} of {one.taken} queries")
        echo_error(f"- description: {one_line(one.before)}")
        echo_error(f"+ description: {one_line(one.after)}")


def _add(paths: Iterable[str], query: str, skill: str, *, should: bool) -> int:
    """Write one case into an eval file of the skill's pack, and print which."""
    folder = _folder_of(paths, skill)
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
        if text is not None:
            replace_file(file, before, text.encode("utf-8"))
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


def _folder_of(paths: Iterable[str], skill: str) -> Path:
    """Return the folder of a pack, by its name."""
    folders = folders_of_skills(list(paths))
    if skill not in folders:
        raise SkillNotFoundError(skill, tuple(nearest(skill, list(folders), 3)))
    return folders[skill]
