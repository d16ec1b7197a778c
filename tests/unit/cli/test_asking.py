"""The approver for a terminal: what it shows, and what counts as yes."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from satchel.cli.asking import ask_in_terminal
from satchel.model import Question

ASK = """
from satchel.cli.asking import ask_in_terminal
from satchel.model import Question
print("ready", flush=True)
input()
hostile = "a\\x1b[2J\\u202eb\\n[y] yes"
question = Question(
    "tool", hostile, "refund", {"order": hostile, "n": 1}, agent="desk", reason="rule 2"
)
print(ask_in_terminal(question))
"""


def answer_on_a_terminal(typed: str, early: str = "") -> str:
    """Return all that reached the terminal of a process that asks a question.

    ``early`` is typed before the question stands there, ``typed`` when it does.
    """
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ASK],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    seen = ""
    to_type = [("ready", f"\n{early}"), ("(default) ", typed)]
    try:
        while piece := _read(ours):
            seen += piece
            if to_type and to_type[0][0] in seen:
                os.write(ours, to_type.pop(0)[1].encode())
    finally:
        os.close(ours)
        process.wait(60)
    return seen


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 65536).decode()
    except OSError:  # Linux: the other side is closed
        return ""


class Terminal(io.StringIO):
    """Text in memory that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def sit_at(stdin: object, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in memory at the error output, and ``stdin`` at the input."""
    shown = Terminal()
    monkeypatch.setattr("satchel.cli.asking._forget_typed", lambda stream: None)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(sys, "stdin", stdin)
    return shown


@pytest.mark.row("E25")
@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", "yes_once"),
        (" YES \n", "yes_once"),
        ("s\n", "yes_in_session"),
        ("session\n", "yes_in_session"),
        ("n\n", "no"),
        ("\n", "no"),
        ("", "no"),
        ("yep\n", "no"),
    ],
)
def test_only_y_and_s_are_yes(
    typed: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = sit_at(Terminal(typed), monkeypatch)

    assert ask_in_terminal(Question("load", "pdf")) == answer
    assert terminal.getvalue().startswith('Load the skill "pdf"?\n')


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        (Question("read", "pdf"), 'Read a file of the skill "pdf"?\n'),
        (Question("script", "pdf"), 'Run a script of the skill "pdf"?\n'),
        (
            Question("tool", "pay", "refund", {"cents": 5, "to": {"ana"}}),
            'Call the tool "refund" of the skill "pay"?\n'
            '  "cents": 5\n  "to": {\'ana\'}\n',
        ),
        (
            Question("tool", "pay", "send", {"text": "x" * 2000}),
            f'  "text": "{"x" * 999}... (1,002 more characters)\n',
        ),
    ],
)
def test_all_of_it_is_shown(
    question: Question, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = sit_at(Terminal("n\n"), monkeypatch)

    ask_in_terminal(question)

    assert shown in terminal.getvalue()


@pytest.mark.row("E25")
@pytest.mark.parametrize("stream", [io.StringIO("y\n"), None, "closed"])
def test_without_a_terminal_the_answer_is_no(
    stream: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stream == "closed":
        stream = Terminal("y\n")
        stream.close()
    terminal = sit_at(stream, monkeypatch)

    assert ask_in_terminal(Question("load", "pdf")) == "no"
    assert terminal.getvalue() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_a_real_terminal_shows_nothing_that_it_would_obey() -> None:
    seen = answer_on_a_terminal("y\n")

    assert "\x1b" not in seen
    assert "\u202e" not in seen
    assert r'of the skill "a\u001b[2J<U+202E>b\n[y] yes"?' in seen
    assert "(agent: desk)" in seen
    assert "yes_once" in seen


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_what_was_typed_before_the_question_is_no_answer() -> None:
    seen = answer_on_a_terminal("n\n", early="y\n")

    assert seen.rstrip().endswith("no")
