"""Queries that found no good skill: kept where the operator says so, and only then."""

import json
import os
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.cli import main
from satchel.usage import record_query
from satchel_server.usage import suggest_cases


def library(folder: Path, **packs: str) -> Path:
    for name, description in packs.items():
        path = folder / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(
            f"---\nname: {name}\ndescription: {description}\n---\n# Do it\n"
        )
    return folder / "skills"


def run(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def search(skills: Satchel, *queries: str) -> None:
    """Search as a model would, in two styles, and as a client of a server does."""
    for query in queries:
        skills.session().find(query)
        skills.find(query)
        skills.view().find(query)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    return library(
        tmp_path, invoices="Use to write invoices.", trains="Use for trains."
    )


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nothing_is_kept_unless_it_is_turned_on(
    tmp_path: Path, skills: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("SATCHEL_QUERIES", raising=False)
    if value is not None:
        monkeypatch.setenv("SATCHEL_QUERIES", value)
    monkeypatch.setenv("SATCHEL_USAGE", f"jsonl://{tmp_path}/usage.jsonl")
    before = files(tmp_path)
    with Satchel(skills) as opened:
        search(opened, "my secret plan", "trains")
        session = opened.session()
        session.call("find_skills", {"query": "my secret plan"})
        session.call("load_skill", {"skill_id": "my secret plan"})
        session.call("load_skill", {"skill_id": "trains"})

    # The event of the load is there, and no text of anybody is.
    written = [path for path in files(tmp_path) if path not in before]
    assert [path.name for path in written] == ["usage.jsonl"]
    assert "secret" not in written[0].read_text()


def test_a_query_without_a_good_hit_is_kept(
    tmp_path: Path, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "queries.jsonl"
    monkeypatch.setenv("SATCHEL_QUERIES", str(path))
    with Satchel(skills) as opened:
        opened.view().find("sing a song")
        opened.view().find("write invoices")
        opened.session(suggest=True).instructions(message="a message of the user")

    (line,) = map(json.loads, path.read_text().splitlines())
    assert (line["query"], line["weak"]) == ("sing a song", [])
    assert os.name == "nt" or path.stat().st_mode & 0o777 == 0o600


def test_a_search_outlives_a_file_that_cannot_be_written(
    tmp_path: Path, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SATCHEL_QUERIES", str(tmp_path / "none" / "queries.jsonl"))

    assert Satchel(skills).view().find("sing a song") == []


def test_a_file_has_a_largest_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("satchel.usage._queries._MAX_BYTES", 100)
    path = tmp_path / "queries.jsonl"
    for _ in range(9):
        record_query(str(path), "x" * 5_000, [], 1.0)

    assert len(path.read_text().splitlines()) == 1
    assert path.stat().st_size < 1_100


def test_cases_are_ranked_by_how_often(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    for query, at in (("old", 1.0), ("rotate\nmy key", 9.0), ("rotate my key", 9.0)):
        record_query(str(path), query, [], at)
    with path.open("a") as file:
        file.write('{"at": 9, "query": "print it", "weak": ["invoices"]}\n')
        file.write('[]\n{"query": 3}\n{"at": 9, "query": 3, "weak": []}\nnonsense\n')
        file.write('{"at": "9", "query": "x", "weak": []}\n' + "[" * 99_999 + "\n{")

    cases = suggest_cases({"pdf-form": 3, "<invalid>": 9}, str(path), since=5.0)

    assert cases == [
        {
            "query": "pdf form",
            "expected_skill": None,
            "review": "asked for as pdf-form, which is not there (3 times)",
        },
        {
            "query": "rotate my key",
            "expected_skill": None,
            "review": "found nothing (2 times)",
        },
        {
            "query": "print it",
            "expected_skill": None,
            "review": "found only weak matches: invoices (1 time)",
        },
    ]


def test_the_command_prints_cases_to_review(
    tmp_path: Path,
    skills: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "queries.jsonl"
    monkeypatch.setenv("SATCHEL_QUERIES", str(path))
    monkeypatch.setenv("SATCHEL_USAGE", f"jsonl://{tmp_path}/usage.jsonl")
    with Satchel(skills) as opened:
        opened.view().find("sing\x1b a song")
        opened.session().call("load_skill", {"skill_id": "pdf-form"})

    assert run("usage", "--suggest-evals") == 0
    assert capsys.readouterr().out == (
        "2 cases to review: which skill should answer, if any?\n"
        "  pdf form: asked for as pdf-form, which is not there (1 time)\n"
        "  sing<U+001B> a song: found nothing (1 time)\n"
    )
    assert run("usage", "--suggest-evals", "--json") == 0
    evals = json.loads(capsys.readouterr().out)["evals"]
    assert [case["query"] for case in evals] == ["pdf form", "sing\x1b a song"]
    assert all(case["expected_skill"] is None for case in evals)


def test_the_command_says_what_is_not_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SATCHEL_USAGE", f"jsonl://{tmp_path}/usage.jsonl")
    assert run("usage", "--suggest-evals") == 0
    text = capsys.readouterr()
    assert text.out.startswith("0 cases to review")
    assert "no query is on record: SATCHEL_QUERIES names no file" in text.err

    monkeypatch.setenv("SATCHEL_QUERIES", str(tmp_path / "none.jsonl"))
    assert run("usage", "--suggest-evals") == 0
    assert capsys.readouterr().out.startswith("0 cases to review")
    monkeypatch.setenv("SATCHEL_QUERIES", str(tmp_path))
    assert run("usage", "--suggest-evals") == 2
    assert "SATCHEL_QUERIES" in capsys.readouterr().err
