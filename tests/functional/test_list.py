"""``satchel list``: what there is, and what is wrong with any of it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from satchel import Satchel
from satchel.errors import SourceUnavailableError
from satchel.sources import LocalSource
from tests.functional.library import run, write_pack

GOOD = "---\nname: {name}\ndescription: Use {name} when testing the list.\n---\nDo.\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two good packs in ``skills``; the working folder is the one above."""
    monkeypatch.chdir(tmp_path)
    library = tmp_path / "skills"
    files = {"references/a.md": "A", "scripts/b.py": "B", "assets/c.txt": "C"}
    write_pack(library / "alpha", GOOD.format(name="alpha"), files)
    write_pack(library / "beta", GOOD.format(name="beta"))
    return library


def listed(*arguments: str, status: int = 0) -> dict[str, Any]:
    result = run("list", "--json", *arguments)
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.mark.row("C43")
def test_every_skill_is_a_line_of_a_table(library: Path) -> None:
    result = run("list", "--skills", "skills")

    assert result.exit_code == 0
    assert result.stdout == (
        "SKILL  FILES  DESCRIPTION\n"
        "alpha  3      Use alpha when testing the list.\n"
        "beta   -      Use beta when testing the list.\n"
    )
    assert result.stderr == ""


@pytest.mark.row("R37", "R24")
def test_json_has_exactly_these_fields(library: Path) -> None:
    document = listed("--skills", "skills")
    digest = Satchel("skills").digest("alpha")

    assert document == {
        "schema_version": 1,
        "skills": [
            {
                "id": "alpha",
                "description": "Use alpha when testing the list.",
                "source": "skills",
                "path": "skills/alpha",
                "references": ["references/a.md"],
                "scripts": ["scripts/b.py"],
                "assets": ["assets/c.txt"],
                "digest": digest,
            },
            {
                "id": "beta",
                "description": "Use beta when testing the list.",
                "source": "skills",
                "path": "skills/beta",
                "references": [],
                "scripts": [],
                "assets": [],
                "digest": Satchel("skills").digest("beta"),
            },
        ],
        "findings": [],
        "conflicts": [],
    }
    assert digest.startswith("sha256-tree-v1:")


@pytest.mark.row("R28")
def test_an_error_is_status_1_and_hides_no_neighbour(library: Path) -> None:
    write_pack(library / "broken", "---\nname: broken\n---\nNo description.\n")
    document = listed("--skills", "skills", status=1)
    table = run("list", "--skills", "skills")

    assert [skill["id"] for skill in document["skills"]] == ["alpha", "beta"]
    [finding] = [f for f in document["findings"] if f["severity"] == "error"]
    assert set(finding) == {"code", "severity", "path", "line", "message", "fix"}
    assert finding["code"] == "missing-description"
    assert finding["path"] == "skills/broken/SKILL.md"
    assert finding["fix"]
    assert table.exit_code == 1
    assert "skills/broken/SKILL.md" in table.stderr
    assert "alpha" in table.stdout


def test_a_warning_is_status_0(library: Path) -> None:
    text = "---\nname: gamma\ndescription: Use it when: testing\n---\n"
    write_pack(library / "gamma", text)
    document = listed("--skills", "skills")

    assert [f["severity"] for f in document["findings"]] == ["warning"]
    assert [skill["id"] for skill in document["skills"]] == ["alpha", "beta", "gamma"]


@pytest.mark.row("R03", "C36")
def test_both_owners_of_a_conflict_are_shown(library: Path, tmp_path: Path) -> None:
    write_pack(tmp_path / "more" / "alpha", GOOD.format(name="alpha") + "Else.\n")
    places = ("--skills", "skills", "--skills", "more")
    document = listed(*places, status=1)
    table = run("list", *places)

    assert [skill["path"] for skill in document["skills"]] == [
        "more/alpha",
        "skills/alpha",
        "skills/beta",
    ]
    assert document["conflicts"] == [
        {
            "id": "alpha",
            "kept": None,
            "owners": [
                {"source": "skills", "path": "skills/alpha"},
                {"source": "more", "path": "more/alpha"},
            ],
        }
    ]
    assert table.exit_code == 1
    assert table.stdout.count("[conflict]") == 2
    assert "skills/alpha and more/alpha" in table.stderr


@pytest.mark.row("X04")
def test_a_chosen_precedence_is_no_trouble_and_the_loser_stays_visible(
    library: Path, tmp_path: Path
) -> None:
    write_pack(tmp_path / "more" / "alpha", GOOD.format(name="alpha") + "Else.\n")
    settings = 'skills = ["skills", "more"]\non_conflict = "precedence"\n'
    (tmp_path / "satchel.toml").write_text(settings, "utf-8")
    document = listed()

    assert [skill["path"] for skill in document["skills"]] == [
        "skills/alpha",
        "skills/beta",
    ]
    [conflict] = document["conflicts"]
    assert conflict["kept"] == "skills/alpha"
    assert [f["code"] for f in document["findings"]] == ["skill-withheld"]


def test_what_is_excluded_is_shown_with_its_reason(
    library: Path, tmp_path: Path
) -> None:
    settings = 'skills = ["skills"]\ndisabled = ["beta"]\n'
    (tmp_path / "satchel.toml").write_text(settings, "utf-8")
    result = run("list")
    document = listed()

    assert result.exit_code == 0
    assert "[disabled] Use beta" in result.stdout
    assert [skill["id"] for skill in document["skills"]] == ["alpha"]
    [finding] = document["findings"]
    assert (finding["code"], finding["severity"]) == ("skill-withheld", "note")


@pytest.mark.row("R19")
def test_an_empty_folder_is_a_warning(tmp_path: Path) -> None:
    result = run("list", "--skills", str(tmp_path))

    assert result.exit_code == 0
    assert result.stdout == ""
    assert "warning no-skills" in result.stderr
    assert "fix: " in result.stderr


@pytest.mark.row("R19")
@pytest.mark.parametrize(
    "command", ["list", "prompt", "doctor", "find x", "show x", "why x", "list --json"]
)
def test_a_path_that_is_not_there_is_status_2(command: str, tmp_path: Path) -> None:
    result = run(*command.split(), "--skills", str(tmp_path / "none"))

    assert result.exit_code == 2
    assert result.stdout == "" or command == "doctor"
    assert "no such file or folder" in result.stderr


@pytest.mark.row("R24")
@pytest.mark.parametrize(
    "written", ["skills", "./skills", "skills/", "../{here}/skills"]
)
def test_paths_are_printed_as_they_were_written(library: Path, written: str) -> None:
    written = written.format(here=library.parent.name)
    document = listed("--skills", written)

    assert document["skills"][0]["path"] == f"{written.rstrip('/')}/alpha"


@pytest.mark.row("R24")
def test_paths_from_settings_are_relative_to_where_one_stands(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library.parent / "satchel.toml").write_text('skills = ["skills"]\n', "utf-8")
    from_above = [skill["path"] for skill in listed()["skills"]]
    below = library / "alpha"
    monkeypatch.chdir(below)

    assert from_above == ["skills/alpha", "skills/beta"]
    assert [s["path"] for s in listed()["skills"]] == [
        os.path.join("..", "..", path)  # noqa: PTH118
        for path in from_above
    ]


def test_settings_in_pyproject_count_too(library: Path) -> None:
    table = '[tool.satchel]\nskills = ["skills"]\n'
    (library.parent / "pyproject.toml").write_text(table, "utf-8")

    assert [skill["id"] for skill in listed()["skills"]] == ["alpha", "beta"]


def test_without_sources_it_says_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none/skills").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "none")
    result = run("list")

    assert result.exit_code == 2
    assert 'skills = ["skills"]' in result.stderr


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_no_line_is_wider_than_the_terminal(library: Path, width: int) -> None:
    lines = run("list", "--skills", "skills", width=width).stdout.splitlines()

    assert max(map(len, lines)) <= width


def test_into_a_pipe_nothing_is_cut(library: Path) -> None:
    long = "Use gamma " + "when testing " * 30
    write_pack(library / "gamma", f"---\nname: gamma\ndescription: {long}\n---\n")

    result = run("list", "--skills", "skills", width=None)

    assert long.strip() in result.stdout


def test_many_findings_are_cut_short(library: Path) -> None:
    for number in range(15):
        write_pack(library / f"bad-{number:02}", f"---\nname: bad-{number:02}\n---\n")
    result = run("list", "--skills", "skills")

    assert result.stderr.count(" error missing-description") == 10
    assert result.stderr.splitlines()[-1] == "5 errors more: see satchel doctor"


def test_a_file_that_is_no_pack_is_status_2(library: Path) -> None:
    (library / "notes.md").write_text("Notes.", "utf-8")
    result = run("list", "--skills", "skills/notes.md")

    assert result.exit_code == 2
    assert "skills/notes.md: expected a folder of packs" in result.stderr


def test_a_skill_file_means_its_pack(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_above = listed("--skills", "skills/alpha/SKILL.md")["skills"]
    monkeypatch.chdir(library / "alpha")
    from_within = listed("--skills", "SKILL.md")["skills"]

    assert [skill["path"] for skill in from_above] == ["skills/alpha"]
    assert [skill["id"] for skill in from_within] == ["alpha"]


def test_a_source_that_does_not_answer_is_never_silent(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: LocalSource) -> tuple[()]:
        raise SourceUnavailableError(self.label, "the disk is gone")

    monkeypatch.setattr(LocalSource, "scan", refuse)
    document = listed("--skills", "skills", status=1)
    doctor = run("doctor", "--skills", "skills")
    prompt = run("prompt", "--skills", "skills")

    [finding] = document["findings"]
    assert finding["code"] == "source-unavailable"
    assert doctor.exit_code == 1
    assert "no answer (the disk is gone)" in doctor.stdout
    assert "error source-unavailable" in prompt.stderr
