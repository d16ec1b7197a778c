"""``satchel why`` finds by path and by name whatever is on the disk."""

import json
from pathlib import Path

import pytest

from satchel import Satchel
from tests.functional.library import run, write_pack

TEXT = "---\nname: {}\ndescription: Does a thing. Use it when asked.\n---\n# Do it\n"


@pytest.fixture
def lib(here: Path) -> Path:
    """A library with packs in every place, listed or not."""
    for place in (
        *("lib/plain", "lib/outer", "lib/outer/skills/inner"),
        *("lib/outer/examples/sample", "lib/.hidden/secret", "lib/.claude/skills/dev"),
        *("lib/node_modules/dep/skills/vendored", "lib/node_modules/dep/skills/other"),
        *("lib/1/2/3/4/5/6/deep", "elsewhere/away"),
    ):
        name = place.rpartition("/")[2]
        write_pack(
            here / place, TEXT.format(f"{name}-name" if name == "sample" else name)
        )
    write_pack(here / "lib/broken", "---\nname: broken\n---\n")
    (here / "lib/.venv/lib/x").mkdir(parents=True)
    (here / "lib/.venv/lib/x/SKILL.md").write_text(TEXT.format("in-venv"))
    (here / "lib/empty").mkdir()
    return here


@pytest.mark.row("U01", "F61")
@pytest.mark.parametrize(
    ("name", "stage", "path", "says"),
    [
        ("plain", "listed", "lib/plain", "in the prompt"),
        ("lib/plain", "listed", "lib/plain", "in the prompt"),
        ("./lib/plain/", "listed", "lib/plain", "in the prompt"),
        ("lib/plain/SKILL.md", "listed", "lib/plain", "in the prompt"),
        ("{here}/lib/outer/skills/inner", "listed", "lib/outer/skills/inner", "prompt"),
        ("dev", "listed", "lib/.claude/skills/dev", "in the prompt"),
        ("lib/broken", "parse", "lib/broken", "description"),
        ("sample", "path", "lib/outer/examples/sample/SKILL.md", "inside of the pack"),
        ("sample-name", "path", "lib/outer/examples/sample/SKILL.md", "inside of the"),
        (
            *("lib/outer/examples/sample", "path"),
            *("lib/outer/examples/sample/SKILL.md", "inside of the pack lib/outer"),
        ),
        ("secret", "path", "lib/.hidden/secret/SKILL.md", "it is in .hidden"),
        ("deep", "path", "lib/1/2/3/4/5/6/deep/SKILL.md", "deeper than scan_depth = 6"),
        (
            *("vendored", "path", "lib/node_modules/dep/skills/vendored/SKILL.md"),
            "lib/node_modules: note unsearched-folder: not searched",
        ),
        ("in-venv", "path", "lib/.venv/lib/x/SKILL.md", "lib/.venv: note unsearched"),
        (
            *("lib/node_modules/dep/skills/vendored", "path"),
            *("lib/node_modules/dep/skills/vendored/SKILL.md", "not searched"),
        ),
        ("lib/node_modules", "path", "lib/node_modules", "not searched"),
        ("elsewhere/away", "path", "elsewhere/away/SKILL.md", "no folder that was"),
        ("lib/empty", "path", "lib/empty", "no SKILL.md"),
    ],
)
def test_whatever_is_on_the_disk(
    lib: Path, name: str, stage: str, path: str, says: str
) -> None:
    result = run("why", name.format(here=lib), "lib", "--json")
    answer = json.loads(result.stdout)

    assert (answer["stage"], answer["path"]) == (stage, path)
    assert says in answer["message"]
    assert "no pack of this name" not in answer["message"]
    assert result.exit_code == (0 if stage == "listed" else 1)


@pytest.mark.row("U01", "F61")
def test_a_folder_says_what_is_in_it(lib: Path) -> None:
    """Ten by name, and how many more."""
    for number in range(12):
        write_pack(lib / f"lib/node_modules/m{number}", TEXT.format(f"m{number}"))

    answer = run("why", "lib/node_modules", "lib").stdout

    assert (
        "14 folders with a SKILL.md in it: lib/node_modules/dep/skills/other" in answer
    )
    assert "and 4 more" in answer
    assert run("why", "lib/outer/skills", "lib").stdout.count("SKILL.md") == 1


@pytest.mark.row("U01", "F61")
def test_the_advice_helps(lib: Path) -> None:
    fix = json.loads(run("why", "vendored", "lib", "--json").stdout)["fix"]

    assert fix == "name it: lib/node_modules/dep/skills/vendored"
    assert "vendored" in run("list", fix.removeprefix("name it: ")).stdout


@pytest.mark.row("U01")
def test_one_path_of_two_packs_of_a_name_is_the_one_that_is_meant(here: Path) -> None:
    write_pack(here / "one/same", TEXT.format("same"))
    write_pack(here / "two/same", TEXT.format("same") + "More.\n")
    command = ("one", "two", "--on-conflict", "precedence")

    assert "listed" in run("why", "one/same", *command).stdout
    assert "shadowed" in run("why", "two/same", *command).stdout
    assert "conflict" in run("why", "two/same", "one", "two").stdout


@pytest.mark.row("U01")
def test_without_a_folder_a_path_is_looked_at_all_the_same(here: Path) -> None:
    write_pack(here / "elsewhere/away", TEXT.format("away"))
    write_pack(here / "skills/plain", TEXT.format("plain"))

    answer = run("why", "elsewhere/away")

    assert "elsewhere/away: path: " in answer.stdout
    assert "fix: name it: elsewhere/away" in answer.stdout


@pytest.mark.row("U01")
def test_what_is_nowhere_is_denied(lib: Path) -> None:
    answer = run("why", "nothing-like-it", "lib").stdout

    assert "no pack of this name in lib" in answer
    with Satchel(lib / "lib") as skills:
        assert skills.why("plane").fix == "did you mean plain?"
