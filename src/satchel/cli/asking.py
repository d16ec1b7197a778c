"""An approver for programs on a terminal: shows what is asked, and reads y, s or n."""

import json
import sys
import threading
from collections.abc import Iterator
from typing import Final, TextIO

from satchel.model import Answer, Question
from satchel.text import printable

__all__ = ["ask_in_terminal"]

_ANSWERS: Final[dict[str, Answer]] = {
    "y": "yes_once",
    "yes": "yes_once",
    "s": "yes_in_session",
    "session": "yes_in_session",
}
_LONGEST: Final = 1000
"""Characters of one argument that are shown; a longer one says how much it hides."""

_terminal: Final = threading.Lock()


def ask_in_terminal(question: Question) -> Answer:
    """Ask whoever sits at the terminal; the answer to hand to ``session(approve=...)``.

    The question goes to standard error, so that output may go into a pipe. What came
    from a pack or a model is cleaned of all that a terminal would obey. What was typed
    before the question is thrown away where the system allows it (not on Windows).
    Questions of several threads come one after the other. Anything but ``y`` or ``s``
    is no, and so is a standard input or error that is no terminal.
    """
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        return "no"
    with _terminal:
        _forget_typed(sys.stdin)
        for line in _lines(question):
            sys.stderr.write(f"{line}\n")
        sys.stderr.write("[y] yes, once  [s] yes, for this session  [n] no (default) ")
        sys.stderr.flush()
        return _ANSWERS.get(sys.stdin.readline().strip().lower(), "no")


def _lines(question: Question) -> Iterator[str]:
    skill = _shown(question.skill)
    if question.tool:
        yield f"Call the tool {_shown(question.tool)} of the skill {skill}?"
    else:
        verbs = {"load": "Load", "read": "Read a file of", "script": "Run a script of"}
        verb = verbs.get(question.action, question.action)
        yield f"{verb} the skill {skill}?"
    for name, value in question.arguments.items():
        yield f"  {_shown(name)}: {_cut(_shown(value))}"
    for name, value in (("agent", question.agent), ("because", question.reason)):
        if value:
            yield f"  ({name}: {printable(value, keep='')})"


def _shown(value: object) -> str:
    """Return a value as JSON on one line, or about so, with nothing hidden in it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return printable(text, keep="")


def _cut(text: str) -> str:
    more = len(text) - _LONGEST
    return text if more <= 0 else f"{text[:_LONGEST]}... ({more:,} more characters)"


def _is_terminal(stream: TextIO | None) -> bool:
    """Tell whether it is one; a program without a console has no stream at all."""
    return stream is not None and not stream.closed and stream.isatty()


def _forget_typed(stream: TextIO) -> None:
    try:
        import termios
    except ImportError:  # Windows
        return
    termios.tcflush(stream, termios.TCIFLUSH)
