"""Which files are eval files, what is read of each format, and what is not."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

import pytest

from satchel.errors import LimitExceededError
from satchel.model import Limits
from satchel_lab.checking import run_evals
from satchel_lab.evals import is_eval_path, render_eval
from satchel_lab.evals._adding import new_evals, with_case

if TYPE_CHECKING:
    from pathlib import Path

    from satchel_lab.evals import EvalReport

SKILL = "---\nname: {0}\ndescription: {1}\n---\n# {0}\n"


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """Two packs."""
    for name, text in (("pdf-forms", "Fill in PDF forms."), ("mail", "Send mail.")):
        (tmp_path / name / "evals").mkdir(parents=True)
        (tmp_path / name / "SKILL.md").write_text(SKILL.format(name, text), "utf-8")
    return tmp_path


def report_of(*paths: Path) -> EvalReport:
    """Return the report on some paths."""
    return run_evals([str(path) for path in paths]).report


def cases_of(report: EvalReport) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return query, expected and forbidden skills of each case."""
    return [one.key for one in report.routed]


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("evals/evals.json", True),
        ("evals/trigger-evals.json", True),
        ("evals/triggers.json", True),
        ("evals/content/auth.json", True),
        ("eval/cases.yaml", True),
        ("evaluations/one.json", True),
        ("tests/eval.yaml", True),
        ("evals/prompts.csv", True),
        ("evals/cases.jsonl", True),
        ("trigger_eval.json", True),
        ("test-prompts.json", True),
        ("azure/routing.eval.yaml", True),
        ("evals/runs/1/results.json", True),
        ("evals/benchmark.json", True),
        ("evals/README.md", False),
        ("references/eval-yaml.yaml", False),
        ("scripts/evals.json", False),
        ("package.json", False),
        ("data.json", False),
    ],
)
def test_a_path_says_whether_a_file_has_cases(path: str, is_one: bool) -> None:
    assert is_eval_path(path) is is_one


QUERY = ("fill in a form", ("pdf-forms",), ())
CONTROL = ("send a letter", (), ("pdf-forms",))
FORMATS = {
    "evals.json": '[{"query": "fill in a form", "should_trigger": true},\n'
    ' {"query": "send a letter", "should_trigger": false}]',
    "evals.jsonl": '{"query": "fill in a form", "should_trigger": true}\n\n'
    '{"query": "send a letter", "should_trigger": false}\n',
    "evals.yaml": "# cases\n- query: fill in a form\n  should_trigger: true\n"
    "- query: send a letter\n  should_trigger: false\n",
    "evals.yml": "---\nshould_trigger:\n  - fill in a form\nshould_not_trigger:\n"
    "  - send a letter\n",
    "prompts.csv": "id,should_trigger,prompt\n1,true,fill in a form\n"
    "2,false,send a letter\n",
    "prompts.tsv": "prompt\tshould_trigger\nfill in a form\tyes\nsend a letter\tno\n",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_format_gives_the_same_cases(
    packs: Path, name: str, encoding: str
) -> None:
    (packs / "pdf-forms/evals" / name).write_text(FORMATS[name], encoding)

    report = report_of(packs)

    assert cases_of(report) == [QUERY, CONTROL]
    assert report.findings == ()
    assert all(one.case.line for one in report.routed)


BROKEN = {
    "evals.json": ("[{", "eval-syntax", 1),
    "more-evals.json": ("[" * 200_000, "eval-syntax", None),
    "evals.jsonl": ('{"query": "fill in a form"}\n{', "eval-syntax", 2),
    "evals.yaml": ("a: [", "eval-syntax", 1),
    "anchor-evals.yaml": ("a: &x [1]\nb: *x\n", "eval-syntax", 1),
    "prompts.csv": ("promt,should_trigger\nx,true\n", "eval-syntax", 1),
    "promt-eval.json": (
        '[{"promt": "x y", "should_trigger": true}]',
        "eval-unread",
        None,
    ),
    "number-evals.json": ("[1]", "eval-unread", None),
}


def test_a_line_that_is_not_read_is_not_all_that_there_is(packs: Path) -> None:
    lines = f"{json.dumps({'query': 'fill in a form', 'should_trigger': True})}\n"
    lines += '{"query": 5, "should_trigger": true}\n{\n'
    (packs / "pdf-forms/evals/more.jsonl").write_text(lines, "utf-8")
    messages = [str(finding) for finding in report_of(packs).findings]

    assert any("no key of it has the text of a query" in one for one in messages)
    assert any(":3: error eval-syntax: cannot be read: it" in one for one in messages)


ROW = {"question": "fill in a form", "expected_skill": "pdf-forms"}
ROWS = {
    "rows.json": json.dumps([ROW]),
    "rows.jsonl": json.dumps(ROW),
    "rows.csv": "question,expected_skill\nfill in a form,pdf-forms\n",
    "rows.yaml": "- question: fill in a form\n  expected_skill: pdf-forms\n",
    "semicolons.csv": "question;expected_skill\nfill in a form;pdf-forms\n",
    "lines.json": f"{json.dumps({**ROW, 'id': 1})}\n{json.dumps({**ROW, 'id': 2})}\n",
    "rows.ndjson": json.dumps(ROW),
    "ROWS.JSON": json.dumps([ROW]),
    "grading.json": json.dumps([ROW]),
    "benchmark.json": json.dumps({"version": 1, "rows": [ROW]}),
    "results.jsonl": json.dumps(ROW),
    "package.json": json.dumps({"data": [ROW]}),
    "rows": json.dumps([ROW]),
    "rows.txt": "question\tskill\nfill in a form\tpdf-forms\n",
    ".hidden.json": json.dumps([ROW]),
    "split.json": json.dumps({"a": {"b": {"test": [ROW]}}}),
    "label.csv": "text,label\nfill in a form,pdf-forms\n",
    "tool.jsonl": json.dumps({"user_query": "fill in a form", "tool": "pdf-forms"}),
    "intent.csv": "utterance,intent\nfill in a form,pdf-forms\n",
}


@pytest.mark.row("F85")
@pytest.mark.parametrize(
    ("folder", "name"),
    [
        *((folder, name) for folder in ("data", "results") for name in ROWS),
        *((folder, "rows.json") for folder in ("benchmark", "test", "a/b/runs")),
    ],
)
def test_what_is_named_is_read_whatever_its_name(
    packs: Path, tmp_path: Path, folder: str, name: str
) -> None:
    place = tmp_path.with_name(f"{tmp_path.name}-rows") / folder
    place.mkdir(parents=True)
    (place / name).write_text(ROWS[name], "utf-8")

    by_file, by_folder = report_of(packs, place / name), report_of(packs, place)

    assert cases_of(by_file) == cases_of(by_folder) == [QUERY]
    assert not by_folder.findings
    assert not by_folder.passed_over


RUNS = {
    "row.json": {"query": "fill it in", "should_trigger": True, "triggered": False},
    "rows.json": [{"query": "fill it in", "should_trigger": True, "pass": True}],
    "old.json": {
        "results": [
            {"query": "fill it in", "should_trigger": True, "trigger_rate": 0.5}
        ],
        "summary": {"total": 1, "passed": 0},
    },
    "cases.json": {"assertion_results": [{"text": "is filled in", "passed": True}]},
    "evals.json": {"run_summary": {}, "runs": [{"query": "fill it in"}]},
    "more.json": [{"query": "fill it in", "expected": "mail", "actual_skill": "mail"}],
}


@pytest.mark.row("F85")
@pytest.mark.parametrize("name", [*RUNS, "table.csv"])
def test_results_are_known_by_what_is_in_them(packs: Path, name: str) -> None:
    file = packs / "pdf-forms/evals" / name
    table = "query,expected_skill,predicted\nfill it in,mail,mail\n"
    file.write_text(json.dumps(RUNS[name]) if name in RUNS else table, "utf-8")

    report = report_of(packs, packs / "pdf-forms/evals")

    assert not report.routed
    assert not report.findings
    assert [(one.path, one.reason) for one in report.passed_over] == [
        (str(file), "results of an earlier run")
    ]


def test_a_report_of_an_earlier_run_has_no_case(packs: Path) -> None:
    (packs / "pdf-forms/evals/a.json").write_text('["fill it in"]', "utf-8")
    text = render_eval(report_of(packs), "json")
    (packs / "pdf-forms/evals/b.json").write_text(text, "utf-8")

    report = report_of(packs)

    assert len(report.routed) == 1
    assert [one.reason for one in report.passed_over] == ["results of an earlier run"]


# Files in packs and next to them, and why they have no case; none fails the run.
ELSEWHERE = {
    "mail/data.json": (
        '[{"query": "x y", "should_trigger": true}]',
        "not in its evals",
    ),
    "mail/references/data.csv": ("a,b\n1,2\n", "not in its evals"),
    "data.json": ('{"a": [{"query": "fill in", "id": 3}]}', "next to skills"),
    "broken.json": ("{", "next to skills"),
    "marketplace.json": (
        '{"plugins": [{"name": "mail", "description": "Send mail."}]}',
        "next to skills",
    ),
    "notes.md": ("# Notes\n", "no JSON"),
    "table.csv": ("a,b\n1,2\n", "no column is a query"),
    "mail/evals/rubric.json": ('{"rubric": [{"id": 1}]}', "no query"),
    "mail/evals/schema.json": ('{"type": "object"}', "no query"),
    "mail/evals/todo.json": ('["TODO: say it"]', "left to fill in"),
}


@pytest.mark.row("F85")
@pytest.mark.parametrize("name", ELSEWHERE)
def test_data_elsewhere_are_no_cases_and_fail_nothing(packs: Path, name: str) -> None:
    text, reason = ELSEWHERE[name]
    (packs / name).parent.mkdir(exist_ok=True)
    (packs / name).write_text(text, "utf-8")

    report = report_of(packs)

    assert not report.routed
    assert not report.findings
    [passed] = report.passed_over
    assert passed.path == str(packs / name)
    assert reason in passed.reason


def test_rows_next_to_packs_that_name_their_skills_are_cases(packs: Path) -> None:
    (packs / "rows.csv").write_text(ROWS["rows.csv"], "utf-8")

    assert cases_of(report_of(packs)) == [QUERY]


def test_the_files_that_cases_work_on_are_no_cases(packs: Path) -> None:
    evals = packs / "mail/evals"
    (evals / "inputs").mkdir()
    (evals / "letters.json").write_text('[{"text": "Dear all"}]', "utf-8")
    (evals / "inputs/more.csv").write_text("message\nDear you\n", "utf-8")
    files = ["evals/letters.json", "inputs/"]
    rows = [{"prompt": "send it", "files": files}, {"prompt": "write letters.json"}]
    (evals / "evals.json").write_text(json.dumps(rows), "utf-8")

    report = report_of(packs)

    assert [one.case.query for one in report.routed] == [
        "send it",
        "write letters.json",
    ]
    assert {one.reason.partition(" case")[0] for one in report.passed_over} == {
        "an input of a"
    }


@pytest.mark.row("F85")
def test_every_file_of_a_folder_is_read_or_has_its_reason(
    packs: Path, tmp_path: Path
) -> None:
    """Names, depths and formats by chance: what is found is all that is there."""
    place = tmp_path.with_name(f"{tmp_path.name}-all")
    rng = random.Random(5)  # noqa: S311
    for number in range(60):
        parts = [rng.choice(["results", "data", "x", ".a", "files"]) for _ in range(9)]
        folder = place.joinpath(*parts[: rng.randint(0, 9)])
        folder.mkdir(parents=True, exist_ok=True)
        name, text = rng.choice([*ROWS.items(), ("a.md", "# a"), ("b.json", "{")])
        (folder / f"{number}-{name}").write_text(text, "utf-8")

    report = report_of(packs, place)

    paths = {str(path) for path in place.rglob("*") if path.is_file()}
    broken = {one.path for one in report.findings}
    passed = {one.path for one in report.passed_over}
    assert report.files + len(report.passed_over) == len(paths)
    assert broken | passed <= paths
    assert cases_of(report) == [QUERY]


def test_rows_for_other_skills_are_counted_once_a_skill(packs: Path) -> None:
    rows = [{**ROW, "question": f"q {n}", "expected_skill": "gone"} for n in range(9)]
    (packs / "rows.json").write_text(json.dumps([*rows, ROW, ROW]), "utf-8")

    report = report_of(packs, packs / "rows.json")

    [finding] = report.findings
    assert (finding.code, "left out: 9" in finding.message) == (
        "eval-unknown-skill",
        True,
    )
    assert (len(report.routed), report.repeated) == (1, 1)


@pytest.mark.row("F87")
def test_more_queries_than_the_limit_are_refused_and_equal_ones_are_one(
    packs: Path,
) -> None:
    rows = [{**ROW, "question": f"q {n % 7}", "id": n} for n in range(50)]
    (packs / "rows.json").write_text(json.dumps(rows), "utf-8")
    paths = [str(packs), str(packs / "rows.json")]

    report = run_evals(paths, limits=Limits(eval_queries=7)).report

    assert (len(report.routed), report.repeated) == (7, 43)
    with pytest.raises(LimitExceededError, match=r"7 queries exceed .* = 6"):
        run_evals(paths, limits=Limits(eval_queries=6))


EQUAL = {
    "rows.csv": "query,skill\n" + "fill it in,pdf-forms\n" * 30,
    "rows.jsonl": '{"query": "fill it in", "skill": "pdf-forms"}\n' * 30,
    "rows.yaml": "- query: fill it in\n  skill: pdf-forms\n" * 30,
}


@pytest.mark.row("F87")
@pytest.mark.parametrize("names", [*([name] for name in EQUAL), [*EQUAL]], ids=" ".join)
def test_equal_rows_are_one_in_every_format_and_over_all_files(
    packs: Path, names: list[str]
) -> None:
    for name in names:
        (packs / name).write_text(EQUAL[name], "utf-8")
    paths = [str(packs), *(str(packs / name) for name in names)]

    report = run_evals(paths, limits=Limits(eval_queries=1)).report

    assert len(report.routed) == 1
    assert report.repeated == 30 * len(names) - 1


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_a_finding(packs: Path, name: str) -> None:
    text, code, line = BROKEN[name]
    file = packs / "pdf-forms/evals" / name
    file.write_text(text, "utf-8")

    [finding] = report_of(packs).findings

    assert (finding.code, finding.path) == (code, str(file))
    assert finding.line == line


def test_a_skill_that_is_unknown_is_a_finding_and_its_case_left_out(
    packs: Path,
) -> None:
    rows = [{"query": "fill in a form", "expected_skill": "pdf-form"}]
    (packs / "mail/evals/evals.json").write_text(json.dumps(rows), "utf-8")

    report = report_of(packs)

    assert report.routed == ()
    assert [one.code for one in report.findings] == ["eval-unknown-skill"]


def test_a_contradiction_is_a_finding(packs: Path) -> None:
    rows = {"should_trigger": ["fill it in"], "should_not_trigger": ["fill it in"]}
    (packs / "pdf-forms/evals/evals.json").write_text(json.dumps(rows), "utf-8")

    assert [one.code for one in report_of(packs).findings] == ["eval-unread"]


def test_a_folder_without_packs_is_about_the_skill_of_its_path(
    packs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "evals" / "pdf-forms"
    folder.mkdir(parents=True)
    (folder / "eval.yaml").write_text("stimuli:\n- prompt: fill in a form\n", "utf-8")
    (tmp_path / "evals" / "mail.json").write_text('["send a letter"]', "utf-8")

    report = report_of(packs)

    assert cases_of(report) == [("send a letter", ("mail",), ()), QUERY]


def test_a_named_eval_file_is_the_only_one(packs: Path) -> None:
    (packs / "pdf-forms/evals/evals.json").write_text('["x y"]', "utf-8")
    file = packs / "routing.json"
    row = [{"query": "fill in a form", "expected_skill": "plugin:PDF_forms"}]
    file.write_text(json.dumps(row), "utf-8")

    assert cases_of(report_of(packs, file)) == [QUERY]


def test_a_link_out_of_the_folder_is_not_followed(packs: Path, tmp_path: Path) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    outside.mkdir()
    (outside / "evals.json").write_text('["x y"]', "utf-8")
    (packs / "evals").mkdir()
    os.symlink(outside / "evals.json", packs / "evals" / "evals.json")  # noqa: PTH211
    os.symlink(outside, packs / "evals" / "more")  # noqa: PTH211

    assert report_of(packs).routed == ()


ADDED = {
    "one line a row": (
        (
            '[\n  {"query": "a", "should_trigger": true},\n'
            '  {"query": "b", "should_trigger": false, "mine": [1, {"x": null}]}\n]\n'
        ),
        (
            '[\n  {"query": "a", "should_trigger": true},\n'
            '  {"query": "b", "should_trigger": false, "mine": [1, {"x": null}]},\n'
            '  {"query": "new \\"one\\"", "should_trigger": true}\n]\n'
        ),
    ),
    "objects over lines": (
        (
            '{\n  "skill_name": "s",\n  "x": 1.50,\n  "evals": [\n    {\n'
            '      "id": 3,\n      "prompt": "a",\n      "files": []\n    }\n  ]\n}'
        ),
        (
            '{\n  "skill_name": "s",\n  "x": 1.50,\n  "evals": [\n    {\n'
            '      "id": 3,\n      "prompt": "a",\n      "files": []\n    },\n    {\n'
            '      "id": 4,\n      "prompt": "new \\"one\\""\n    }\n  ]\n}'
        ),
    ),
    "expected skills": (
        '[{"question": "a", "expected_skill": null}]',
        (
            '[{"question": "a", "expected_skill": null}, '
            '{"question": "new \\"one\\"", "expected_skill": "s"}]'
        ),
    ),
    "an empty list": (
        "[]",
        '[\n  {"query": "new \\"one\\"", "should_trigger": true}\n]',
    ),
}


@pytest.mark.parametrize("shape", ADDED)
def test_an_added_case_changes_nothing_else(shape: str) -> None:
    before, after = ADDED[shape]

    assert with_case(before, 'new "one"', "s") == after


@pytest.mark.parametrize("text", ["{", "3", '{"a": 1}', '["a"]', '[{"a": 1}]'])
def test_a_shape_that_no_case_is_added_to(text: str) -> None:
    assert with_case(text, "new", "s") is None


def test_a_control_is_added_where_rows_have_no_verdict() -> None:
    text = with_case('[{"prompt": "a"}]', "b", "s", should=False)

    assert json.loads(text or "")[1] == {"prompt": "b", "should_trigger": False}


def test_a_new_file_has_the_shape_of_the_reference() -> None:
    assert json.loads(new_evals({"a": True, "b": False})) == [
        {"query": "a", "should_trigger": True},
        {"query": "b", "should_trigger": False},
    ]
