"""Skills are found where projects keep them, and to find none is no success."""

import os
import zipfile
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.sources import PROJECT_FOLDERS, LocalSource, usual_folders
from tests.functional.library import run, write_pack
from tests.unit.checking.history import commit

TEXT = (
    "---\nname: {}\ndescription: Fills in PDF forms. Use when a form must be filled "
    "in.\n---\n# Forms\n\nDo it.\n"
)
LAYOUTS = ("skills", ".claude/skills", ".agents/skills", ".github/skills")


@pytest.fixture
def project(here: Path) -> Path:
    return here


def put(project: Path, *places: str) -> None:
    for place in places:
        name = place.rpartition("/")[2]
        write_pack(project / place, TEXT.format(name))


@pytest.mark.row("F14")
@pytest.mark.parametrize("layout", PROJECT_FOLDERS)
@pytest.mark.parametrize("arguments", [(), (".",), ("--since", "HEAD")])
def test_check_finds_each_layout(
    project: Path, layout: str, arguments: tuple[str, ...]
) -> None:
    if "HEAD" in arguments:
        commit(project)
    put(project, f"{layout}/forms")

    result = run("check", *arguments)

    assert result.exit_code == 0
    assert "1 pack checked" in result.stdout


@pytest.mark.row("F14")
def test_all_of_them_at_once(project: Path) -> None:
    put(project, *(f"{layout}/a{i}" for i, layout in enumerate(LAYOUTS)))

    for arguments in ((), (".",)):
        assert "4 packs checked" in run("check", *arguments).stdout


@pytest.mark.row("F14", "R21", "F62")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("command", "shown", "alone"),
    [
        ("list", "forms  -      Fills", "forms  -      Fills"),
        ("find form", "forms  Fills", "forms  Fills"),
        ("cost", "forms", "forms"),
        ("show forms", "# Forms", ""),
        ("prompt", "forms", ""),
        ("why forms", "forms: listed", "forms: listed"),
        ("doctor", "1 skill listed", "1 skill listed"),
    ],
)
def test_commands_that_only_show_find_each_layout(
    project: Path, layout: str, command: str, shown: str, alone: str
) -> None:
    """Looking needs no trust; what loads says what to type to trust them."""
    put(project, f"{layout}/forms")

    for named in (("--skills", "."), (".",), (layout,)):
        result = run(*command.split(), *named)
        assert result.exit_code == 0
        assert shown in result.stdout
        assert "trust" not in result.output
    result = run(*command.split())
    assert result.exit_code == (1 if command == "show forms" else 0)
    assert alone in result.stdout if alone else not result.stdout
    assert "untrusted" not in result.stdout
    assert f"looked in {layout}" in result.stderr
    assert (f"type: satchel {command} {layout}\n" in result.stderr) == (not alone)


@pytest.mark.row("F14", "R29", "F62")
@pytest.mark.parametrize("command", [("build", "-o", "out"), ("retire", "forms")])
def test_what_writes_or_serves_needs_a_path(
    project: Path, command: tuple[str, ...]
) -> None:
    """And a program finds in a folder what the commands find there."""
    put(project, ".claude/skills/forms")

    assert run(*command).exit_code != 0
    assert not (project / "out").exists()
    with Satchel(".") as skills:
        assert [entry.id for entry in skills.catalog] == ["forms"]


@pytest.mark.row("F14")
@pytest.mark.parametrize(
    "arguments", ["", ".", "empty", "--for codex", "--format json .", "--fix ."]
)
def test_no_pack_is_a_failure_that_says_where_it_looked(
    project: Path, arguments: str
) -> None:
    (project / "empty").mkdir()
    (project / "README.md").write_text("# Hello\n", "utf-8")

    result = run("check", *arguments.split())

    assert result.exit_code == 2
    assert "no pack was found" in result.stderr
    assert "SKILL.md" in result.stderr


@pytest.mark.row("F14")
def test_one_empty_folder_next_to_a_pack_is_a_warning(project: Path) -> None:
    put(project, "skills/forms")
    (project / "empty").mkdir()

    result = run("check", "skills", "empty")

    assert result.exit_code == 0
    assert "no-skills" in result.stdout


@pytest.mark.row("F14")
def test_a_hook_that_names_no_file_of_a_pack_is_content(project: Path) -> None:
    (project / "README.md").write_text("# Hello\n", "utf-8")

    assert run("check", "--changed-files", "README.md").exit_code == 0
    assert run("check", "--changed-files").exit_code == 0


@pytest.mark.row("F14")
def test_packs_elsewhere_are_counted(project: Path) -> None:
    put(project, "skills/forms", "plugins/x/skills/scans", "plugins/y/skills/mail")

    result = run("check")

    assert "1 pack checked" in result.stdout
    assert "2 more packs lie elsewhere" in result.stderr
    assert "3 packs checked" in run("check", ".").stdout


@pytest.mark.row("F14")
def test_what_satchel_toml_names_is_checked_too(project: Path) -> None:
    put(project, "mine/forms", ".claude/skills/scans")
    (project / "satchel.toml").write_text('skills = ["mine"]\n', "utf-8")

    assert "2 packs checked" in run("check").stdout
    assert "1 pack checked" in run("check", "--config", "none").stdout


def test_an_archive_that_satchel_toml_names_is_checked(project: Path) -> None:
    put(project, "skills/forms")
    with zipfile.ZipFile("bad.zip", "w") as made:
        made.writestr("skill.md", TEXT.format("bad"))
    (project / "satchel.toml").write_text('skills = ["bad.zip"]\n', "utf-8")

    result = run("check")

    assert result.exit_code == 1
    assert "looked in bad.zip, skills\n" in result.stderr
    assert "bad.zip/skill.md" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="a pipe with a name needs POSIX")
def test_what_is_named_and_can_be_no_pack_is_an_error(project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "satchel.toml").write_text('skills = ["pipe"]\n', "utf-8")

    result = run("check")

    assert result.exit_code == 2
    assert "pipe: expected a pack" in result.stderr


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("satchel.toml", ""),
        ("satchel.toml", "[lint]\n"),
        ("pyproject.toml", "[tool.satchel.lint]\n"),
    ],
)
def test_a_file_that_names_no_skills_changes_no_place(
    project: Path, file: str, text: str
) -> None:
    put(project, ".claude/skills/forms")
    (project / file).write_text(text, "utf-8")

    for command in ("list", "find form", "why forms", "doctor"):
        result = run(*command.split())
        assert result.exit_code == 0, result.output
        assert "forms" in result.stdout or "1 skill listed" in result.stdout
        assert "looked in .claude/skills" in result.stderr
    result = run("build", "out")
    assert result.exit_code != 0
    assert "names skills" in result.stderr


def test_what_else_such_a_file_says_counts(project: Path) -> None:
    put(project, "skills/forms", "skills/scans")
    (project / "satchel.toml").write_text('disabled = ["scans"]\n', "utf-8")

    assert "forms" in run("list").stdout
    assert "1 skill listed" in run("doctor").stdout


@pytest.mark.row("F14")
def test_the_folder_itself_may_be_a_pack_or_hold_packs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project, "packs/forms")
    monkeypatch.chdir(project / "packs")
    assert usual_folders() == (".",)
    monkeypatch.chdir(project / "packs/forms")
    assert usual_folders() == (".",)
    monkeypatch.chdir(project)
    assert usual_folders() == (".",)


@pytest.mark.row("F14", "R29")
@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (".claude/skills/a", "listed"),
        (".apm/skills/a", "listed"),
        (".opencode/skill/a", "listed"),
        (".github/plugins/p/skills/a", "listed"),
        ("packages/x/.claude/skills/a", "listed"),
        ("skills/.curated/a", "listed"),
        (".claude/worktrees/w/skills/a", "named"),
        (".claude/plugins/cache/a", "listed"),
        (".git/skills/a", ".git"),
        (".venv/skills/a", ".venv"),
        ("skills/.git/a", "skills/.git"),
        ("node_modules/x/.claude/skills/a", "node_modules"),
        (".hidden/a", "named"),
    ],
)
def test_which_folders_behind_a_dot_are_searched(
    project: Path, place: str, expected: str
) -> None:
    """What is not listed is named, or the folder that it is in."""
    put(project, place)

    (scanned,) = LocalSource(".").scan()

    named = {"listed": place, "named": f"{place}/SKILL.md"}
    path = getattr(scanned, "location" if expected == "listed" else "path")
    assert path == f"./{named.get(expected, expected)}"


@pytest.mark.row("F14")
def test_a_link_from_one_client_to_another_is_one_pack(project: Path) -> None:
    put(project, ".agents/skills/forms")
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to("../.agents/skills")
    (project / ".cursor/skills").mkdir(parents=True)
    (project / ".cursor/skills/forms").symlink_to("../../.agents/skills/forms")

    assert "1 pack checked" in run("check", ".").stdout
    assert "error" not in run("check").stdout
    put(project, ".github/skills/forms")  # an equal copy is no conflict either
    assert (run("check").exit_code, run("list").exit_code) == (0, 0)
