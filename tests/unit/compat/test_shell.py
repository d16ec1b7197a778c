"""One command of a template: its output, or a text that says what went wrong."""

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from satchel_compat import _role_template as shell
from satchel_compat._role_template import run_command


def python(code: str) -> str:
    """Return a command that runs this Python."""
    return shlex.join([sys.executable, "-c", code])


@pytest.mark.row("E17")
def test_the_output_is_trimmed_and_is_text() -> None:
    assert run_command(python("print('\\n ä b \\n')")) == "ä b"
    assert run_command(python("import sys; sys.stdout.buffer.write(b'\\xe4')")) == "ä"
    windows = "import sys; sys.stdout.buffer.write('\ufeffa\\r\\nb'.encode())"
    assert run_command(python(windows)) == "a\nb"
    assert run_command(python("import sys; print(sys.stdin.read() == '')")) == "True"
    assert run_command(python("import sys; print('x', file=sys.stderr)")) == ""


@pytest.mark.row("E17")
def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    show = python("import sys; print(sys.argv[1:])")

    assert run_command(f"{show} $HOME '*' ; touch {trap}") == str(
        ["$HOME", "*", ";", "touch", str(trap)]
    )
    assert not trap.exists()


@pytest.mark.row("E17")
@pytest.mark.parametrize(
    ("command", "what"),
    [
        (python("raise SystemExit(3)"), "failed"),
        ("no-such-command-anywhere", "error"),
        ("unbalanced 'quote", "error"),
        ("", "error"),
        ("a\0b", "error"),
    ],
    ids=["status", "missing", "quote", "empty", "nul"],
)
def test_what_goes_wrong_becomes_a_text(command: str, what: str) -> None:
    assert run_command(command) == f"[shell command {what}: {command}]"


@pytest.mark.row("E17")
@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "import os, time; os.close(1); time.sleep(60)",
        "import subprocess; subprocess.Popen(['sleep', '60'])",
    ],
    ids=["hangs", "closes its output", "leaves a child"],
)
def test_what_takes_too_long_is_ended(code: str) -> None:
    command = python(code)

    text = run_command(command, timeout_s=0.3)

    assert text == f"[shell command timed out: {command}]"


def test_a_flood_is_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "MAX_OUTPUT_BYTES", 1000)
    endless = python("while True: print('y' * 100)")

    assert run_command(endless) == f"[shell command failed: {endless}]"
    assert len(run_command(python("print('y' * 900)"))) == 900


def test_an_interrupt_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command has a session of its own, so that no Ctrl-C reaches it."""
    ended: list[subprocess.Popen[bytes]] = []
    real = shell._end_process

    def end(process: subprocess.Popen[bytes]) -> None:
        real(process)
        ended.append(process)

    def interrupted(reader: object, timeout: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shell, "_end_process", end)
    monkeypatch.setattr(shell._OutputReader, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_command(python("import time; time.sleep(60)"))

    assert [item.returncode for item in ended] == [-signal.SIGKILL]
