"""What reaches a terminal, and what reaches a pipe."""

import os
import sys
from typing import NoReturn

import pytest

from satchel.cli import _terminal as output


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "on_terminal", lambda: True)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [("40", 40), ("0", 97), ("-3", 97), ("wide", 97), ("", 97)],
)
def test_the_width_is_what_somebody_says_else_the_terminals(
    columns: str, expected: int, terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    size = os.terminal_size((97, 24))
    monkeypatch.setattr(os, "get_terminal_size", lambda _: size)

    assert output.width() == expected


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_pipe_or_a_terminal_that_does_not_tell_has_no_width(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> NoReturn:
        raise OSError

    monkeypatch.setattr(output, "on_terminal", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    monkeypatch.setattr(os, "get_terminal_size", refuse)

    assert output.width() is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc\n", "a\tb\nc\n"),
        ("no line end", "no line end\n"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("over\rwrite", "over<U+000D>write\n"),
        ("\x1b[31m\u202e", "<U+001B>[31m<U+202E>\n"),
    ],
)
def test_text_on_a_terminal(
    text: str, shown: str, terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    output.write_text(text)

    assert capsys.readouterr().out == shown


def test_text_into_a_pipe_is_exact(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    text = "a\r\n\x1b[31m\u202e no line end"
    output.write_text(text)
    output.write_text("read as bytes", b"\xff\x00")

    assert capsysbinary.readouterr().out == text.encode() + b"\xff\x00"


def test_json_is_printable_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    output.echo_json({"text": "ü\x1b\x7f\u202e\ud800"})

    assert capsys.readouterr().out == (
        '{\n  "schema_version": 1,\n'
        '  "text": "\\u00fc\\u001b\\u007f\\u202e\\ud800"\n}\n'
    )
