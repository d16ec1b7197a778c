"""The scripts that check answers: proposals, cases of a prompt, ideas."""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.unit.packs.house import PACKS
from tests.unit.packs.scripts import run_alone, run_here as run

SCRIPTS: Final = sorted(PACKS.rglob("*.py"))
SCORE: Final = PACKS / "analyst/scripts/score.py"
EVALS: Final = PACKS / "prompt-engineer/scripts/run_evals.py"
IDEAS: Final = PACKS / "visionary/scripts/check_ideas.py"

pytestmark = pytest.mark.row("C12", "C13", "C52")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_can_be_executed_and_has_help(script: Path, tmp_path: Path) -> None:
    done = run_alone(script, "--help", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {script.name}")
    assert "exit status: 0 " in done.stdout
    assert script.read_text("utf-8").startswith("#!/usr/bin/env python3\n")
    assert script.stat().st_mode & 0o111


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_an_unknown_option_is_an_error_of_usage(script: Path, tmp_path: Path) -> None:
    done = run_alone(script, "--nonsense", cwd=tmp_path)

    assert done.returncode == 2
    assert f"{script.name}: error: " in done.stderr


# --- analyst -------------------------------------------------------------------------


def proposal(name: str, *scores: int, **more: object) -> dict[str, Any]:
    names = ("need", "effect", "feasibility", "cost", "risk")
    criteria = {
        criterion: {"score": score, "sure": "high", "basis": "measured"}
        for criterion, score in zip(names, scores, strict=True)
    }
    return {"name": name, **criteria, **more}


def test_the_example_of_the_scorer_is_scored_as_the_skill_says(tmp_path: Path) -> None:
    example = run(SCORE, "--example", cwd=tmp_path).stdout
    body = (PACKS / "analyst/SKILL.md").read_text("utf-8")

    done = run(SCORE, "-", cwd=tmp_path, stdin=example)

    assert done.returncode == 0
    shown = done.stdout.splitlines()
    for line in shown[:3]:
        assert " ".join(line.split()) in " ".join(body.split())


@pytest.mark.parametrize(
    ("scores", "total", "verdict"),
    [
        ((5, 5, 5, 5, 5), 100, "go"),
        ((1, 1, 2, 1, 2), 27, "no"),
        ((4, 3, 4, 3, 5), 75, "go"),
        ((4, 3, 4, 3, 4), 72, "try"),
        ((3, 3, 3, 2, 2), 54, "no"),
        ((5, 5, 1, 5, 5), 84, "no"),
        ((5, 5, 5, 5, 1), 88, "no"),
    ],
)
def test_totals_and_verdicts(
    scores: tuple[int, ...], total: int, verdict: str, tmp_path: Path
) -> None:
    text = json.dumps([proposal("a", *scores)])

    (ranked,) = json.loads(run(SCORE, "-", "--json", cwd=tmp_path, stdin=text).stdout)

    assert (ranked["total"], ranked["verdict"]) == (total, verdict)


def test_the_best_total_is_first_and_ties_go_to_the_lower_risk(tmp_path: Path) -> None:
    text = json.dumps(
        [
            proposal("cheap", 3, 3, 3, 4, 3),
            proposal("safe", 3, 3, 3, 3, 4),
            proposal("best", 4, 3, 3, 4, 3),
        ]
    )

    ranked = json.loads(run(SCORE, "-", "--json", cwd=tmp_path, stdin=text).stdout)

    assert [item["name"] for item in ranked] == ["best", "safe", "cheap"]


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (
            {"score": 6, "sure": "high", "basis": "users"},
            "need.score: expected a whole",
        ),
        ({"score": True, "sure": "high", "basis": "users"}, "need.score: expected a"),
        ({"score": 3, "sure": "very", "basis": "users"}, "need.sure: expected one of"),
        ({"score": 3, "sure": "low", "basis": "feeling"}, "need.basis: expected one"),
        (
            {"score": 4, "sure": "low", "basis": "opinion"},
            "need.score: 4 needs measured",
        ),
        (None, "need: expected an object"),
    ],
)
def test_a_broken_rule_of_the_rubric_is_named(
    criterion: object, message: str, tmp_path: Path
) -> None:
    text = json.dumps([proposal("a", 3, 3, 3, 3, 3, need=criterion)])

    done = run(SCORE, "-", cwd=tmp_path, stdin=text)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"[0].{message}")


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1"])
def test_what_is_no_list_of_proposals_cannot_be_scored(
    text: str, tmp_path: Path
) -> None:
    done = run(SCORE, "-", cwd=tmp_path, stdin=text)

    assert done.returncode == 2
    assert done.stderr.startswith("score.py: -: ")


# --- prompt-engineer -----------------------------------------------------------------

ANSWER: Final = "import sys; print(sys.stdin.read().replace('Paris', 'Rome'))"
ASK: Final = ("--", sys.executable, "-c", ANSWER)
ECHO: Final = ("--", sys.executable, "-c", "import sys; print(sys.stdin.read())")


def write_cases(folder: Path, *cases: dict[str, Any] | str) -> None:
    lines = (case if isinstance(case, str) else json.dumps(case) for case in cases)
    (folder / "cases.jsonl").write_text("\n".join(lines))


def test_cases_are_judged_by_what_the_answer_holds(tmp_path: Path) -> None:
    write_cases(
        tmp_path,
        {"id": "has", "input": "Rome, Oslo", "must": ["rome", "re:os.o"]},
        {"id": "lacks", "input": "Oslo", "must": ["Paris"], "must_not": ["oslo"]},
        {"id": "form", "input": "{", "json": True},
        {"id": "aside", "input": "Oslo", "must": ["Oslo"], "held_out": True},
    )

    done = run(EVALS, "cases.jsonl", "--runs", "2", *ASK, cwd=tmp_path)
    aside = run(EVALS, "cases.jsonl", "--held-out", *ASK, cwd=tmp_path)

    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "2/2  has",
        "0/2  lacks  has oslo; lacks Paris",
        "0/2  form  is not JSON",
        "2 of 6 runs passed, 3 cases",
    ]
    assert aside.returncode == 0
    assert aside.stdout.splitlines()[0] == "3/3  aside"


def test_two_prompts_are_compared_case_by_case(tmp_path: Path) -> None:
    write_cases(
        tmp_path,
        {"id": "a", "input": "Paris", "must": ["Paris"]},
        {"id": "b", "input": "Paris", "must": ["Rome"]},
        {"id": "c", "input": "Oslo", "must": ["Oslo"]},
    )
    run(EVALS, "cases.jsonl", "--out", "before.jsonl", *ECHO, cwd=tmp_path)

    words = ("cases.jsonl", "--against", "before.jsonl")
    done = run(EVALS, *words, *ASK, cwd=tmp_path)
    same = run(EVALS, *words, *ECHO, cwd=tmp_path)

    assert done.returncode == 1
    assert done.stdout.splitlines()[-2:] == [
        "worse   a: 100% -> 0%",
        "better  b: 0% -> 100%",
    ]
    assert same.returncode == 0


def test_the_cases_that_come_with_the_skill_can_be_run(tmp_path: Path) -> None:
    asset = (PACKS / "prompt-engineer/assets/cases.jsonl").read_text("utf-8")
    write_cases(tmp_path, asset)
    (tmp_path / "long-1.txt").write_text("line\n" * 412)

    done = run(EVALS, "cases.jsonl", "--runs", "1", *ECHO, cwd=tmp_path)

    assert done.returncode == 1
    assert "of 4 runs passed, 4 cases" in done.stdout


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("{", "cases.jsonl:1: "),
        ({"input": "x"}, "expected an object with an id"),
        ({"id": "a", "input": "x"}, "checks nothing"),
        ({"id": "a", "must": ["x"]}, "expected either input or file"),
        ({"id": "a", "file": "no.txt", "must": ["x"]}, "no such file"),
        ({"id": "a", "input": "x", "must": "x"}, "expected a list of texts"),
        ({"id": "a", "input": "x", "must": ["re:("]}, "must: re:("),
        ({"id": "a", "input": "x", "mast": ["x"]}, "unknown field mast"),
        ({"id": "a", "input": "x", "must": ["x"], "held_out": True}, "no case to run"),
    ],
)
def test_a_case_that_cannot_be_run_is_named(
    case: dict[str, Any] | str, message: str, tmp_path: Path
) -> None:
    write_cases(tmp_path, case)

    done = run(EVALS, "cases.jsonl", *ASK, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("run_evals.py: cases.jsonl:")
    assert message in done.stderr


def test_a_command_that_fails_is_no_answer(tmp_path: Path) -> None:
    write_cases(tmp_path, {"id": "a", "input": "x", "must_not": ["y"]})
    words = ("cases.jsonl", "--runs", "1", "--", sys.executable, "-c")

    done = run(EVALS, *words, "import sys; sys.exit('no key')", cwd=tmp_path)

    assert done.returncode == 1
    assert "0/1  a  command failed with 1: no key\n" in done.stdout


# --- visionary -----------------------------------------------------------------------


def ideas(**changed: object) -> dict[str, Any]:
    """Return a valid answer whose first idea has some fields changed."""
    body = (PACKS / "visionary/SKILL.md").read_text("utf-8")
    shown = json.loads(body.split("```json\n")[1].split("```")[0])
    (idea,) = shown["ideas"]
    shown["ideas"] = [
        {**idea, **changed},
        {**idea, "id": "two", "bet": "another", "boldness": 3},
        {**idea, "id": "three", "bet": "a third"},
    ]
    return dict(shown)


def test_the_example_of_the_skill_made_three_is_valid(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(ideas()))

    done = run(IDEAS, "answer.json", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "valid\n")


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"title": "x" * 61}, "title: 61 characters, at most 60"),
        ({"title": " "}, "title: is empty"),
        ({"id": "Two Words"}, "id: expected ^[a-z0-9]+"),
        ({"kill": "when it is bad"}, "kill: expected a number"),
        (
            {"first_step": {"what": "x", "days": 11}},
            "first_step.days: 11 is not 1 to 10",
        ),
        ({"first_step": {"what": "x"}}, "first_step.days: missing"),
        ({"boldness": True}, "boldness: expected integer, got true"),
        ({"boldness": 2.5}, "boldness: expected integer, got 2.5"),
        ({"score": 3}, "score: unknown field"),
        ({"sources": "none"}, 'sources: expected array, got "none"'),
        ({"bet": "Another."}, "bet: same as of ideas[0]"),
        ({"sources": [], "assumed": []}, "assumed: without sources"),
    ],
)
def test_a_fault_is_named_with_its_place(
    changed: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    done = run(IDEAS, "-", cwd=tmp_path, stdin=json.dumps(ideas(**changed)))

    assert done.returncode == 1
    assert re.match(r"\$\.ideas\[[01]\]\.", done.stdout)
    assert fault in done.stdout.splitlines()[0]
    assert done.stdout.endswith("\n1 fault\n")


def test_the_whole_answer_is_looked_at(tmp_path: Path) -> None:
    answer = {**ideas(), "ideas": ideas()["ideas"][:2], "extra": 1, "schema_version": 2}

    done = run(IDEAS, "-", cwd=tmp_path, stdin=json.dumps(answer))

    assert done.stdout.splitlines() == [
        "$.schema_version: expected 1",
        "$.ideas: 2 entries, expected 3 to 5",
        "$.extra: unknown field",
        "3 faults",
    ]


@pytest.mark.parametrize("text", ["", "Here are the ideas: {}", '{"ideas": [,]}'])
def test_what_is_not_json_is_not_read(text: str, tmp_path: Path) -> None:
    done = run(IDEAS, "-", cwd=tmp_path, stdin=text)

    assert done.returncode == 2
    assert done.stderr.startswith("check_ideas.py: -: ")
