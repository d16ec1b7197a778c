"""Skills are found where projects keep them, and to find none is no success."""

from pathlib import Path

import pytest

from satchel import Satchel
from satchel.checking import usual_folders
from satchel.clients import PROJECT_FOLDERS
from satchel.sources import LocalSource
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


@pytest.mark.row("F14", "R21")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("command", "shown", "untrusted"),
    [
        ("list", "forms  -      Fills", "forms  -      [untrusted] Fills"),
        ("find form", "forms  Fills", "forms  [untrusted] Fills"),
        ("show forms", "# Forms", ""),
        ("prompt", "forms", ""),
        ("why forms", "forms: listed", "forms: trust"),
        ("doctor", "1 skill listed", "not listed: 1 untrusted"),
    ],
)
def test_commands_that_only_show_find_each_layout(
    project: Path, layout: str, command: str, shown: str, untrusted: str
) -> None:
    """And load nothing that nobody has named; they say what to type to trust it."""
    put(project, f"{layout}/forms")

    for named in (("--skills", "."), (".",), (layout,)):
        result = run(*command.split(), *named)
        assert result.exit_code == 0
        assert shown in result.stdout
        assert "trust" not in result.output
    alone = run(*command.split())
    assert alone.exit_code == (1 if command.endswith(" forms") else 0)
    assert untrusted in alone.stdout if untrusted else not alone.stdout
    assert f"type: satchel {command} {layout}\n" in alone.stderr


@pytest.mark.row("F14", "R29")
@pytest.mark.parametrize("command", [("build", "-o", "out"), ("retire", "forms")])
def test_what_writes_or_serves_needs_a_path(
    project: Path, command: tuple[str, ...]
) -> None:
    """And a program opens what its author names, nothing that lies about."""
    put(project, ".claude/skills/forms")

    assert run(*command).exit_code != 0
    assert not (project / "out").exists()
    with Satchel(".") as skills:
        assert len(skills.catalog) == 0


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
        (".claude/skills/a", True),
        (".apm/skills/a", True),
        (".opencode/skill/a", True),
        (".github/plugins/p/skills/a", True),
        ("packages/x/.claude/skills/a", True),
        ("skills/.curated/a", True),
        (".claude/worktrees/w/skills/a", False),
        (".claude/plugins/cache/a", True),
        (".git/skills/a", False),
        (".venv/skills/a", False),
        ("skills/.git/a", False),
        ("node_modules/x/.claude/skills/a", False),
        (".hidden/a", False),
    ],
)
def test_which_folders_behind_a_dot_are_searched(
    project: Path, place: str, *, expected: bool
) -> None:
    put(project, place)

    scanned = LocalSource(".", client_folders=True).scan()

    assert [getattr(item, "location", "") for item in scanned] == (
        [f"./{place}"] if expected else []
    )
    assert LocalSource(".").scan() == ()


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
