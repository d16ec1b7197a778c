"""A line on a terminal about what takes long, and nothing anywhere else."""

import io
import time
from types import SimpleNamespace

import pytest

from satchel.cli import _terminal


class Terminal(io.StringIO):
    """Standard error that a person looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(name="seen")
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal, and steps so short that a test need not wait."""
    seen = Terminal()
    monkeypatch.setattr(_terminal, "sys", SimpleNamespace(stderr=seen))
    monkeypatch.setattr(_terminal, "STEP_S", 0.01)
    return seen


def wait_for_line(seen: Terminal, line: str = "reading skills: 0 s") -> None:
    end = time.monotonic() + 30
    while line not in seen.getvalue() and time.monotonic() < end:
        time.sleep(0.005)


def test_what_takes_long_is_shown_and_erased(seen: Terminal) -> None:
    with _terminal.progress("reading skills"):
        wait_for_line(seen)

    line = "reading skills: 0 s"
    assert seen.getvalue().startswith(f"\r{line}")
    assert seen.getvalue().endswith(f"\r{' ' * len(line)}\r")


def test_packs_are_counted(seen: Terminal) -> None:
    with _terminal.progress("reading skills") as count:
        assert count is not None
        for packs in (1, 1_234):
            count(packs)
        wait_for_line(seen, "reading skills: 1,234 packs, 0 s")

    assert "reading skills: 1,234 packs, 0 s" in seen.getvalue()


def test_it_is_erased_before_an_error_is_printed(seen: Terminal) -> None:
    def read() -> None:
        with _terminal.progress("reading skills"):
            wait_for_line(seen)
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        read()

    assert seen.getvalue().endswith(" \r")


def test_what_is_fast_leaves_nothing(
    seen: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_terminal, "STEP_S", 30.0)
    begun = time.monotonic()
    with _terminal.progress("reading skills"):
        pass

    assert not seen.getvalue()
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize("variable", ["_SATCHEL_COMPLETE", ""])
def test_pipes_and_completion_get_nothing(
    seen: Terminal, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    if variable:
        monkeypatch.setenv(variable, "bash_complete")
    else:
        monkeypatch.setattr(Terminal, "isatty", lambda _: False)
    with _terminal.progress("reading skills"):
        time.sleep(0.1)

    assert not seen.getvalue()
