"""Which files are eval files, what is read of each format, and what is not."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from satchel.checking import run_evals
from satchel.evals import is_eval_path
from satchel.evals._adding import new_evals, with_case

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.evals import EvalReport

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
        ("evals/README.md", False),
        ("evals/files/input.csv", False),
        ("evals/fixtures/a.json", False),
        ("evals/runs/1/results.json", False),
        ("evals/benchmark.json", False),
        ("evals/grading.json", False),
        ("references/eval-yaml.yaml", False),
        ("scripts/evals.json", False),
        ("package.json", False),
        ("data.json", False),
        ("iteration-1/eval-a/eval.json", False),
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
    "prompts.csv": ("a,b\n1,2\n", "eval-syntax", 1),
    "rubric-eval.json": ('{"rubric": [{"id": 1}]}', "eval-unread", None),
    "number-evals.json": ("[1]", "eval-unread", None),
}


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
