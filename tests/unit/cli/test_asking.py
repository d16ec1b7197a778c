"""The approver for a terminal: what it shows, and what counts as yes."""

import io
import os
import sys
import threading

import pytest

from satchel.cli import ask_in_terminal
from satchel.cli._approval import _discard_input
from satchel.model import Question

HOSTILE = "a\x1b[2J\u202eb\n[y] yes"


def answer_on_a_terminal(
    early: str, typed: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """Return the answer that was read, and all that reached the terminal.

    ``early`` is typed before the question stands there, ``typed`` when it does.
    """
    import pty

    ours, theirs = pty.openpty()
    seen = ""

    def person() -> None:
        nonlocal seen
        while "(default) " not in seen:
            seen += os.read(ours, 65536).decode()
        os.write(ours, typed.encode())

    os.write(ours, early.encode())
    question = Question("tool", HOSTILE, "refund", {"to": HOSTILE}, agent="desk")
    with open(theirs) as stdin, open(theirs, "w", closefd=False) as stderr:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stderr", stderr)
        sitting = threading.Thread(target=person)
        sitting.start()
        answer = ask_in_terminal(question)
        sitting.join()
    os.close(ours)
    return answer, seen


class Terminal(io.StringIO):
    """Text in memory that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def sit_at(stdin: object, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in memory at the error output, and ``stdin`` at the input."""
    shown = Terminal()
    monkeypatch.setattr("satchel.cli._approval._discard_input", lambda _: None)
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
            Question("tool", "pay", "refund", {"cents": 5, "x": 1j}),
            'Call the tool "refund" of the skill "pay"?\n  "cents": 5\n  "x": 1j\n',
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
@pytest.mark.parametrize(
    ("early", "typed", "expected"), [("", "y\n", "yes_once"), ("y\n", "n\n", "no")]
)
def test_a_real_terminal_shows_nothing_that_it_would_obey(
    early: str, typed: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was typed before the question is no answer."""
    answer, seen = answer_on_a_terminal(early, typed, monkeypatch)

    assert "\x1b" not in seen
    assert "\u202e" not in seen
    assert r'of the skill "a\u001b[2J<U+202E>b\n[y] yes"?' in seen
    assert "(agent: desk)" in seen
    assert answer == expected


def test_without_termios_nothing_is_thrown_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on Windows."""
    monkeypatch.setitem(sys.modules, "termios", None)

    _discard_input(io.StringIO("y"))
