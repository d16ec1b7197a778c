"""Wrong folders, files and settings are a sentence and a status, in every command."""

from pathlib import Path

import pytest

from tests.functional.library import run, write_pack

OK = (
    "---\nname: ok\ndescription: Fills in forms. Use when a form must be filled in.\n"
    "---\n# OK\n\nDo it.\n"
)
COMMANDS = {
    "list": ("list", "--skills"),
    "find": ("find", "x", "--skills"),
    "show": ("show", "ok", "--skills"),
    "prompt": ("prompt", "--skills"),
    "doctor": ("doctor", "--skills"),
    "why": ("why", "ok", "--skills"),
    "build": ("build", "out", "--skills"),
    "retire": ("retire", "ok", "--skills"),
    "serve": ("serve", "--skills"),
    "check": ("check",),
    "diff": ("diff", "skills"),
    "convert": ("convert", "--to", "strict", "-o", "out"),
    "pack": ("pack",),
}


@pytest.fixture(autouse=True)
def project(here: Path) -> Path:
    write_pack(here / "skills/ok", OK)
    (here / "file.txt").write_text("x\n", "utf-8")
    (here / "dangling").symlink_to("nowhere")
    (here / "empty").mkdir()
    return here


@pytest.mark.row("F14", "F13")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["nope", "file.txt", "dangling"])
def test_a_place_that_is_none_is_status_2_and_named(command: str, place: str) -> None:
    result = run(*COMMANDS[command], place)

    assert result.exit_code == 2
    assert place in result.stderr
    assert "Traceback" not in result.output
    assert "Errno" not in result.output


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--config", "empty"),
        ("--baseline", "empty"),
        ("--also", "json=empty"),
        ("--config", "bad.toml"),
        ("--baseline", "bad.toml"),
        ("--config", "nope.toml"),
        ("--baseline", "nope.json"),
    ],
)
def test_a_file_of_a_check_that_is_none_is_a_sentence(
    project: Path, arguments: tuple[str, ...]
) -> None:
    (project / "bad.toml").write_bytes(b"\xff\xfe")

    result = run("check", "skills", *arguments)

    assert result.exit_code == 2
    assert arguments[1].removeprefix("json=") in result.stderr
    assert "Errno" not in result.stderr
    assert "codec" not in result.stderr


@pytest.mark.row("F14", "F58")
def test_a_folder_that_satchel_toml_names_must_be_there(project: Path) -> None:
    (project / "satchel.toml").write_text('skills = ["nowhere"]\n', "utf-8")

    for command in ("check", "list"):
        result = run(command)
        assert result.exit_code == 2
        assert "nowhere: no such file or folder" in result.stderr


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("chek", "skills"), "check"),
        (("check", "--profil", "spec"), "--profile"),
        (("check", "--profile", "strickt"), "strict"),
        (("check", "--format", "jsn"), "json"),
        (("check", "--fail-on", "eror"), "error"),
        (("check", "skills", "--select", "mising-h1"), "missing-h1"),
        (("check", "skills", "--for", "clade"), "claude-code"),
        (("convert", "skills", "--to", "claud"), "claude"),
        (("convert", "skills", "--from", "cursr"), "cursor"),
        (("explain", "mising-h1"), "missing-h1"),
        (("show", "okk", "--skills", "skills"), "ok"),
        (("show", "ok", "--refrence", "a"), "--reference"),
        (("show", "ok", "--envelope", "xm"), "xml"),
        (("prompt", "--format", "xml"), "xml-id"),
        (("connect", "clade"), "claude"),
        (("why", "okk", "--skills", "skills"), "ok"),
        (("new", "x", "--template", "role:bakend"), "backend"),
    ],
)
def test_a_typo_names_what_was_meant(arguments: tuple[str, ...], meant: str) -> None:
    result = run(*arguments)

    assert result.exit_code in {1, 2}
    assert meant in result.output
    assert "Traceback" not in result.output
