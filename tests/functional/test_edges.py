"""What every command keeps to: statuses, help, advice, and never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner

from satchel.cli import main
from satchel.cli._app import COMMANDS
from satchel.errors import SkillError
from tests.functional.library import run, run_process, write_pack

PACK = "---\nname: alpha\ndescription: Use alpha when testing.\n---\nDo.\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_pack(tmp_path / "skills" / "alpha", PACK)
    return tmp_path / "skills"


@pytest.mark.row("R23")
def test_the_commands_are_these() -> None:
    assert " ".join(COMMANDS) == (
        "list find show prompt role doctor why check predict eval explain diff new "
        "convert pack retire add remove sync verify trust store build publish push "
        "withdraw serve connect cost usage completion"
    )


@pytest.mark.parametrize(("name", "summary"), COMMANDS.items())
def test_every_command_helps_with_examples(name: str, summary: str) -> None:
    """And the overview says what it does."""
    result = run(name, "--help")
    overview = run("--help").stdout

    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert f"satchel {name}" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 88
    assert f"  {name}" in overview
    assert summary in overview
    command = main.get_command(Context(main), name)
    assert command is not None
    assert command.name == name


def test_wrong_usage_is_status_2_and_the_version_a_line() -> None:
    for arguments in (
        *(["xyzzy"], ["list", "--nope"], ["list", "extra"]),
        *(["list", "--skills", ""], ["check", ""]),
    ):
        assert run(*arguments).exit_code == 2, arguments
    assert run("--version").stdout.startswith("satchel 0.")


def test_python_dash_m_is_the_same_command(library: Path) -> None:
    result = run_process("list", "--skills", "skills")

    assert result.returncode == 0
    assert result.stdout.splitlines()[1].split()[0] == b"alpha"


class _Odd(SkillError):
    code = "odd"


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (BrokenPipeError(), 1, ""),
        (_Odd("something\x1b[31m odd"), 1, "error: something<U+001B>[31m odd"),
        (PermissionError(13, "Permission denied"), 2, "Permission denied"),
        (RecursionError("too deep"), 2, "a fault of satchel's own"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_no_error_shows_a_traceback(
    error: BaseException, status: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("satchel.cli._commands.list.open_skills", fail)
    result = run("list")

    assert result.exit_code == status
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert len(result.stderr.splitlines()) <= 1 or not message
    # A pipe that breaks at the end is no reason to complain.
    assert not (result.stderr and isinstance(error, BrokenPipeError))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="its shell closes no streams")
@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("--version", 0),
        ("check skills --strict", 1),
        ("check gone", 2),
        ("show alpha --skills skills", 0),
    ],
)
def test_without_a_stream_the_status_is_the_same(
    arguments: str, status: int, closed: str, library: Path
) -> None:
    write_pack(library / "beta", f"{PACK.replace('alpha', 'beta')}[a](b.md)")
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m satchel {arguments} {closed}', sys.executable],
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == status
    assert b"a fault of" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "arguments", ["find x", "prompt", "cost", "predict --for codex"]
)
def test_a_folder_that_cannot_be_read_is_not_passed_over(
    arguments: str,
    library: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write_pack(library / "closed", PACK.replace("alpha", "closed"))
    scandir = os.scandir

    def refuse(place: str = ".") -> object:
        if str(place).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refuse)
    command, *options = arguments.split()
    result = run(command, *options, "skills")

    line = "skills/closed: error unreadable-folder: cannot be read: Permission denied"
    assert line in result.stderr + caplog.text
    shown = run("show", "closed", "skills").stderr.splitlines()[-1]
    assert (
        shown == "error: 'SKILL.md' of skill 'closed' cannot be read: Permission denied"
    )


@pytest.mark.parametrize("command", ["list", "find x", "cost", "predict --for codex"])
def test_a_pack_that_is_too_large_is_named_and_not_called_missing(
    command: str, library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (library / "alpha/large.bin").open("wb") as file:
        file.truncate(60 << 20)  # more than the limit pack_bytes
    name, *options = command.split()
    result = run(name, *options, "skills")
    messages = result.stderr + caplog.text

    assert "skills/alpha: error limit-exceeded: " in messages
    assert "there is no folder with a SKILL.md" not in messages


def test_what_lies_too_deep_is_no_reason_to_say_more(library: Path) -> None:
    write_pack(library / "a/b/c/d/e/f/deep", PACK.replace("alpha", "deep"))
    shown = run("cost", "skills")

    assert (shown.exit_code, shown.stderr) == (0, "")


def test_a_pipe_that_breaks_is_no_complaint_where_errors_are_status_2(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("satchel_lab.commands._check.CheckRun.run", fail)
    result = run("check", "skills")

    assert (result.exit_code, result.stderr) == (1, "")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["list --skills skills", "explain", "--help"])
def test_a_reader_that_goes_away_hears_no_complaint(
    arguments: str, library: Path
) -> None:
    for number in range(3_000):  # more than a pipe holds
        if "skills" not in arguments:
            break
        write_pack(library / f"p{number}", PACK.replace("alpha", f"p{number}"))
    command = [sys.executable, "-m", "satchel", *arguments.split()]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        message = process.stderr.read()
        process.wait(60)

    assert message == b""


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_output_is_utf_8_in_any_locale(locale: str, library: Path) -> None:
    text = PACK.replace("testing", "testing größe 技能")
    write_pack(library / "alpha", text)
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    result = run_process("list", "--skills", "skills", env=env)

    assert result.returncode == 0
    assert "größe 技能" in result.stdout.decode("utf-8")


@pytest.mark.slow
def test_a_file_name_that_is_no_utf_8_does_no_harm(library: Path) -> None:
    try:
        (library / "alpha" / b"\xff\xfe.md".decode("utf-8", "surrogateescape")).touch()
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    for command in ("list", "list --json", "doctor", "check skills"):
        arguments = command.split()
        if "check" not in arguments:
            arguments += ["--skills", "skills"]
        result = run_process(*arguments)

        assert b"Traceback" not in result.stderr
        assert b"fault" not in result.stderr


@pytest.mark.parametrize(
    ("words", "place", "expected"),
    [
        ("satchel show al", 2, "alpha"),
        ("satchel why ", 2, "alpha"),
        ("satchel explain unlisted", 2, "unlisted-reference"),
        ("satchel do", 1, "doctor"),
        ("satchel show x", 2, ""),  # without sources
    ],
)
def test_the_shell_completes(
    words: str, place: int, expected: str, library: Path
) -> None:
    if expected:
        (library.parent / "satchel.toml").write_text('skills = ["skills"]\n', "utf-8")
    env = {
        "_SATCHEL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(place),
    }
    result = CliRunner().invoke(main, env=env, prog_name="satchel")

    if expected:
        assert f"plain,{expected}" in result.stdout.splitlines()
    else:
        assert result.output.strip() == ""
