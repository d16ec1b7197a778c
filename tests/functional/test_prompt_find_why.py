"""``satchel prompt``, ``find`` and ``why``."""

import json
from pathlib import Path

import pytest

from satchel import Satchel
from tests.functional.library import run, run_process, write_pack

# ruff: noqa: E501 - the golden text is as it is
GOLDEN = """\
## Agent Skills
You have access to a library of agent skills. Find skill by:
1. Review the <available_skills> list below.
2. If the user's request matches a skill's purpose, use the load_skill with skill id tool
   to fetch the full instructions.

<available_skills>
  <skill>
    <id>apprun-skills</id>
    <description>Build AppRun components</description>
  </skill>
</available_skills>
"""


def text(name: str, description: str) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\nDo.\n"


@pytest.fixture(autouse=True)
def library(here: Path) -> Path:
    for path, description in {
        "one/apprun-skills": "Build AppRun components",
        "skills/pdf-forms": "Fill in PDF forms, such as tax forms",
        "skills/sql-style": "Write SQL queries that are right",
        "skills/release-notes": "Write the notes of a release",
    }.items():
        write_pack(here / path, text(path.rpartition("/")[2], description))
    return here / "skills"


@pytest.mark.row("D04", "D01")
def test_the_prompt_is_the_golden_text() -> None:
    """By its format; in itself it is that of the style, which is lean by default."""
    plain = run_process("prompt", "--skills", "one")
    golden = run_process("prompt", "--format", "xml-id", "--skills", "one")

    assert golden.stdout == GOLDEN.encode()
    assert b"\n- apprun-skills: " in plain.stdout


@pytest.mark.row("X20")
@pytest.mark.parametrize("style", ["lean", "xml-id", "markdown", "xml-spec", "json"])
def test_every_format_is_that_of_the_library(style: str) -> None:
    result = run("prompt", "--format", style, "--budget", "none", "--skills", "skills")
    expected = Satchel("skills").prompt(format=style, budget_tokens=None)  # type: ignore[arg-type]

    assert result.exit_code == 0
    assert result.stdout.rstrip("\n") == str(expected).rstrip("\n")
    assert result.stderr == ""


@pytest.mark.row("E30", "R15")
def test_what_a_budget_cuts_is_reported_next_to_the_text() -> None:
    result = run("prompt", "--budget", "60", "--skills", "skills")

    assert result.exit_code == 0
    assert result.stdout.startswith("If a skill fits")
    assert result.stderr.startswith("budget of 60 tokens: ")
    assert "estimate" in result.stderr


@pytest.mark.parametrize("budget", ["0", "-1", "1.5", "many", "１０"])
def test_a_budget_is_a_count_or_none(budget: str) -> None:
    result = run("prompt", "--budget", budget, "--skills", "skills")

    assert result.exit_code == 2
    assert "neither a count from 1 nor 'none'" in result.stderr


@pytest.mark.row("F03", "T02")
def test_a_conflict_is_reported_and_the_rest_is_in_the_prompt(tmp_path: Path) -> None:
    write_pack(tmp_path / "more" / "pdf-forms", text("pdf-forms", "Another one"))
    result = run("prompt", "--skills", "skills", "--skills", "more")

    assert result.exit_code == 0
    assert "- pdf-forms: " not in result.stdout
    assert "<available_skills>" in result.stdout
    assert "skills/pdf-forms and more/pdf-forms" in result.stderr
    assert "--prefix" in result.stderr


@pytest.mark.row("R37")
def test_find_lists_the_best_first() -> None:
    table = run("find", "fill in a tax form", "skills")
    result = run("find", "tax form", "-k", "1", "--json", "skills")
    document = json.loads(result.stdout)

    assert table.exit_code == 0
    assert table.stdout.splitlines()[1].split()[0] == "pdf-forms"
    [hit] = document.pop("hits")
    assert document == {"schema_version": 1, "query": "tax form", "read_as": {}}
    assert isinstance(hit.pop("score"), float)
    assert 0 < hit.pop("confidence") <= 1
    assert hit == {
        "id": "pdf-forms",
        "description": "Fill in PDF forms, such as tax forms",
        "source": "skills",
        "weak": False,
        "copies": [],
    }


@pytest.mark.row("T14")
def test_find_marks_weak_matches_and_never_leaves_them_out() -> None:
    table = run(
        "find", "bake a cake for seven unicorns in the form of a fish", "skills"
    )
    bare = run("find", "a zebra in the form", "skills", "--min-confidence", "0.9")

    assert table.exit_code == bare.exit_code == 0
    assert table.stdout.splitlines()[1].split()[:2] == ["pdf-forms", "[weak]"]
    assert "weak matches; use one only if it fits" in table.stderr
    assert bare.stdout == ""


def test_find_explains_a_score() -> None:
    table = run("find", "fill tax forms", "skills", "--explain", "-k", "1")
    result = run("find", "tax forms", "skills", "--explain", "--json", "-k", "1")

    rows = table.stdout.splitlines()
    assert rows[0].split() == ["SKILL", "SCORE", "CONFIDENCE", "WORD", "POINTS", "IN"]
    assert {word for row in rows[1:] for word in row.split()} >= {
        "fill",
        "tax",
        "forms",
    }
    [hit] = json.loads(result.stdout)["hits"]
    assert sum(match["points"] for match in hit["matches"]) == pytest.approx(
        hit["score"], abs=1e-3
    )
    assert {match["word"] for match in hit["matches"]} == {"tax", "forms"}


@pytest.mark.parametrize("query", ["zebra", '"', "a* NEAR(", "'; drop table x"])
def test_a_query_that_finds_nothing_is_no_error(query: str) -> None:
    result = run("find", query, "--skills", "one")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "no skill matches" in result.stderr
    assert result.stderr.endswith("; to see them all, type: satchel list one\n")


@pytest.mark.parametrize(
    ("name", "status", "parts"),
    [
        ("mute", 1, ["mute: parse: ", "\n    path: skills/mute\n", "\n    fix: "]),
        ("sql-stile", 1, ["did you mean sql-style?"]),
        (
            *("sql-style", 0),
            [
                "sql-style: listed: it is in the prompt, whole\n    path: skills/sql-style\n"
            ],
        ),
    ],
)
def test_why(name: str, status: int, parts: list[str], library: Path) -> None:
    write_pack(library / "mute", "---\nname: mute\n---\nSays what it does.\n")
    result = run("why", name, "--skills", "skills")

    assert result.exit_code == status
    assert [part for part in parts if part not in result.stdout] == []


@pytest.mark.row("T13")
def test_a_message_adds_what_fits_it(here: Path) -> None:
    for number in range(60):
        name = f"skill-{number}"
        write_pack(here / "many" / name, text(name, "Use it for anything. " * 10))
    write_pack(here / "many" / "taxes", text("taxes", "Use for tax forms."))
    command = ("prompt", "many", "--budget", "200", "--message", "a tax form")

    shown = run(*command).stdout
    value = json.loads(run(*command, "--json").stdout)

    assert "\n- taxes: Use for tax forms." in shown
    assert value["suggested"][0] == "taxes"
    assert {"kind": "word", "name": "skill", "skills": 60} in value["groups"]
    assert value["tokens"] <= 200
    assert "- taxes" not in run("prompt", "many", "--budget", "200").stdout
