"""``satchel role``: the prompt on one stream, where it came from on the other."""

import shlex
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from satchel.cli import main
from tests.fakes import FakeSource, pack
from tests.functional.library import HOSTILE_BYTES, run, run_process, run_terminal
from tests.unit.compat.templates import INDEX, write_role, write_template


@pytest.fixture(autouse=True)
def templates(here: Path) -> Path:
    folder = here / "templates"
    for name in ("analyst", "backend"):
        write_role(folder, name, body="# Do it\n")
    write_template(folder, "qa", "Test {{WHAT}} {{MORE}}.\n!`echo {{WHAT}} ran`\n")
    return folder


@pytest.mark.row("C20", "C56", "X01")
def test_a_pack_gives_the_index_and_the_body_on_request() -> None:
    hint, body = run("role", "backend"), run("role", "backend", "--primary", "body")

    assert (hint.exit_code, body.exit_code) == (0, 0)
    assert hint.stdout == INDEX
    assert hint.stderr == (
        "backend: pack backend, 46 tokens by estimate (UTF-8 bytes / 4)\n"
    )
    assert body.stdout == INDEX.partition("\n")[2] + "\n# Do it\n"


@pytest.mark.row("C21", "C55", "E17")
def test_a_legacy_template_is_rendered_and_reported() -> None:
    result = run("role", "qa", "--set", "WHAT=x", "--set", "WHAT=a=b")

    assert result.exit_code == 0
    assert result.stdout == "Test a=b {{MORE}}.\n!`echo a=b ran`\n"
    assert "deprecated since satchel 0.1, and no longer read from 0.3" in result.stderr
    assert "make a pack of it: satchel convert templates/roles/qa\n" in result.stderr
    assert "template-command" in result.stderr
    assert result.stderr.endswith(
        "qa: legacy template, 9 tokens by estimate (UTF-8 bytes / 4)\n"
    )


@pytest.mark.row("C55", "C54")
def test_the_command_that_is_named_makes_the_pack(tmp_path: Path) -> None:
    """Typed as it is shown, it ends the warning; a blank in the path is no harm."""
    write_template(tmp_path / "my templates", "vp", "You split goals into teams.\n")
    expected = run("role", "vp", "--templates", "my templates").stderr
    command = expected.partition("make a pack of it: satchel ")[2].partition("\n")[0]
    assert command == "convert 'my templates/roles/vp'"

    run(*shlex.split(command))
    result = run("role", "vp", "--templates", "my templates")

    assert result.stdout.startswith('Role: vp. load_skill(name="vp").\nSkills:\n* vp: ')
    assert "legacy-template" not in result.stderr


@pytest.mark.row("G24", "E17")
def test_commands_are_run_with_shell_only() -> None:
    result = run("role", "qa", "--shell", "--set", "WHAT=$(id)", "--set", "MORE=")

    assert result.exit_code == 0
    assert result.stdout == "Test $(id) .\n$(id) ran\n"


@pytest.mark.row("C22")
@pytest.mark.parametrize(
    ("role", "message"),
    [("bakend", "did you mean backend?"), ("vp", "roles here: analyst, backend, qa")],
)
def test_a_role_without_either_is_a_sentence_and_status_1(
    role: str, message: str
) -> None:
    result = run("role", role)

    assert result.exit_code == 1
    assert result.stdout == f"You are a {role} specialist.\n"
    assert result.stderr.splitlines()[-1] == message


def test_many_roles_are_not_all_named(templates: Path, tmp_path: Path) -> None:
    for number in range(20):
        write_role(templates, f"x{number}")
    assert run("role", "vp").stderr.endswith(" and 3 more\n")

    (tmp_path / "empty").mkdir()
    result = run("role", "vp", "--templates", "empty")
    assert result.stderr.endswith("there is no role here\n")
    assert "no-templates" in result.stderr


@pytest.mark.row("C20")
def test_a_broken_pack_is_reported_once_and_status_1(templates: Path) -> None:
    """A broken neighbour is reported, too, and is no failure."""
    (templates / "skills/backend/SKILL.md").write_text("nothing")
    done = run_process("role", "backend")
    neighbour = run("role", "analyst")

    assert done.returncode == 1
    assert done.stdout == b"You are a backend specialist.\n"
    assert done.stderr.count(b"role-pack-unused") == 1
    assert b"    fix: " in done.stderr
    assert neighbour.exit_code == 0
    assert "templates/skills/backend/SKILL.md" in neighbour.stderr


@pytest.mark.row("G15", "G25")
def test_what_it_saves_or_costs_is_reported(templates: Path) -> None:
    write_template(templates, "backend", "You write servers.")
    result = run("role", "backend", "--budget", "none")

    assert result.exit_code == 0
    assert "role-costs-more" in result.stderr
    assert result.stderr.endswith("; its legacy template: 5\n")


@pytest.mark.row("G25")
def test_a_budget_is_obeyed_and_reported() -> None:
    result = run("role", "backend", "--budget", "25")

    assert result.exit_code == 0
    assert result.stdout.startswith(INDEX.partition("\n")[0])
    assert "warning over-budget: 2 skills do not fit 25 tokens" in result.stderr


@pytest.mark.row("G24")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["../x"], "error: '../x' is not the name of a role"),
        ([""], "error: '' is not the name of a role"),
        (["Backend"], "is not the name of a role"),
        (["a\x1b[31m\n"], "is not the name of a role"),
        (["backend", "--templates", "nowhere"], "nowhere: no such file or folder"),
        (["backend", "--templates", ""], "no such file or folder"),
        (["backend", "--templates", __file__], "not a file"),
        (["backend", "--set", "WHAT"], "expected NAME=VALUE; got 'WHAT'"),
        (["backend", "--set", "A B=x"], "expected NAME=VALUE"),
        (["backend", "--budget", "0"], "neither a count"),
        (["backend", "--primary", "none"], "'none' is not one of"),
        ([], "missing argument 'ROLE'"),
    ],
)
def test_what_cannot_be_done_is_status_2(arguments: list[str], message: str) -> None:
    result = run("role", *arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.row("X24")
def test_a_name_that_two_claim_is_status_1_with_the_switch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = FakeSource("plugin:mine", {"backend": {"SKILL.md": pack("backend")}})
    monkeypatch.setattr(
        "satchel_compat._role_library.load_plugin_sources", lambda **_: [plugin]
    )
    result = run("role", "backend")

    assert result.exit_code == 1
    assert "--no-plugins" in result.stderr
    assert run("role", "backend", "--no-plugins").stdout == INDEX
    assert completed("") == ["analyst", "qa"]
    assert len(completed("--no-plugins", "")) == 3


def completed(*arguments: str) -> list[str]:
    completer = ShellComplete(main, {}, "satchel", "_SATCHEL_COMPLETE")
    items = completer.get_completions(["role", *arguments[:-1]], arguments[-1])
    return [item.value for item in items]


def test_roles_are_completed() -> None:
    assert completed("") == ["analyst", "backend", "qa"]
    assert completed("b") == ["backend"]
    assert completed("--templates", "nowhere", "") == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
@pytest.mark.row("G21", "C56")
def test_a_template_is_exact_in_a_pipe_and_safe_on_a_terminal(
    templates: Path, tmp_path: Path
) -> None:
    text = HOSTILE_BYTES.decode().replace("\r", "")
    write_template(templates, "qa", text + "!`\x1b[31m`\n")

    assert run_process("role", "qa").stdout == (text + "!`\x1b[31m`\n").encode()
    seen = run_terminal("role", "qa", cwd=tmp_path)
    assert b"\x1b" not in seen
    assert b"<U+001B>" in seen
