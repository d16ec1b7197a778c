"""``satchel list``: what there is, and what is wrong with any of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from satchel import Satchel
from satchel.errors import SourceUnavailableError
from satchel.sources import LocalSource
from tests.functional.library import run, write_pack

GOOD = "---\nname: {name}\ndescription: Use {name} when testing the list.\n---\nDo.\n"


@pytest.fixture
def library(here: Path) -> Path:
    """Two good packs in ``skills``; the working folder is the one above."""
    library = here / "skills"
    files = {"references/a.md": "A", "scripts/b.py": "B", "assets/c.txt": "C"}
    write_pack(library / "alpha", GOOD.format(name="alpha"), files)
    write_pack(library / "beta", GOOD.format(name="beta"))
    return library


def listed(*arguments: str, status: int = 0) -> dict[str, Any]:
    result = run("list", "--json", *arguments)
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def settings(text: str, name: str = "satchel.toml") -> None:
    Path(name).write_text(f"{text}\n", "utf-8")


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
@pytest.mark.usefixtures("library")
def test_json_has_exactly_these_fields() -> None:
    skills = Satchel("skills")
    files = {
        "alpha": (["references/a.md"], ["scripts/b.py"], ["assets/c.txt"]),
        "beta": ([], [], []),
    }

    assert listed("--skills", "skills") == {
        "schema_version": 1,
        "skills": [
            {
                "id": name,
                "description": f"Use {name} when testing the list.",
                "source": "skills",
                "path": f"skills/{name}",
                "references": references,
                "scripts": scripts,
                "assets": assets,
                "digest": skills.digest(name),
            }
            for name, (references, scripts, assets) in files.items()
        ],
        "findings": [],
        "conflicts": [],
    }
    assert skills.digest("alpha").startswith("sha256-tree-v1:")


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


@pytest.mark.row("R03", "C36")
def test_both_owners_of_a_conflict_are_shown(library: Path) -> None:
    write_pack(library / "../more/alpha", GOOD.format(name="alpha") + "Else.\n")
    places = ("--skills", "skills", "--skills", "more")
    document = listed(*places, status=1)
    table = run("list", *places)

    paths = ["more/alpha", "skills/alpha", "skills/beta"]
    assert [skill["path"] for skill in document["skills"]] == paths
    owners = [
        {"source": source, "path": f"{source}/alpha"} for source in ("skills", "more")
    ]
    assert document["conflicts"] == [{"id": "alpha", "kept": None, "owners": owners}]
    assert table.exit_code == 1
    assert table.stdout.count("[conflict]") == 2
    assert "skills/alpha and more/alpha" in table.stderr


@pytest.mark.row("X04")
def test_a_chosen_precedence_is_no_trouble_and_the_loser_stays_visible(
    library: Path,
) -> None:
    write_pack(library / "../more/alpha", GOOD.format(name="alpha") + "Else.\n")
    settings('skills = ["skills", "more"]\non_conflict = "precedence"')
    document = listed()

    paths = ["skills/alpha", "skills/beta"]
    assert [skill["path"] for skill in document["skills"]] == paths
    assert [conflict["kept"] for conflict in document["conflicts"]] == paths[:1]
    assert [f["code"] for f in document["findings"]] == ["skill-withheld"]


@pytest.mark.usefixtures("library")
def test_what_is_excluded_is_shown_with_its_reason() -> None:
    settings('skills = ["skills"]\ndisabled = ["beta"]')
    result = run("list")
    document = listed()

    assert result.exit_code == 0
    assert "[disabled] Use beta" in result.stdout
    assert [skill["id"] for skill in document["skills"]] == ["alpha"]
    [finding] = document["findings"]
    assert (finding["code"], finding["severity"]) == ("skill-withheld", "note")


@pytest.mark.row("R19", "X14")
@pytest.mark.parametrize("command", ["list", "doctor", "prompt"])
def test_an_empty_folder_is_a_warning(command: str, tmp_path: Path) -> None:
    result = run(command, "--skills", str(tmp_path))

    assert result.exit_code == 0
    assert result.stdout == "" or command == "doctor"
    assert "warning no-skills" in result.output


@pytest.mark.row("R24")
@pytest.mark.parametrize(
    "written", ["skills", "./skills", "skills/", "../{here}/skills"]
)
def test_paths_are_printed_as_they_were_written(library: Path, written: str) -> None:
    written = written.format(here=library.parent.name)
    document = listed("--skills", written)

    assert document["skills"][0]["path"] == f"{written.rstrip('/')}/alpha"


@pytest.mark.row("R24")
@pytest.mark.parametrize("name", ["satchel.toml", "pyproject.toml"])
def test_paths_from_settings_are_relative_to_the_working_folder(
    name: str, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "[tool.satchel]\n" if name == "pyproject.toml" else ""
    settings(f'{table}skills = ["skills"]', name)
    from_above = [skill["path"] for skill in listed()["skills"]]
    monkeypatch.chdir(library / "alpha")

    assert from_above == ["skills/alpha", "skills/beta"]
    assert [Path(skill["path"]) for skill in listed()["skills"]] == [
        Path("..", "..", path) for path in from_above
    ]


def test_without_sources_it_says_what_to_write(here: Path) -> None:
    (here / "skills").mkdir()
    result = run("list")

    assert result.exit_code == 2
    assert 'satchel list PATH, or write skills = ["PATH"]' in result.stderr


def test_many_findings_are_cut_short(library: Path) -> None:
    for number in range(15):
        write_pack(library / f"bad-{number:02}", f"---\nname: bad-{number:02}\n---\n")
    result = run("list", "--skills", "skills")

    assert result.stderr.count(" error missing-description") == 10
    assert result.stderr.splitlines()[-1] == "5 errors more: see satchel doctor skills"


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
