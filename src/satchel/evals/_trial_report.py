"""What trials showed: by query, by skill, and what they cost."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from satchel.evals._case import EvalCase
from satchel.evals._trial import (
    FirstCall,
    Trial,
    first_call,
    is_named,
    is_triggered,
    is_wrong,
)
from satchel.evals._trial_answers import Answer
from satchel.model import Catalog, Style
from satchel.text import plural, printable

# The share of runs from which a query counts as triggered.
# Source: the reference runner of the Agent Skills guide.
THRESHOLD: Final = 0.5
_OTHERS: Final[Mapping[str, str]] = {
    "text": "no tool",
    "unknown": "an unknown skill",
    "other": "another tool",
}


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """What came of one trial: an answer, or a failure, or it was left out."""

    trial: Trial
    answer: Answer | None
    failure: str
    left_out: str


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One query in one style, over its runs.

    ``runs`` counts those with an answer, ``triggers`` those of them in which a right
    skill was loaded; for a control, one that it forbids. ``first`` says what was loaded
    or done, the most frequent first. ``failures`` are why the other runs have no
    answer.
    """

    case: EvalCase
    style: Style
    runs: int
    triggers: int
    first: Mapping[str, int]
    failures: Mapping[str, int]

    @property
    def rate(self) -> float | None:
        """The share of runs that triggered; None without an answer."""
        return self.triggers / self.runs if self.runs else None

    @property
    def passed(self) -> bool | None:
        """Whether the rate is right for the query; None without an answer."""
        rate = self.rate
        return None if rate is None else (rate >= THRESHOLD) != self.case.is_control

    def as_dict(self) -> dict[str, Any]:
        """Return the keys of the reference runner's results, and some of ours."""
        case = self.case
        return {
            "query": case.query,
            "should_trigger": not case.is_control,
            "trigger_rate": self.rate,
            "triggers": self.triggers,
            "runs": self.runs,
            "pass": self.passed,
            "style": self.style,
            "expected": [*case.expected],
            "forbidden": [*case.forbidden],
            "first": {**self.first},
            "failures": {**self.failures},
            "path": case.path,
            "line": case.line,
        }


@dataclass(frozen=True, slots=True)
class SkillScore:
    """How often one skill was loaded, over all runs with an answer.

    ``right`` runs loaded it for a query of its own, ``wrong`` runs for one that it
    should not get; in ``missed`` runs no right skill was loaded, and it was one.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float | None:
        """Of the runs that loaded it, the share that should have."""
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """Of the runs that should have loaded it, the share that did."""
        return _share(self.right, self.right + self.missed)

    def as_dict(self) -> dict[str, Any]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
        }


@dataclass(frozen=True, slots=True)
class TrialReport:
    """What a model loaded for each query, by style.

    All but ``calls`` is the same if the trials were stopped and asked for again.
    ``calls`` are requests sent now, with or without an answer; ``answers`` are those
    that the report is made of, cached ones included, and the tokens are theirs, each
    counted once. ``estimates`` of them say no tokens. ``problems`` are about the cache.
    """

    results: tuple[TrialResult, ...]
    skills: Mapping[Style, Mapping[str, SkillScore]]
    totals: Mapping[Style, SkillScore]
    answers: int
    input_tokens: int
    output_tokens: int
    estimates: int
    calls: int
    left_out: Mapping[str, int]
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every query was judged, and is right."""
        return all(result.passed for result in self.results)

    def to_json(self) -> dict[str, Any]:
        """Return the report for JSON; ``this_run`` alone depends on the cache."""
        verdicts = Counter(result.passed for result in self.results)
        return {
            "results": [result.as_dict() for result in self.results],
            "summary": {
                "total": len(self.results),
                "passed": verdicts[True],
                "failed": verdicts[False],
                "not_judged": verdicts[None],
            },
            "styles": {
                style: {
                    **total.as_dict(),
                    "skills": {
                        name: score.as_dict()
                        for name, score in self.skills[style].items()
                    },
                }
                for style, total in self.totals.items()
            },
            "cost": {
                "answers": self.answers,
                "input_tokens": self.input_tokens,
                "output_tokens": self.output_tokens,
                "estimates": self.estimates,
            },
            "left_out": {**self.left_out},
            "this_run": {"calls": self.calls, "problems": [*self.problems]},
        }

    def text(self) -> str:
        """Return the report for people: what is wrong, then the cost."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for style, total in self.totals.items():
            results = [result for result in self.results if result.style == style]
            passed = sum(1 for result in results if result.passed)
            yield (
                f"{style}: {passed:,} of {len(results):,} queries pass; "
                f"precision {_number(total.precision)}, recall {_number(total.recall)}"
            )
            for result in results:
                if not result.passed:
                    yield from _result_lines(result)
            for name, score in self.skills[style].items():
                if score.wrong or score.missed:
                    yield (
                        f"  skill {name}: precision {_number(score.precision)}, "
                        f"recall {_number(score.recall)}; "
                        f"wrong {score.wrong:,}, missed {score.missed:,}"
                    )
        about = f", {self.estimates:,} estimated" if self.estimates else ""
        yield (
            f"{plural(self.answers, 'answer')}{about}: {self.input_tokens:,} tokens "
            f"read, {self.output_tokens:,} written; {plural(self.calls, 'call')} now"
        )
        for reason, many in self.left_out.items():
            yield f"left out: {plural(many, 'trial')}: {reason}"
        yield from self.problems


def make_trial_report(
    outcomes: Sequence[TrialOutcome],
    catalog: Catalog,
    *,
    runs: int,
    calls: int,
    problems: tuple[str, ...],
) -> TrialReport:
    """Return the report on these outcomes: ``runs`` in a row are of one query."""
    by_style: dict[Style, list[TrialOutcome]] = {}
    answers: dict[str, Answer] = {}
    left_out: Counter[str] = Counter()
    for outcome in outcomes:
        trial = outcome.trial
        by_style.setdefault(trial.style, []).append(outcome)
        if outcome.answer is not None:
            answers[trial.key] = outcome.answer
        elif not outcome.failure:
            left_out[outcome.left_out] += 1
    skills: dict[Style, Mapping[str, SkillScore]] = {}
    totals: dict[Style, SkillScore] = {}
    for style, of_style in by_style.items():
        skills[style], totals[style] = _scores(of_style, catalog)
    return TrialReport(
        tuple(
            _result(outcomes[first : first + runs], catalog)
            for first in range(0, len(outcomes), runs)
        ),
        skills,
        totals,
        len(answers),
        sum(answer.input_tokens for answer in answers.values()),
        sum(answer.output_tokens for answer in answers.values()),
        sum(1 for answer in answers.values() if answer.is_estimate),
        calls,
        dict(left_out),
        problems,
    )


def _answered(
    outcomes: Iterable[TrialOutcome], catalog: Catalog
) -> Iterator[tuple[EvalCase, FirstCall]]:
    for outcome in outcomes:
        if outcome.answer is not None:
            call = first_call(outcome.answer.reply, outcome.trial, catalog)
            yield outcome.trial.case, call


def _result(group: Sequence[TrialOutcome], catalog: Catalog) -> TrialResult:
    trial = group[0].trial
    calls = [call for _, call in _answered(group, catalog)]
    first = Counter(
        call.name if call.act == "load" else _OTHERS[call.act] for call in calls
    )
    failures = Counter(outcome.failure for outcome in group if outcome.failure)
    triggers = sum(is_triggered(trial.case, call, catalog) for call in calls)
    ranked = sorted(first.items(), key=lambda item: (-item[1], item[0]))
    return TrialResult(
        trial.case,
        trial.style,
        len(calls),
        triggers,
        dict(ranked),
        dict(sorted(failures.items())),
    )


def _scores(
    outcomes: Iterable[TrialOutcome], catalog: Catalog
) -> tuple[dict[str, SkillScore], SkillScore]:
    """Return the score of each skill, by id, and that of all together."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    all_missed = 0
    for case, call in _answered(outcomes, catalog):
        if is_wrong(case, call, catalog):
            wrong[call.name] += 1
        if case.is_control:
            continue
        if is_triggered(case, call, catalog):
            right[call.name] += 1
        else:
            all_missed += 1
            missed.update(e.id for e in catalog if is_named(case.expected, e))
    names = sorted({*right, *wrong, *missed})
    scores = {
        name: SkillScore(right[name], wrong[name], missed[name]) for name in names
    }
    return scores, SkillScore(right.total(), wrong.total(), all_missed)


def _result_lines(result: TrialResult) -> Iterator[str]:
    case = result.case
    names = ", ".join(case.expected or case.forbidden) or "any skill"
    aim = f"not {names}" if case.is_control else names
    first = ", ".join(f"{printable(n)} {many}" for n, many in result.first.items())
    place = f"  ({case.path}:{case.line})" if case.path else ""
    verdict = "not judged" if result.passed is None else "fails"
    query = " ".join(printable(case.query, keep="").split())
    yield f"  {verdict} {_number(result.rate)} {query}{place}"
    yield f"    expected {aim}; first: {first or 'nothing'}"
    for failure, many in result.failures.items():
        yield f"    no answer in {plural(many, 'run')}: {printable(failure, keep='')}"


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _number(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"
