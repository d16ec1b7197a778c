"""One grammar for all commands: PATHs, names of other tools, what nobody named."""

import re
import shlex
from pathlib import Path

import pytest

from satchel.cli._app import COMMANDS, GROUPS
from tests.functional.library import run, run_process, run_terminal, write_pack

PACK = "---\nname: {0}\ndescription: Use {0} when testing.\n---\n# {0}\n"


@pytest.fixture(autouse=True)
def project(here: Path) -> Path:
    """A pack in each of two folders that no client knows."""
    write_pack(here / "one/alpha", PACK.format("alpha"))
    write_pack(here / "two/beta", PACK.format("beta"))
    return here


@pytest.mark.row("T15")
@pytest.mark.parametrize(
    "command",
    [
        "list",
        "list --json",
        "find testing",
        "show beta",
        "prompt",
        "why beta",
        "doctor",
        "cost",
        "check",
        "build out",
        "serve --port 0 --strict --pin x",
        "retire beta --dry-run",
        "usage",
    ],
)
def test_skills_is_another_way_to_write_a_path(command: str) -> None:
    words = command.split()
    outputs = [
        run(*words, *paths)
        for paths in (
            ("one", "two"),
            ("--skills", "one", "--skills", "two"),
            ("one", "--skills", "two"),
        )
    ]

    assert len({(each.exit_code, each.stdout) for each in outputs}) == 1
    assert "no such option" not in outputs[0].stderr.lower()
    if not command.startswith(("serve", "usage")):
        assert outputs[0].exit_code == 0


@pytest.mark.row("T15")
@pytest.mark.parametrize(("alias", "name"), [("lint", "check"), ("validate", "check")])
def test_names_of_other_tools_mean_check(alias: str, name: str) -> None:
    result, same = run(alias, "one"), run(name, "one")

    assert (result.exit_code, result.stdout) == (same.exit_code, same.stdout)
    assert f"  {alias}" not in run("--help").stdout


@pytest.mark.row("T15")
def test_init_means_new(project: Path) -> None:
    assert run("init", "gamma", "--description", "Use when ...").exit_code == 0
    assert (project / "skills/gamma/SKILL.md").exists()


@pytest.mark.row("R21")
@pytest.mark.parametrize("folder", ["skills", ".claude/skills"])
def test_the_line_that_is_named_trusts_the_skills(project: Path, folder: str) -> None:
    write_pack(project / folder / "my gamma", PACK.format("gamma"))
    refused = run("show", "gamma")
    line = refused.stderr.partition("to trust them, type: satchel ")[2].splitlines()[0]

    assert refused.exit_code == 1
    assert run(*shlex.split(line)).stdout == "# gamma\n"


@pytest.mark.row("R21")
def test_a_folder_in_satchel_toml_is_named(project: Path) -> None:
    (project / "satchel.toml").write_text('skills = ["one"]\n', "utf-8")
    write_pack(project / "skills/gamma", PACK.format("gamma"))

    assert run("show", "alpha").stdout == "# alpha\n"
    assert run("show", "gamma").exit_code == 1
    assert "untrusted" not in run("list").output


@pytest.mark.row("R21")
def test_a_release_that_nobody_named_is_untrusted(project: Path) -> None:
    run("build", "skills", "one")
    assert run("show", "alpha", "skills").exit_code == 0

    assert run("show", "alpha").exit_code != 0


@pytest.mark.row("R21")
@pytest.mark.parametrize("command", ["serve", "build out", "retire gamma"])
def test_what_serves_or_writes_takes_only_what_is_named(
    project: Path, command: str
) -> None:
    write_pack(project / "skills/gamma", PACK.format("gamma"))
    result = run(*command.split())

    assert result.exit_code == 2
    assert f"type: satchel {command} skills\n" in result.stderr


@pytest.mark.parametrize(
    "command", ["list", "list --json", "find x", "show alpha", "prompt", "why x"]
)
def test_without_any_skills_the_line_to_type_is_named(
    command: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "empty").mkdir()
    monkeypatch.chdir(project / "empty")
    result = run(*command.split())

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"satchel {command} PATH" in result.stderr


def test_a_query_without_quotes_gets_them() -> None:
    result = run("find", "use", "it's", "when", "--skills", "one")
    line = result.stderr.partition("type: satchel ")[2].splitlines()[0]

    assert result.exit_code == 2
    assert shlex.split(line) == ["find", "use it's when", "one"]
    assert "./gone" in run("find", "use", "./gone").stderr


@pytest.mark.row("C20")
def test_a_role_in_an_empty_folder_is_one_that_ships(project: Path) -> None:
    result = run("role", "backend")

    assert result.exit_code == 0
    assert result.stdout.startswith('Role: backend. load_skill(name="backend").')
    assert "these packs ship with Satchel" in result.stderr
    assert run("role", "nobody").exit_code == 1


@pytest.mark.row("C20")
def test_a_role_of_a_folder_of_packs(project: Path) -> None:
    write_pack(project / "t/skills/gamma", PACK.format("gamma"))

    for paths in (("one",), ("--skills", "one"), ("--templates", "one")):
        assert 'load_skill(name="alpha")' in run("role", "alpha", *paths).stdout
    assert 'load_skill(name="gamma")' in run("role", "gamma", "t").stdout
    assert run("role", "alpha", "one", "--templates", "one").exit_code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str) -> None:
    result = run("completion", shell)

    assert result.exit_code == 0
    assert "_SATCHEL_COMPLETE" in result.stdout
    assert run("completion", "tcsh").exit_code == 2


def test_skills_of_folders_that_nobody_named_are_completed(project: Path) -> None:
    write_pack(project / "skills/gamma", PACK.format("gamma"))
    environment = {
        "_SATCHEL_COMPLETE": "bash_complete",
        "COMP_WORDS": "satchel show ",
        "COMP_CWORD": "2",
    }
    result = run_process(env=environment)

    assert (result.stdout, result.stderr) == (b"plain,gamma\n", b"")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_quiet_or_verbose_if_asked(name: str) -> None:
    listed = run(name, "--help").stdout

    assert "  -q, --quiet" in listed
    assert "  -v, --verbose" in listed
    for place in (("-q", name), (name, "-q")):
        assert "No such option" not in run(*place, "--help").stderr


def test_quiet_prints_results_and_errors_only(project: Path) -> None:
    write_pack(project / "skills/gamma", PACK.format("gamma"))
    write_pack(project / "bad/delta", "no frontmatter")
    alone, quiet = run("list"), run("-q", "list")

    assert alone.stderr
    assert (quiet.stdout, quiet.stderr) == (alone.stdout, "")
    assert "no-frontmatter" in run("list", "bad", "-q").stderr
    assert run("show", "nobody", "one", "-q").stderr.startswith("error: skill 'nobody'")
    assert run("build", "out", "one", "-q").stderr == ""


def test_verbose_prints_what_was_read_and_every_finding(project: Path) -> None:
    for number in range(12):
        write_pack(project / f"bad/p{number}", "no frontmatter")
    result = run("list", "one", "bad", "-v")

    assert "read one: 1 pack\n" in result.stderr
    assert re.search(r"1 skill listed after \d\.\d{3} s\n", result.stderr)
    assert result.stderr.count("error no-frontmatter") == 12
    assert run("list", "one", "bad").stderr.count("error no-frontmatter") == 10


@pytest.mark.parametrize(
    "command",
    [
        "nonsense",
        "list --nope",
        "show",
        "show nobody one",
        "list gone",
        "check gone",
        "check --format html",
        "find use when",
        "role ../x",
        "build out",
        "diff one gone",
        "serve one --port x",
        "explain nonsense",
        "publish gone public",
    ],
)
def test_every_error_has_one_prefix(command: str) -> None:
    result = run(*command.split())
    first, *rest = result.stderr.splitlines()

    assert result.exit_code in {1, 2}
    assert first.startswith("error: ")
    assert not any(line.lower().startswith("error") for line in rest)
    # Wrong usage is followed by the right one.
    assert [line.partition(" ")[0] for line in rest] in ([], ["Usage:", "Try:"])


def test_the_prefix_is_coloured_on_terminals_only(project: Path) -> None:
    seen = run_terminal("list", "gone", cwd=project)

    assert seen == b"\x1b[31m\x1b[1merror:\x1b[0m gone: no such file or folder\r\n"
    assert b"\x1b" not in run_process("list", "gone").stderr


def test_help_is_grouped_by_what_users_do() -> None:
    lines = run("--help").stdout.splitlines()

    assert [*GROUPS][:5] == ["Look", "Check", "Make", "Install", "Serve"]
    assert [line[:-1] for line in lines if line[:-1] in GROUPS] == [*GROUPS]
