"""The scripts that count: a plan of tasks, two models, a search."""

import json
import random
from pathlib import Path
from typing import Any, Final

import pytest

from tests.unit.packs.house import PACKS
from tests.unit.packs.scripts import run_here as run

PLAN: Final = PACKS / "manager/scripts/check_plan.py"
COMPARE: Final = PACKS / "ml-engineer/scripts/compare.py"
SEARCH: Final = PACKS / "retrieval/scripts/score_search.py"

pytestmark = pytest.mark.row("C12", "C52")

# --- manager --------------------------------------------------------------------------


def task(name: str, *needs: str, **fields: object) -> dict[str, Any]:
    return {
        "id": name,
        "title": f"Write part {name}",
        "role": "backend",
        "goal": f"part_{name}() returns a number",
        "check": {"run": f"pytest -k {name}", "expect": "1 passed"},
        "files": [f"{name}.py"],
        "needs": [{"task": need, "what": f"part_{need}()"} for need in needs],
        "limit_minutes": 60,
        "state": "planned",
        **fields,
    }


def check_plan(folder: Path, *tasks: object) -> tuple[int, list[str]]:
    done = run(PLAN, "-", cwd=folder, stdin=json.dumps(tasks))
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_the_example_of_a_plan_is_sound(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(run(PLAN, "--example", cwd=tmp_path).stdout)

    done = run(PLAN, "plan.json", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "batch 1: 12",
        "batch 2: 14",
        "2 tasks, 165 minutes; longest chain 165 minutes",
    ]


def test_the_record_that_the_reference_shows_has_fields_the_script_knows(
    tmp_path: Path,
) -> None:
    page = (PACKS / "manager/references/task-api.md").read_text("utf-8")
    shown = json.loads(page.split("```json\n")[1].split("```")[0])

    status, lines = check_plan(tmp_path, {**shown, "needs": []})

    assert (status, lines[0]) == (0, "batch 1: 14")


def test_what_can_run_at_once_is_a_batch(tmp_path: Path) -> None:
    tasks = (task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"))

    status, lines = check_plan(tmp_path, *tasks)

    assert status == 0
    assert lines[:3] == ["batch 1: a", "batch 2: b, c", "batch 3: d"]
    assert lines[3] == "4 tasks, 240 minutes; longest chain 180 minutes"


@pytest.mark.parametrize(
    ("tasks", "fault"),
    [
        ([task("a"), task("a")], "task a: the id is there twice"),
        ([task("a", "x")], "task a: needs x, which is no task"),
        ([task("a", "a")], "a circle of needs: a -> a"),
        ([task("a", check={"run": "make"})], "task a: check needs run (a command)"),
        ([task("a", files=[])], "task a: files is empty"),
        ([task("a", limit_minutes=5)], "task a: limit_minutes is not 30 to 240"),
        ([task("a", goal="improve the cache")], "task a: goal says 'improve'"),
        ([task("a", state="open")], "task a: state is not one of planned"),
        ([task("a", sate="ready")], "task a: unknown field sate"),
        ([task("a", needs=["b"]), task("b")], "task a: a need is an object"),
        (
            [task("a"), task("b", "a", state="ready")],
            "task b: ready, but a is not done",
        ),
        ([task("a", state="working")], "task a: working without an owner"),
        (["a"], "entry 1: expected an object"),
    ],
)
def test_a_fault_of_a_plan_is_named(
    tasks: list[object], fault: str, tmp_path: Path
) -> None:
    status, lines = check_plan(tmp_path, *tasks)

    assert status == 1
    assert lines[0].startswith(fault)


def test_a_circle_is_shown_whole(tmp_path: Path) -> None:
    tasks = (task("a", "c"), task("b", "a"), task("c", "b"), task("d"))

    status, (line,) = check_plan(tmp_path, *tasks)

    names = line.removeprefix("a circle of needs: ").split(" -> ")
    assert status == 1
    assert names[0] == names[-1]
    assert sorted(names[1:]) == ["a", "b", "c"]


def test_only_tasks_that_may_run_at_once_must_not_share_a_file(tmp_path: Path) -> None:
    shared = {"files": ["api.py"]}
    first, then = task("a", **shared), task("b", "a", **shared)
    ended = task("c", state="done", **shared)

    assert check_plan(tmp_path, first, then, ended)[0] == 0
    status, lines = check_plan(tmp_path, first, task("b", **shared))

    assert (status, lines[0]) == (1, "tasks a and b may run at once and share api.py")


def test_an_owner_works_on_one_task(tmp_path: Path) -> None:
    working = {"state": "working", "owner": "mia"}

    status, lines = check_plan(tmp_path, task("a", **working), task("b", **working))

    assert (status, lines[0]) == (1, "mia works on a and b")


# --- ml-engineer ----------------------------------------------------------------------


def write_scores(folder: Path, gain: float, *, units: int = 200) -> None:
    """Write two noisy scores for three items of each unit; B has ``gain`` more."""
    chance = random.Random(7)  # noqa: S311 - data that is the same each time
    lines = ["unit,a,b"]
    for unit in range(units):
        for _ in range(3):
            score = chance.gauss(0.7, 0.1)
            lines.append(f"u{unit},{score},{score + gain + chance.gauss(0, 0.05)}")
    (folder / "scores.csv").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("gain", "words", "status", "last"),
    [
        (0.05, [], 0, "B is better"),
        (0.0, [], 1, "no difference was shown"),
        (-0.05, [], 1, "B is worse"),
        (-0.05, ["--lower-is-better"], 0, "B is better"),
        (0.05, ["--worthwhile", "0.2"], 1, "B is better, but maybe by less than 0.2"),
    ],
)
def test_two_models_are_compared(
    gain: float, words: list[str], status: int, last: str, tmp_path: Path
) -> None:
    write_scores(tmp_path, gain)

    done = run(COMPARE, "scores.csv", *words, cwd=tmp_path)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (status, last)
    assert done.stdout.startswith("600 items, 200 units\n")


def test_items_of_one_unit_count_as_one_draw(tmp_path: Path) -> None:
    """The same rows as 20 units tell less than as 200 of their own."""
    rows = [(f"u{n % 20}", 1.0 if n % 20 < 11 else -1.0) for n in range(200)]
    together = "\n".join(["unit,a,b", *(f"{unit},0,{b}" for unit, b in rows)])
    alone = "\n".join(["unit,a,b", *(f"{n},0,{b}" for n, (_, b) in enumerate(rows))])

    def width(text: str) -> float:
        line = run(COMPARE, "-", cwd=tmp_path, stdin=text).stdout.splitlines()[2]
        low, high = line.partition("interval ")[2].split(" to ")
        return float(high) - float(low)

    assert width(together) > 2 * width(alone)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column a, b, unit in the first line"),
        ("unit,a\nx,1\n", "no column b in the first line"),
        ("unit,a,b\nx,1,good\n", "line 2: a and b have to be numbers"),
        ("unit,a,b\nx,1,nan\n", "line 2: a and b have to be finite"),
        ("unit,a,b\nx,1,2\n", "units: 1; an interval needs 10 or more"),
    ],
)
def test_scores_that_cannot_be_compared(
    text: str, message: str, tmp_path: Path
) -> None:
    done = run(COMPARE, "-", cwd=tmp_path, stdin=text)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"compare.py: -: {message}\n"


# --- retrieval ------------------------------------------------------------------------

QUESTIONS: Final = (
    {"id": "q1", "kind": "code", "relevant": ["a"]},
    {"id": "q2", "kind": "words", "relevant": {"b": 3, "c": 1}},
    {"id": "q3", "relevant": []},
)


def write_lines(file: Path, *rows: object) -> None:
    file.write_text("\n".join(json.dumps(row) for row in rows))


def score_search(
    folder: Path, *hits: list[str], words: tuple[str, ...] = ()
) -> tuple[int, list[str]]:
    write_lines(folder / "questions", *QUESTIONS)
    rows = ({"id": f"q{n}", "hits": some} for n, some in enumerate(hits, 1))
    write_lines(folder / "results", *rows)
    done = run(SEARCH, "questions", "results", *words, cwd=folder)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_a_search_is_scored_by_kind(tmp_path: Path) -> None:
    status, lines = score_search(tmp_path, ["x", "a"], ["b", "c", "b"], [])

    assert status == 0
    assert lines == [
        "all: n 2, recall@20 1.000, nDCG@10 0.815, MRR@10 0.750",
        "code: n 1, recall@20 1.000, nDCG@10 0.631, MRR@10 0.500",
        "words: n 1, recall@20 1.000, nDCG@10 1.000, MRR@10 1.000",
        "without an answer: 1 of 1 got no hit",
    ]


def test_recall_looks_as_deep_as_it_is_told(tmp_path: Path) -> None:
    hits = (["x", "a"], ["b", "x", "c"], ["x"])

    _, lines = score_search(tmp_path, *hits, words=("-k", "2"))

    assert lines[0].startswith("all: n 2, recall@2 0.750, ")
    assert lines[-1] == "without an answer: 0 of 1 got no hit"


def test_a_change_that_loses_recall_is_a_failure(tmp_path: Path) -> None:
    score_search(tmp_path, ["a"], ["b", "c"], [])
    (tmp_path / "results").rename(tmp_path / "before")
    words = ("--against", "before")

    same, _ = score_search(tmp_path, ["a"], ["b", "c"], [], words=words)
    status, lines = score_search(tmp_path, ["a"], ["b"], [], words=words)

    assert (same, status) == (0, 1)
    assert lines[0].startswith("all: n 2, recall@20 0.750 (-0.250), nDCG@10 ")


@pytest.mark.parametrize(
    ("question", "result", "message"),
    [
        ({"id": "q", "relevant": "a"}, {"id": "q", "hits": []}, "relevant is a list"),
        ({"id": "q", "relevant": []}, {"id": "q", "hits": []}, "no question has an"),
        ({"id": "q", "relevant": ["a"]}, {"id": "r", "hits": []}, "no line for q"),
        ({"id": "q", "relevant": ["a"]}, {"id": "q"}, "hits is a list of ids"),
        (["q"], {"id": "q", "hits": []}, "questions:1: expected an object"),
    ],
)
def test_a_search_that_cannot_be_scored(
    question: object, result: object, message: str, tmp_path: Path
) -> None:
    write_lines(tmp_path / "questions", question)
    write_lines(tmp_path / "results", result)

    done = run(SEARCH, "questions", "results", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("score_search.py: ")
    assert message in done.stderr
