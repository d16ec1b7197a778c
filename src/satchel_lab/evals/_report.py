"""What an evaluation found, as values that the reporters print."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, cast

from satchel.errors import ConfigError
from satchel.model import FailOn, Finding
from satchel_lab.evals._files import EvalSet, PassedOver
from satchel_lab.evals._library import EvalLibrary
from satchel_lab.evals._routing import (
    GOOD,
    Confusion,
    Outcome,
    Routed,
    Share,
    SkillFigures,
    by_skill,
    confusions,
    route,
    share,
)
from satchel_lab.evals._shadows import Duplicate, Rival, Shadow, hidden_skills
from satchel_lab.lint import any_fails

SCHEMA_VERSION: Final = 1
NOTE: Final = (
    "It ranks words, without a model: the same files give the same figures. A model "
    "chooses by meaning, and sees other skills and a conversation too."
)


@dataclass(frozen=True, slots=True)
class EvalChange:
    """How cases differ from an earlier run.

    ``broken`` went well before, ``fixed`` did not; ``of_others`` are those broken cases
    whose own skill has not changed. ``new`` is how many cases the earlier run lacks.
    """

    since: str
    broken: tuple[Routed, ...]
    fixed: tuple[Routed, ...]
    of_others: tuple[Routed, ...] = ()
    new: int = 0


@dataclass(frozen=True)
class EvalReport:
    """Every case and what was found for it, and the figures of all.

    ``k`` is up to which rank a skill counts as found. ``files`` counts the eval files,
    ``repeated`` the rows that are equal to one before. ``named`` says that files were
    given, and not only packs.
    """

    routed: tuple[Routed, ...]
    findings: tuple[Finding, ...]
    skills: int
    files: int
    k: int
    confusions: tuple[Confusion, ...] = ()
    rivals: tuple[Rival, ...] = ()
    shadows: tuple[Shadow, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    change: EvalChange | None = None
    passed_over: tuple[PassedOver, ...] = ()
    repeated: int = 0
    named: bool = False

    @cached_property
    def queries(self) -> tuple[Routed, ...]:
        """The cases that a skill should get."""
        return tuple(one for one in self.routed if not one.case.is_control)

    @cached_property
    def controls(self) -> tuple[Routed, ...]:
        """The cases that some skill, or every one, should not get."""
        return tuple(one for one in self.routed if one.case.is_control)

    @cached_property
    def hit(self) -> Share:
        """The share of queries whose first hit is right (Hit@1)."""
        return share(_by_owner(self.queries, lambda one: one.verdict == "hit"))

    @cached_property
    def recall(self) -> Share:
        """The share of queries with a right skill among the first k (Recall@k)."""
        return share(_by_owner(self.queries, lambda one: one.verdict != "missed"))

    @cached_property
    def fired(self) -> Share:
        """The share of controls that fire."""
        return share(_by_owner(self.controls, lambda one: one.verdict == "fires"))

    @cached_property
    def mean_reciprocal_rank(self) -> float:
        """The mean of 1/rank over the queries (MRR); 0 for a rank beyond 10, or k."""
        ranks = [1 / one.rank if one.rank else 0.0 for one in self.queries]
        return sum(ranks) / len(ranks) if ranks else 0.0

    @cached_property
    def by_skill(self) -> tuple[SkillFigures, ...]:
        """The figures of each skill that a case names."""
        return by_skill(self.routed)

    def fails(self, fail_on: FailOn, fail_under: float | None) -> bool:
        """Return whether findings, the bar or a case that broke make it fail."""
        if fail_under is not None and self.queries and self.hit.value < fail_under:
            return True
        if fail_on == "never":
            return False
        broken = self.change is not None and bool(self.change.broken)
        return broken or any_fails(self.findings, fail_on)


def _by_owner(
    routed: Iterable[Routed], is_true: Callable[[Routed], bool]
) -> Mapping[str, Sequence[bool]]:
    """Return what is true of each case, by the first skill that it is about."""
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for one in routed:
        owner = (*one.case.expected, *one.case.forbidden, "")[0]
        outcomes[owner].append(is_true(one))
    return outcomes


def evaluate(evals: EvalSet, library: EvalLibrary, k: int = 5) -> EvalReport:
    """Return what is found for the cases of some eval files.

    Args:
        evals: The cases, by ids of the library, as `read_evals` returns them.
        library: The skills.
        k: Up to which rank a skill counts as found.
    """
    routed = route(evals.cases, library, k)
    rivals, hidden, same = hidden_skills(evals.cases, library)
    more = (*map(Shadow.finding, hidden), *map(Duplicate.finding, same))
    findings = (*evals.findings, *more)
    return EvalReport(
        routed,
        tuple(sorted(findings, key=lambda f: (f.path, f.line or 0, f.code, f.message))),
        len(library.skills),
        evals.files,
        k,
        confusions(routed, library),
        rivals,
        hidden,
        same,
        passed_over=evals.passed_over,
        repeated=evals.repeated,
        named=evals.named,
    )


def compared(
    report: EvalReport,
    since: str,
    before: Mapping[Outcome, bool],
    changed: Iterable[str] | None = None,
) -> EvalReport:
    """Return the report with what differs from an earlier run.

    Args:
        report: The run of now.
        since: The name of the earlier one, for people.
        before: Of each case whether it went well.
        changed: The skills that changed since then; None where nobody knows.
    """
    same = [one for one in report.routed if one.key in before]
    broken = tuple(one for one in same if before[one.key] and not one.good)
    edited = None if changed is None else {*changed}
    others = tuple(
        one
        for one in broken
        if edited is not None
        and edited.isdisjoint(one.case.expected or one.case.forbidden)
    )
    fixed = tuple(one for one in same if one.good and not before[one.key])
    change = EvalChange(since, broken, fixed, others, len(report.routed) - len(same))
    return replace(report, change=change)


def outcomes_of(report: EvalReport) -> dict[Outcome, bool]:
    """Return of each case whether it went well."""
    return {one.key: one.good for one in report.routed}


def read_eval_baseline(path: str, text: str) -> dict[Outcome, bool]:
    """Return the outcomes of a report that ``--format json`` wrote.

    Raises:
        ConfigError: It is no such report.
    """
    try:
        document = cast("dict[str, Any]", json.loads(text))
        if document["schema_version"] != SCHEMA_VERSION:
            raise ConfigError(path, "it is a report of another version of satchel eval")
        return {
            (c["query"], tuple(c["expected"]), tuple(c["forbidden"])): (
                c["verdict"] in GOOD
            )
            for c in document["cases"]
        }
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        detail = "it is no report of satchel eval; write one with --format json"
        raise ConfigError(path, detail) from error
