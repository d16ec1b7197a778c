"""For programs, and for ``--baseline`` of a later run."""

from dataclasses import asdict
from typing import Any, Final

from satchel_lab.evals._report import SCHEMA_VERSION, EvalReport
from satchel_lab.evals._routing import Routed, Share
from satchel_lab.lint import as_json

_OF_CASE: Final = ("query", "expected", "forbidden", "path", "line")
_OF_OUTCOME: Final = ("verdict", "rank", "winner", "confidence", "words")


def render(report: EvalReport) -> str:
    """Return one object in ASCII, with escapes, which every locale can print."""
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "method": "lexical",
        "skills": report.skills,
        "files": report.files,
        "passed_over": [asdict(one) for one in report.passed_over],
        "repeated": report.repeated,
        "k": report.k,
        "figures": {
            "hit_at_1": _share(report.hit),
            "recall_at_k": _share(report.recall),
            "mrr": round(report.mean_reciprocal_rank, 4),
            "controls_fired": _share(report.fired),
        },
        "by_skill": [
            {**asdict(one), "reciprocal": round(one.reciprocal, 4)}
            for one in report.by_skill
        ],
        "confusions": [asdict(one) for one in report.confusions],
        "rivals": [asdict(one) for one in report.rivals],
        "shadows": [asdict(one) for one in report.shadows],
        "duplicates": [asdict(one) for one in report.duplicates],
        "findings": [asdict(one) for one in report.findings],
        "cases": [_case(one) for one in report.routed],
    }
    if report.change is not None:
        change = report.change
        document["change"] = {
            "since": change.since,
            "new": change.new,
            "broken": [_case(one) for one in change.broken],
            "broken_of_others": [_case(one) for one in change.of_others],
            "fixed": [_case(one) for one in change.fixed],
        }
    return as_json(document)


def _share(value: Share) -> dict[str, Any]:
    return {
        "value": round(value.value, 4) if value.of else None,
        "low": round(value.low, 4),
        "high": round(value.high, 4),
        "of": value.of,
    }


def _case(one: Routed) -> dict[str, Any]:
    case = {key: getattr(one.case, key) for key in _OF_CASE}
    return case | {key: getattr(one, key) for key in _OF_OUTCOME}
