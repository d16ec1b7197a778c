"""Graded runs with and without a skill: folders that other tools write, and read.

Source: Agent Skills, "Evaluating skills"; skill-creator, references/schemas.md. They
differ in names and in layout; both are read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Final, cast

from satchel.errors import MissingPathError, NotWrittenError
from satchel.files import write_file
from satchel.model import Finding
from satchel.text import plural
from satchel_lab.evals._trial_answers import as_list, as_mapping

SKILL_RUNS: Final = ("with_skill", "new_skill")
_MEASURES: Final = ("pass_rate", "time_seconds", "tokens")
# Above any time or number of tokens.
_MOST: Final = 1e15
_MAX_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class GradedRun:
    """One run of one eval; what nobody measured is None."""

    eval_name: str
    configuration: str
    number: int
    pass_rate: float
    time_seconds: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class GradedIteration:
    """The graded runs of one iteration of a workspace."""

    folder: Path
    runs: tuple[GradedRun, ...]
    findings: tuple[Finding, ...]

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return what a benchmark calls ``run_summary``: means, and their ``delta``.

        The runs with the skill come first; with more than two configurations there is
        no delta, for it is not clear of what.
        """
        names = sorted(
            {run.configuration for run in self.runs},
            key=lambda name: (name not in SKILL_RUNS, name),
        )
        summary = {name: self._stats(name) for name in names}
        if len(names) == 2:  # noqa: PLR2004 - with the skill, and without
            first, second = summary.values()
            summary["delta"] = {
                measure: round(first[measure]["mean"] - second[measure]["mean"], 4)
                for measure in _MEASURES
                if measure in first and measure in second
            }
        return summary

    def _stats(self, configuration: str) -> dict[str, Any]:
        runs = [run for run in self.runs if run.configuration == configuration]
        stats: dict[str, Any] = {}
        for measure in _MEASURES:
            values = [v for run in runs if (v := getattr(run, measure)) is not None]
            if values:
                spread = round(stdev(values), 4) if len(values) > 1 else 0.0
                stat = {"mean": round(mean(values), 4), "stddev": spread}
                stats[measure] = {**stat, "min": min(values), "max": max(values)}
        return stats

    def text(self) -> str:
        """Return a line for each configuration, and one for the difference."""
        lines: list[str] = []
        for name, stats in self.summary().items():
            if name == "delta":
                lines.append(f"delta: {stats['pass_rate']:+.2f}{_costs(stats, '+')}")
                continue
            rate = stats["pass_rate"]
            costs = _costs({key: stat["mean"] for key, stat in stats.items()}, "")
            runs = plural(sum(r.configuration == name for r in self.runs), "run")
            about = f"{rate['mean']:.2f} ± {rate['stddev']:.2f}{costs}"
            lines.append(f"{name}: {about} ({runs})")
        return "\n".join(lines)


def _costs(values: Mapping[str, float], sign: str) -> str:
    seconds, tokens = values.get("time_seconds"), values.get("tokens")
    text = "" if seconds is None else f", {seconds:{sign},.1f} s"
    return text if tokens is None else f"{text}, {tokens:{sign},.0f} tokens"


def read_iteration(folder: Path) -> GradedIteration:
    """Return the graded runs of a workspace: of its latest iteration, if it has some.

    What cannot be read is a finding. Links are not followed.

    Raises:
        MissingPathError: The folder is not there.
    """
    if not folder.is_dir():
        raise MissingPathError(str(folder))
    place = max(_folders(folder, "iteration-"), key=_number_of, default=folder)
    reader = _IterationReader(place)
    # An earlier skill-creator had one folder more.
    inner = place / "runs"
    runs = tuple(reader.runs(inner if inner.is_dir() else place))
    if not runs and not reader.findings:
        reader.report(place, "it has no eval-*/*/grading.json")
    return GradedIteration(place, runs, tuple(reader.findings))


def write_benchmark(iteration: GradedIteration) -> Path:
    """Write the summary into benchmark.json, next to the evals; return its path.

    All else that is in the file, of skill-creator for example, stays.

    Raises:
        NotWrittenError: There is a file, and it cannot be read as a JSON object.
    """
    path = iteration.folder / "benchmark.json"
    reader = _IterationReader(iteration.folder)
    before = reader.read(path) if path.exists() else None
    if reader.findings:
        raise NotWrittenError(str(path), reader.findings[0].message)
    document = {**(before or {}), "run_summary": iteration.summary()}
    write_file(path, f"{json.dumps(document, indent=2)}\n".encode(), 0o644)
    return path


class _IterationReader:
    """Reads the files of one iteration, and notes what it could not read."""

    def __init__(self, folder: Path) -> None:
        self.findings: list[Finding] = []
        self._folder = folder

    def report(self, path: Path, reason: str) -> None:
        shown = path.relative_to(self._folder).as_posix()
        self.findings.append(Finding.of("grading-unread", shown, reason=reason))

    def runs(self, place: Path) -> Iterator[GradedRun]:
        for evals in self._folders(place, "eval-"):
            for configuration in self._folders(evals):
                if configuration.name == "delta":
                    self.report(configuration, "a benchmark has another delta")
                    continue
                # Numbered runs, or the one of the guide's layout.
                folders = sorted(self._folders(configuration, "run-"), key=_number_of)
                is_flat = (configuration / "grading.json").exists()
                for folder in folders or [configuration] * is_flat:
                    names = evals.name, configuration.name
                    run = self._run(folder, *names, max(_number_of(folder), 1))
                    if run is not None:
                        yield run

    def _folders(self, place: Path, prefix: str = "") -> Sequence[Path]:
        try:
            return _folders(place, prefix)
        except OSError as error:
            self.report(place, error.strerror or type(error).__name__)
            return ()

    def _run(
        self, folder: Path, name: str, configuration: str, number: int
    ) -> GradedRun | None:
        grading = self.read(folder / "grading.json")
        if grading is None:
            return None
        checks = grading.get("assertion_results") or grading.get("expectations")
        passed = (as_mapping(check).get("passed") for check in as_list(checks))
        verdicts = [verdict for verdict in passed if isinstance(verdict, bool)]
        summary = _number(as_mapping(grading.get("summary")).get("pass_rate"))
        # The list, which has the evidence, counts more than somebody's sum of it.
        rate = round(sum(verdicts) / len(verdicts), 4) if verdicts else summary
        if rate is None or rate > 1:
            reason = "no check has a verdict, and no summary a pass_rate from 0 to 1"
            self.report(folder / "grading.json", reason)
            return None
        if summary is not None and abs(summary - rate) > 0.01:  # noqa: PLR2004 - rounded
            reason = f"a summary of {summary:g}, where {rate:g} of the checks passed"
            self.report(folder / "grading.json", reason)
        timing = folder / "timing.json"
        times = (self.read(timing) or {}) if timing.exists() else {}
        times = {**as_mapping(grading.get("timing")), **times}
        seconds = _number(times.get("total_duration_seconds"))
        milliseconds = _number(times.get("duration_ms"))
        if seconds is None and milliseconds is not None:
            seconds = milliseconds / 1000
        tokens = _number(times.get("total_tokens"))
        return GradedRun(name, configuration, number, rate, seconds, tokens)

    def read(self, path: Path) -> Mapping[str, Any] | None:
        """Return the object in a file; None, and a finding, if there is none."""
        value: object = None
        reason = "it is no JSON object"
        try:
            with path.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
            if path.is_symlink() or len(data) > _MAX_BYTES:
                reason = f"it is a link, or has more than {_MAX_BYTES:,} bytes"
            else:
                value = json.loads(data)
        except OSError as error:
            reason = error.strerror or type(error).__name__
        except (ValueError, RecursionError):
            reason = "it is no valid JSON"
        if isinstance(value, dict):
            return cast("Mapping[str, Any]", value)
        self.report(path, reason)
        return None


def _folders(place: Path, prefix: str) -> Sequence[Path]:
    folders = [
        path
        for path in place.iterdir()
        if path.name.startswith(prefix) and path.is_dir() and not path.is_symlink()
    ]
    return sorted(folders, key=lambda path: path.name)


def _number_of(folder: Path) -> int:
    """Return the number that a name ends with; 0 where there is none."""
    number = folder.name.rpartition("-")[2]
    return int(number[:9]) if number.isascii() and number.isdigit() else 0


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < _MOST else None
