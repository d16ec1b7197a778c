"""The figures of an evaluation: ranks, controls, intervals, confusions, changes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from satchel_lab.checking import run_evals
from satchel_lab.evals import (
    compared,
    outcomes_of,
    read_eval_baseline,
    render_eval,
)
from satchel_lab.evals._reporters import EVAL_FORMATS
from satchel_lab.evals._routing import share, wilson

if TYPE_CHECKING:
    from pathlib import Path

    from satchel_lab.evals import EvalFormat

SKILLS = {
    "pdf-forms": "Fill in the fields of PDF forms.",
    "tables": "Extract tables and numbers from documents.",
    "mail": "Send letters and newsletters by mail.",
    "weather": "Tell the weather of a city.",
}
CASES = [
    {"query": "fill in a form", "expected_skill": "pdf-forms"},
    {"query": "numbers in documents", "expected_skill": "tables"},
    {"query": "mail the tables of numbers in documents", "expected_skill": "mail"},
    {"query": "zzz", "expected_skill": "mail"},
    {
        "query": "who won the match in that old city stadium yesterday evening",
        "expected_skill": None,
    },
    {"query": "qqq", "expected_skill": None},
    {"query": "the weather of Rome", "should_not_trigger": "tables"},
    {"query": "weather of a city", "should_not_trigger": ["weather"]},
]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Four skills and a file of cases for all of them."""
    for name, text in SKILLS.items():
        (tmp_path / name).mkdir()
        skill = f"---\nname: {name}\ndescription: {text}\n---\n# Steps\n"
        (tmp_path / name / "SKILL.md").write_text(skill, "utf-8")
    (tmp_path / "routing.json").write_text(json.dumps(CASES), "utf-8")
    return tmp_path


def test_each_case_has_its_verdict(library: Path) -> None:
    report = run_evals([str(library)]).report

    assert [(one.verdict, one.rank, one.winner) for one in report.routed] == [
        ("hit", 1, ""),
        ("hit", 1, ""),
        ("found", 2, "tables"),
        ("missed", None, ""),
        ("quiet", None, ""),
        ("quiet", None, ""),
        ("quiet", None, ""),
        ("fires", None, "weather"),
    ]
    assert (report.hit.value, report.hit.of) == (0.5, 4)
    assert (report.recall.value, report.fired.value) == (0.75, 0.25)
    assert report.mean_reciprocal_rank == pytest.approx((1 + 1 + 0.5) / 4)
    [confusion] = report.confusions
    assert (confusion.skill, confusion.taken_by) == ("mail", "tables")
    assert "numbers" in confusion.has
    assert "mail" not in confusion.lacks
    figures = {one.skill: (one.queries, one.hits, one.found) for one in report.by_skill}
    assert figures["mail"] == (2, 0, 1)


def test_a_deeper_k_finds_no_less(library: Path) -> None:
    recalls = [run_evals([str(library)], k=k).report.recall.value for k in (1, 2, 20)]

    assert recalls == [0.5, 0.75, 0.75]


@pytest.mark.parametrize(
    ("value", "cases", "low", "high"),
    [(0.5, 10, 0.2366, 0.7634), (1.0, 10, 0.7225, 1.0), (0.0, 5, 0.0, 0.4345)],
)
def test_wilson_gives_published_values(
    value: float, cases: float, low: float, high: float
) -> None:
    assert wilson(value, cases) == pytest.approx((low, high), abs=1e-4)


def test_queries_of_one_skill_count_less_than_of_several() -> None:
    alike = share({"a": [True] * 20, "b": [False] * 20, "c": [True] * 20})
    mixed = share({key: [True, True, False] * 7 for key in "abc"})

    assert alike.of == 60
    assert alike.high - alike.low > mixed.high - mixed.low
    assert share({}).of == 0


def steal(library: Path) -> None:
    """Let one skill say what another one is for."""
    thief = library / "mail" / "SKILL.md"
    text = thief.read_text("utf-8")
    stolen = text.replace(SKILLS["mail"], "Numbers in documents, tables, by mail.")
    thief.write_text(stolen, "utf-8")


def test_a_fall_is_found_against_a_baseline(library: Path) -> None:
    before = run_evals([str(library)]).report
    text = render_eval(before, "json")
    steal(library)

    after = run_evals([str(library)]).report
    baseline = read_eval_baseline("old.json", text)
    change = compared(after, "old.json", baseline).change

    assert baseline == outcomes_of(before)
    assert change is not None
    assert [one.case.query for one in change.broken] == ["numbers in documents"]
    assert [one.case.query for one in change.fixed] == [
        "mail the tables of numbers in documents"
    ]
    assert (change.of_others, change.new) == ((), 0)


def test_a_change_shows_what_it_does_to_the_queries_of_others(library: Path) -> None:
    def git(*arguments: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        subprocess.run(command, cwd=library, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    steal(library)

    report = run_evals([str(library)], since="HEAD").report

    assert report.change is not None
    assert [one.case.query for one in report.change.of_others] == [
        "numbers in documents"
    ]
    assert report.fails("error", None)
    assert not report.fails("never", None)
    texts = {style: render_eval(report, style) for style in ("text", "markdown")}
    assert "broken, of a skill that did not change: 'numbers in" in texts["text"]
    assert "1 broken, of skills that did not change" in texts["markdown"]
    assert "1 fixed" in texts["markdown"]
    change = json.loads(render_eval(report, "json"))["change"]
    assert [case["query"] for case in change["broken_of_others"]] == [
        "numbers in documents"
    ]


@pytest.mark.slow
def test_every_format_is_the_same_under_any_hash_seed(library: Path) -> None:
    program = (
        "from satchel_lab.checking import run_evals\n"
        "from satchel_lab.evals._reporters import EVAL_FORMATS, render_eval\n"
        f"report = run_evals([{str(library)!r}]).report\n"
        "for style in EVAL_FORMATS: print(render_eval(report, style))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(texts) == 1


def test_junit_has_a_test_a_case(library: Path) -> None:
    skill = library / "pdf-forms" / "evals"
    skill.mkdir()
    (skill / "evals.json").write_text("[", "utf-8")
    (skill / "trigger-evals.json").write_text(
        json.dumps([{"query": "fill \x00 <in> \ufffe", "should_trigger": True}]),
        "utf-8",
    )

    report = run_evals([str(library)]).report
    root = ET.fromstring(render_eval(report, "junit"))  # noqa: S314 - our own

    assert len(root.findall(".//testcase")) == len(report.routed) + 1
    assert len(root.findall(".//failure")) == sum(not r.good for r in report.routed)
    assert len(root.findall(".//error")) == 1


@pytest.mark.parametrize("style", EVAL_FORMATS)
def test_text_of_packs_gives_no_markup_and_no_command(
    library: Path, style: EvalFormat
) -> None:
    evil = "fill in a form <script>x</script> \x1b[2J ::error:: @user ##[group] tables"
    rows = [{"query": evil, "expected_skill": "mail"}]
    (library / "routing.json").write_text(json.dumps(rows), "utf-8")

    text = render_eval(run_evals([str(library)]).report, style)

    assert "\x1b" not in text
    if style in ("html", "junit", "markdown"):
        assert "<script" not in text
    if style == "markdown":
        assert "@user" not in text
    if style in ("text", "json"):
        assert "##[group]" not in text
