"""`satchel convert` as a person meets it: options, tables, and what is refused."""

import json
import os
import shlex
from pathlib import Path

import pytest

from tests.functional.library import run, tree, write_pack

PACK = (
    "---\nname: forms\n"
    "description: Fill in forms. Use when there is one.\nversion: '2'\n---\nBody.\n"
)
FORMATS = Path(__file__).parents[1] / "formats"
ROLE = "You are a tester of what others build. You never fix it yourself.\n"


@pytest.fixture
def folder(here: Path) -> Path:
    write_pack(here / "packs" / "forms", PACK, {"references/a.md": "A\n"})
    return here


@pytest.mark.row("X07", "E13")
def test_the_table_says_what_was_made_and_what_comes_next(folder: Path) -> None:
    result = run("convert", "packs", "--to", "spec", "-o", "out")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "PACK   STATUS     FROM",
        "forms  installed  packs/forms",
        "",
        "1 installed",
        "next: satchel check out",
    ]
    assert run("check", "out").exit_code == 0
    again = run("convert", "packs", "--to", "spec", "-o", "out")
    assert "1 unchanged" in again.stdout


def test_a_pack_that_its_target_would_refuse_is_status_1(folder: Path) -> None:
    """It is written all the same: whether that will do is for its author to say."""
    text = "---\nname: x\ndescription: Use x.\nlicense: MIT\n---\nBody\n"
    write_pack(folder / "one/x", text)

    result = run("convert", "one", "--to", "strict", "-o", "out")

    assert (result.exit_code, Path("out/x/SKILL.md").exists()) == (1, True)
    assert "1 installed; found: 2 errors" in result.stdout


@pytest.mark.row("E13")
def test_a_client_gets_the_exact_bytes_and_nothing_else_is_touched(
    folder: Path,
) -> None:
    command = ("convert", "packs", "--to", "claude")
    skill = folder / ".claude/skills/forms/SKILL.md"

    assert run(*command).exit_code == 0
    assert tree(folder / ".claude/skills") == tree(folder / "packs")
    skill.write_text("mine", "utf-8")
    result = run(*command)
    assert result.exit_code == 1
    assert "error place-taken" in result.stderr
    assert skill.read_text("utf-8") == "mine"
    result = run(*command, "--overwrite")
    assert (result.exit_code, "1 updated" in result.stdout) == (0, True)
    assert tree(folder / ".claude/skills") == tree(folder / "packs")


@pytest.mark.row("E13", "E17")
def test_placeholders_are_filled_only_where_a_value_is_given(folder: Path) -> None:
    body = "{{A}} {{B}}\n"
    head = PACK.replace("Fill in forms. Use when there is one.", '"{{A}}: fill"')
    files: dict[str, str | bytes] = {
        "references/b.md": b"{{A}}\xff",
        "scripts/c.py": body,
    }
    write_pack(
        folder / "packs" / "forms", head + body, {**files, "references/a.md": body}
    )
    exact = tree(folder / "packs")
    command = ("convert", "packs", "--to", "gemini")

    assert run(*command).exit_code == 0
    run(*command, "-o", "x", "--set", "A={{B}}", "--set", "B=")

    assert tree(folder / ".gemini/skills") == exact
    filled = {
        "forms/references/a.md": b"{{B}} \n",
        "forms/SKILL.md": exact["forms/SKILL.md"].replace(body.encode(), b"{{B}} \n"),
    }
    assert tree(folder / "x/.gemini/skills") == exact | filled


@pytest.mark.row("E13")
def test_a_link_does_not_lead_a_conversion_out_of_the_project(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "project").mkdir()
    (folder / "project" / ".claude").symlink_to(folder / "elsewhere")

    result = run("convert", "packs", "--to", "claude", "-o", "project")

    assert result.exit_code == 2
    assert "leads out of it by a link" in result.stderr
    assert list((folder / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("where", [("-o", "out"), ("--in-place",)])
def test_a_dry_run_reports_what_would_be_and_writes_nothing(
    where: tuple[str, ...], folder: Path
) -> None:
    before = tree(folder)
    command = ("convert", "packs", "--to", "spec", "--dry-run", *where)
    in_place = where == ("--in-place",)

    assert "nothing was written" in run(*command).stdout
    assert json.loads(run(*command, "--json").stdout) == {
        "schema_version": 1,
        "written": False,
        "lossless": True,
        "packs": [
            {
                "source": "packs/forms",
                "name": "forms",
                "path": "packs/forms" if in_place else "out/forms",
                "status": "updated" if in_place else "installed",
                "files": 2,
                "findings": [],
            }
        ],
    }
    assert tree(folder) == before


@pytest.mark.row("R37")
def test_the_report_has_the_shape_that_was_released(folder: Path) -> None:
    write_pack(folder / "packs" / "forms", PACK.replace("forms", "Forms"))
    result = run("convert", "packs", "--to", "spec", "-o", "out", "--json")

    printed = json.loads(result.stdout)
    version = printed["schema_version"]
    released = json.loads((FORMATS / f"convert-{version}.json").read_text("utf-8"))
    assert printed.keys() == released.keys()
    assert printed["packs"][0].keys() == released["packs"][0].keys()
    for found in printed["packs"][0]["findings"]:
        assert found.keys() == released["packs"][0]["findings"][0].keys()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["", "--to", "spec"], "the path is empty"),
        (["packs", "-o", "x"], "say what the packs are for"),
        (["packs", "--to", "spec"], "-o DIR, or --in-place"),
        (["packs", "--to", "nobody"], "or a client. All: strict, spec, agents"),
        (["packs", "--to", "amp"], "give it, -o ~"),
        (["packs", "--to", "claude", "--in-place"], "--in-place is for packs"),
        (["packs", "--to", "spec", "-o", "x", "--in-place"], "--in-place is for"),
        (["packs", "--to", "spec", "--in-place", "--set", "A=b"], "not with --in"),
        (["packs", "--to", "spec", "-o", "x", "--set", "A"], "expected NAME=VALUE"),
        (["packs", "--to", "spec", "-o", "x", "--set", "A B=1"], "expected NAME=VALUE"),
        (["packs", "--to", "spec", "-o", "x", "--name", "a"], "--name is for a file"),
        (["packs", "--to", "spec", "-o", "x", "--split"], "--split is for AGENTS.md"),
        (["packs", "--from", "roles"], "nothing of that kind is there"),
    ],
)
def test_what_cannot_be_done_is_reported(
    arguments: list[str], said: str, folder: Path
) -> None:
    before = tree(folder)

    result = run("convert", *arguments)

    assert result.exit_code == 2
    assert said in result.stderr
    assert tree(folder) == before


def test_a_home_is_for_clients_that_look_nowhere_else(folder: Path) -> None:
    assert run("convert", "packs", "--to", "amp", "-o", "home").exit_code == 0
    assert (folder / "home/.config/agents/skills/forms/SKILL.md").is_file()


def test_an_empty_folder_has_nothing_to_convert(folder: Path) -> None:
    Path("none").mkdir()

    result = run("convert", "none", "--to", "spec", "-o", "out")

    assert (result.exit_code, result.stdout) == (0, "\nnothing to convert\n")


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["", "dry"])
@pytest.mark.parametrize("out", ["file", "file/below", "dead", "dead/below"])
def test_where_no_folder_can_be_is_reported_first(
    folder: Path, out: str, dry: tuple[str, ...]
) -> None:
    (folder / "file").touch()
    (folder / "dead").symlink_to("nowhere")

    for target in ("spec", "claude"):
        result = run("convert", "packs", "--to", target, "-o", out, *dry)

        assert result.exit_code == 2
        assert "not a folder" in result.stderr
        assert "Errno" not in result.stderr


@pytest.mark.parametrize("source", [".", "packs"])
def test_a_place_below_the_source_is_not_read(folder: Path, source: str) -> None:
    """The second run finds what the first has made, and leaves it alone."""
    for status in ("installed", "unchanged"):
        result = run("convert", source, "--to", "spec", "-o", f"{source}/about")

        assert result.exit_code == 0
        assert f"1 {status}" in result.stdout
    assert (folder / source / "about/forms/SKILL.md").is_file()


def test_what_is_done_is_reported_before_what_failed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pack(folder / "packs" / "more", PACK.replace("forms", "more"))
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if target.name == "more":
            raise OSError(28, "No space left on device", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)

    result = run("convert", "packs", "--to", "spec", "-o", "out")

    assert result.exit_code == 2
    assert "1 installed" in result.stdout
    assert "No space left" in result.stderr
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["forms"]


@pytest.mark.parametrize(
    ("arguments", "next_command"),
    [
        ("packs --to spec --out a\\ b", "'a b'"),
        ("packs --to spec --out -o", "./-o"),
        ("packs --to spec --out it\\'s", "'it'\"'\"'s'"),
        ("packs --to spec --in-place", "packs"),
        ("packs/forms --to strict --in-place", "packs/forms --profile strict"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_next_command_can_be_typed(arguments: str, next_command: str) -> None:
    """What is changed in place is checked as it was named."""
    result = run("convert", *shlex.split(arguments))

    assert result.stdout.endswith(f"next: satchel check {next_command}\n")


def test_one_rule_may_be_given_a_name(folder: Path) -> None:
    (folder / "x.mdc").write_text("A rule that says what to do.\n", "utf-8")

    result = run("convert", "x.mdc", "--name", "better", "-o", "out")

    assert "1 installed" in result.stdout
    assert (folder / "out/better/SKILL.md").is_file()


@pytest.mark.row("E13")
@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("droid", "factory (Droid)?"),
        ("vscode", "copilot (Copilot and VS Code)?"),
        ("VS Code", "copilot (Copilot and VS Code)?"),
        ("kimi", "amp (Amp and Kimi)?"),
        ("claude-code", "claude (Claude Code)?"),
        ("Claude", "claude (Claude Code)?"),
        ("antigravty", "antigravity (Antigravity)?"),
        ("zzzz", "expected strict, spec or a client."),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_target_may_be_looked_for_by_its_clients_name(
    wanted: str, meant: str
) -> None:
    result = run("convert", "packs", "--to", wanted)

    assert result.exit_code == 2
    assert meant in " ".join(result.stderr.split())


def test_what_is_reported_is_counted_and_quoted_by_lines(folder: Path) -> None:
    (folder / "a.mdc").write_text("---\nglobs: ['*.ts',\nx: 1\n---\nText.\n", "utf-8")

    result = run("convert", "a.mdc", "-o", "out")

    assert "1 installed; found: 1 warning, 1 note\n" in result.stdout
    assert "    was: globs: ['*.ts',\n         x: 1\n" in result.stderr


@pytest.mark.row("C54")
@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("", "old"),
        ("", "old/roles/"),
        ("", "old/roles/qa"),
        ("", "old/roles/qa/system_prompt.md"),
        ("old", "."),
        ("old/roles", "."),
        ("old/roles/qa", "."),
        ("old/roles/qa", "./"),
        ("old/roles/qa", ".."),
        ("old/roles/qa", "system_prompt.md"),
        ("old/roles/qa/more", ".."),
    ],
)
def test_packs_of_roles_go_next_to_the_roles_from_anywhere(
    where: str, source: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "old/roles/qa/more").mkdir(parents=True)
    (folder / "old/roles/qa/system_prompt.md").write_text(ROLE, "utf-8")
    monkeypatch.chdir(folder / where)

    result = run("convert", source)

    assert "1 installed" in result.stdout
    assert [item.name for item in (folder / "old/skills").iterdir()] == ["qa"]
    assert list(tree(folder / "old/roles")) == ["qa/system_prompt.md"]


def test_a_place_that_may_not_be_written_is_reported_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root nothing is closed, so the answer is a fake one."""
    monkeypatch.setattr("os.access", lambda _, mode, **__: mode != os.W_OK)

    result = run("convert", "packs", "--to", "spec", "-o", "out", "--dry-run")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "you may not write here" in result.stderr


@pytest.mark.row("E13", "E17")
@pytest.mark.parametrize(
    ("body", "value", "made", "lines"),
    [
        ("Say {{X}}.", "!`id`", "Say ``!`id` ``.", [5]),
        ("Run !{{X}}.", "`id`", "Run ``!`id` ``.", [5]),
        ("Run !`log {{X}}`.", "$(id)", "Run ``!`log $(id)` ``.", [5]),
        ("Run !`log`, {{X}}.", "v", "Run !`log`, v.", []),
        ("{{X}}", "```!\nid\n```", "``` !\nid\n```", [5]),
        ("```!\nlog {{X}}\n```", "; id", "``` !\nlog ; id\n```", [5]),
        ("```!\nlog\n```\n{{X}}", "v", "```!\nlog\n```\nv", []),
        ("a{{X}}", "\n---\nname: b\n", "a\n---\nname: b\n", []),
    ],
)
def test_no_value_is_ever_run(
    body: str, value: str, made: str, lines: list[int], folder: Path
) -> None:
    head = PACK.removesuffix("Body.\n").replace("version: '2'\n", "")
    write_pack(folder / "packs" / "forms", f"{head}{body}\n")

    command = ("convert", "packs", "--to", "claude", "--set", f"X={value}")
    result = run(*command, "--json")

    (pack,) = json.loads(result.stdout)["packs"]
    assert [finding["line"] for finding in pack["findings"]] == lines
    skill = folder / ".claude/skills/forms/SKILL.md"
    assert skill.read_text("utf-8") == f"{head}{made}\n"


def test_what_a_value_makes_of_a_rule_is_reported_by_lines_of_the_pack(
    folder: Path,
) -> None:
    (folder / "a.mdc").write_text("Say what was done.\n\n{{X}}\n", "utf-8")

    result = run("convert", "a.mdc", "-o", "out", "--set", "X=!`id`")

    assert "out/a/SKILL.md:8: warning command-left: a value" in result.stderr
    lines = (folder / "out/a/SKILL.md").read_text("utf-8").splitlines()
    assert lines[7] == "``!`id` ``"
