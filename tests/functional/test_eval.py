"""``satchel eval``: statuses, formats, baselines, and cases that are added."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.functional.library import run, write_pack

TEXT = "---\nname: {0}\ndescription: {1}\n---\n# {0}\n"


@pytest.fixture(autouse=True)
def project(here: Path) -> Path:
    """Two packs, one with a query that it gets, and one that it does not get."""
    write_pack(here / "skills/forms", TEXT.format("forms", "Fill in PDF forms."))
    write_pack(here / "skills/mail", TEXT.format("mail", "Send letters by mail."))
    rows = [
        {"query": "fill in a form", "should_trigger": True},
        {"query": "letters by mail", "should_trigger": True},
    ]
    (here / "skills/forms/evals").mkdir()
    (here / "skills/forms/evals/evals.json").write_text(json.dumps(rows), "utf-8")
    return here


def test_a_bar_decides_the_status() -> None:
    assert run("eval").exit_code == 0
    assert run("eval", "skills", "--fail-under", ".5").exit_code == 0
    assert run("eval", "skills", "--fail-under", ".6").exit_code == 1


def test_what_breaks_against_a_baseline_fails(here: Path) -> None:
    report = run("eval", "skills", "--json").stdout
    (here / "old.json").write_text(report, "utf-8")
    assert run("eval", "skills", "--baseline", "old.json").exit_code == 0

    write_pack(here / "skills/forms", TEXT.format("forms", "Works with files."))
    write_pack(here / "skills/mail", TEXT.format("mail", "Fill in a form; mail."))
    broken = run("eval", "skills", "--baseline", "old.json")

    assert broken.exit_code == 1
    assert "1 broken, 0 fixed, 0 new" in broken.stdout


def test_a_broken_eval_file_fails(here: Path) -> None:
    (here / "skills/mail/evals").mkdir()
    (here / "skills/mail/evals/evals.json").write_text("[", "utf-8")

    assert run("eval", "skills").exit_code == 1
    assert run("eval", "skills", "--fail-on", "never").exit_code == 0


def test_a_misspelled_verdict_is_a_finding_with_its_line(here: Path) -> None:
    (here / "skills/mail/evals").mkdir()
    rows = '[\n{"query": "bake a cake", "should_trigger": "flase"}\n]'
    (here / "skills/mail/evals/evals.json").write_text(rows, "utf-8")

    said = run("eval", "skills").stdout

    assert "skills/mail/evals/evals.json:2: warning eval-unread: not read: [1]" in said
    assert "2 queries and 0 controls" in said


def test_what_missed_and_what_fired_is_named(here: Path) -> None:
    rows = [
        {"query": f"letters by mail {n}", "should_trigger": True} for n in range(12)
    ]
    rows += [{"query": "fill in PDF forms", "should_trigger": False}]
    (here / "skills/forms/evals/evals.json").write_text(json.dumps(rows), "utf-8")

    text = run("eval", "skills").stdout
    whole = run("eval", "skills", "-v").stdout
    markdown = run("eval", "skills", "--format", "markdown").stdout

    place = "(skills/forms/evals/evals.json:1)"
    assert f"\n  forms: 'letters by mail 0' {place} goes to mail\n" in text
    assert f"\n  forms for 'fill in PDF forms' {place}\n" in text
    assert "\n  and 2 more: -v has all\n" in text
    assert "'letters by mail 11'" not in text
    assert "'letters by mail 11'" in whole
    assert "- letters by mail 0: mail is found first; forms is" in markdown
    assert "- fill in PDF forms: forms is found, and should not be" in markdown
    assert "\n- and 2 more\n" in markdown


def test_a_query_that_finds_nothing_is_named_with_its_skill(here: Path) -> None:
    rows = [{"query": "zzz", "should_trigger": True}]
    (here / "skills/forms/evals/evals.json").write_text(json.dumps(rows), "utf-8")

    assert "  forms: 'zzz'" in run("eval", "skills").stdout
    markdown = run("eval", "skills", "--format", "markdown").stdout
    assert "- zzz: no skill is found; forms should be" in markdown


def test_without_a_path_it_is_what_satchel_toml_names(here: Path) -> None:
    (here / "skills").rename(here / "packs")
    write_pack(here / "skills/other", TEXT.format("other", "Something else."))
    settings = here / "satchel.toml"
    settings.write_text('skills = ["packs"]\n', "utf-8")
    both = json.loads(run("eval", "--json").stdout)
    settings.write_text('skills = ["packs"]\ndisabled = ["mail"]\n', "utf-8")
    one = json.loads(run("eval", "--json").stdout)

    assert (both["skills"], one["skills"]) == (2, 1)
    settings.write_text('skills = ["packs"]\ndisabled = ["forms"]\n', "utf-8")
    assert "no eval case was read" in run("eval").stderr
    settings.write_text("trust = true\n", "utf-8")
    assert run("eval").exit_code == 2
    assert run("eval", "packs").exit_code == 0


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("eval nowhere", "nowhere"),
        ("eval skills --baseline nowhere.json", "nowhere.json"),
        ("eval skills --baseline skills/forms/SKILL.md", "no report"),
        ("eval skills --baseline a --since b", "--baseline or --since"),
        ("eval skills --since nowhere", "nowhere"),
        ("eval skills --add x", "go together"),
        ("eval skills --not", "--add"),
        ("eval skills --also xml=a", "FORMAT=FILE"),
        ("eval skills/mail --fail-under .5", "no eval case"),
    ],
)
def test_what_cannot_be_done_is_status_2(line: str, part: str) -> None:
    result = run(*line.split())

    assert result.exit_code == 2
    assert part in result.stderr


def test_no_pack_at_all_is_status_2(here: Path) -> None:
    (here / "empty").mkdir()

    assert run("eval", "empty").exit_code == 2


def test_more_reports_are_written(here: Path) -> None:
    names = ("junit=a.xml", "markdown=a.md", "html=a.html", "json=a.json")
    run("eval", "skills", *(part for name in names for part in ("--also", name)))

    assert "<testsuites" in (here / "a.xml").read_text("utf-8")
    assert "Hit@1" in (here / "a.md").read_text("utf-8")
    assert "<svg" in (here / "a.html").read_text("utf-8")
    assert json.loads((here / "a.json").read_text("utf-8"))["schema_version"] == 1


def test_a_case_is_added_to_the_file_of_its_pack(here: Path) -> None:
    file = here / "skills/forms/evals/evals.json"

    assert run("eval", "--add", "tax form", "--skill", "forms").exit_code == 0
    assert json.loads(file.read_text("utf-8"))[2] == {
        "query": "tax form",
        "should_trigger": True,
    }
    new = run("eval", "skills", "--add", "a form", "--skill", "mail", "--not")

    assert new.stdout == "wrote skills/mail/evals/trigger-evals.json\n"
    file = here / "skills/mail/evals/trigger-evals.json"
    assert json.loads(file.read_text("utf-8")) == [
        {"query": "a form", "should_trigger": False}
    ]
    assert run("eval", "skills", "--add", "x", "--skill", "mial").exit_code == 2


def test_a_case_that_is_there_is_not_added_again(here: Path) -> None:
    """Its opposite is another case, and each has its line in the report."""
    file = here / "skills/mail/evals/trigger-evals.json"
    add = "eval", "skills", "--add", " a  form ", "--skill", "mail"
    run(*add)
    before = file.read_bytes()

    again = run(*add)

    assert (again.exit_code, again.stdout) == (
        0,
        "nothing added: skills/mail/evals/trigger-evals.json has this case\n",
    )
    assert file.read_bytes() == before
    assert run(*add, "--not").stdout.startswith("added to")
    report = run("eval", "skills").stdout
    path = "skills/mail/evals/trigger-evals.json"
    assert f"{path}:3: warning eval-unread" in report
    assert f"should get it at {path}:2\n" in report


def test_one_case_is_counted_as_one(here: Path) -> None:
    (here / "one.json").write_text('[{"query": "a form", "skill": "forms"}]', "utf-8")

    assert ", 1 case)" in run("eval", "one.json").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_no_case_is_written_out_of_the_pack(here: Path) -> None:
    (here / "outside").mkdir()
    (here / "skills/mail/evals").symlink_to(here / "outside")
    os.mkfifo(here / "skills/forms/evals/trigger-evals.json")

    linked = run("eval", "skills", "--add", "x y", "--skill", "mail")
    next_to_a_pipe = run("eval", "skills", "--add", "x y", "--skill", "forms")

    assert (linked.exit_code, "is a link" in linked.stderr) == (2, True)
    assert list((here / "outside").iterdir()) == []
    assert next_to_a_pipe.stdout == "added to skills/forms/evals/evals.json\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes")
def test_a_pipe_is_not_waited_for(here: Path) -> None:
    (here / "evals").mkdir()
    os.mkfifo(here / "evals/cases.json")

    result = run("eval", "skills", "evals")

    assert "evals/cases.json: warning eval-unread" in result.stdout


def test_eval_files_alone_are_about_the_project(here: Path) -> None:
    rows = [{"query": "fill in a form", "expected_skill": "forms"}]
    (here / "routing.json").write_text(json.dumps(rows), "utf-8")

    result = run("eval", "routing.json")

    assert "2 skills, 1 query and 0 controls in 1 eval file" in result.stdout


def test_a_case_names_the_skill_and_not_its_folder(here: Path) -> None:
    write_pack(here / "skills/other", TEXT.format("post", "Sends parcels."))
    (here / "skills/other/evals").mkdir()
    file = here / "skills/other/evals/evals.json"
    file.write_text('[{"question": "x", "expected_skill": null}]', "utf-8")

    assert run("eval", "skills", "--add", "a b", "--skill", "post").exit_code == 0
    assert json.loads(file.read_text("utf-8"))[1]["expected_skill"] == "post"


def test_a_check_reports_hidden_skills_where_it_is_asked_to(here: Path) -> None:
    write_pack(here / "skills/post", TEXT.format("post", "Send letters by mail today."))

    assert "shadowed-skill" not in run("check", "skills").stdout
    result = run("check", "skills", "--select", "shadowed-skill", "--strict")
    assert result.exit_code == 1
    assert "shadowed-skill" in result.stdout
    (here / "satchel.toml").write_text(
        '[lint]\nseverity = { shadowed-skill = "error" }\n', "utf-8"
    )
    assert run("check", "skills").exit_code == 1


@pytest.mark.row("F86")
def test_duplicates_are_told_to_merge_and_nothing_is_written(here: Path) -> None:
    write_pack(here / "skills/post", TEXT.format("post", "Send letters by mail today."))
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}

    result = run("eval", "skills", "--suggest")

    printed = " ".join(result.stdout.split())
    assert printed.count("duplicates, the descriptions say the same as") == 2
    assert "merge them, or say what only one does" in result.stderr
    assert "Do not use it" not in result.output
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.row("F85")
def test_a_folder_of_rows_alone_is_about_the_project(here: Path) -> None:
    (here / "benchmark").mkdir()
    rows = "question,expected_skill\nfill in a form,forms\n"
    (here / "benchmark/rows.csv").write_text(rows, "utf-8")
    (here / "benchmark/README.md").write_text("# Rows", "utf-8")

    result = run("eval", "benchmark")

    assert result.exit_code == 0
    assert "2 skills, 2 queries and 0 controls in 2 eval files" in result.stdout
    assert "1 repeated row counted once" in result.stdout
    assert "1 x it is no JSON, JSON lines, YAML, CSV or TSV: " in result.stdout


@pytest.mark.row("F85")
def test_what_was_named_and_has_no_case_is_status_2(here: Path) -> None:
    (here / "rows.csv").write_text("a,b\n1,2\n", "utf-8")

    result = run("eval", "skills", "rows.csv")

    assert result.exit_code == 2
    assert "no column is a query" in result.stdout
    assert "no eval case was read in what was named" in result.stderr


@pytest.mark.row("F87")
def test_a_limit_of_queries_says_how_to_raise_it() -> None:
    assert run("eval", "skills", "--max-queries", "2").exit_code == 0
    result = run("eval", "skills", "--max-queries", "1")

    assert result.exit_code == 2
    assert "2 queries exceed the limit eval_queries = 1" in result.stderr
    assert "--max-queries" in result.stderr
