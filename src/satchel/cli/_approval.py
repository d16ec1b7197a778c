"""An approver for programs on a terminal: shows the question, and reads y, s or n."""

import sys
import threading
from typing import Final, TextIO

from satchel.model import ApprovalAnswer, Question
from satchel.runtime import question_lines

_ANSWERS: Final[dict[str, ApprovalAnswer]] = {
    "y": "yes_once",
    "yes": "yes_once",
    "s": "yes_in_session",
    "session": "yes_in_session",
}
_terminal: Final = threading.Lock()


def ask_in_terminal(question: Question) -> ApprovalAnswer:
    """Ask the person at the terminal; pass it as ``session(approve=ask_in_terminal)``.

    The question goes to standard error, so that the output may go into a pipe. Text of
    a pack or a model is cleaned of everything that a terminal would obey. What was
    typed before the question is discarded where the system allows it (not on Windows).
    Questions of several threads come one after the other. Any answer but ``y`` or ``s``
    means no; so does a standard input or error that is no terminal.
    """
    # A pipe must not answer: nobody would have read the question.
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        return "no"
    with _terminal:
        _discard_input(sys.stdin)
        for line in question_lines(question):
            sys.stderr.write(f"{line}\n")
        sys.stderr.write("[y] yes, once  [s] yes, for this session  [n] no (default) ")
        sys.stderr.flush()
        return _ANSWERS.get(sys.stdin.readline().strip().lower(), "no")


def _is_terminal(stream: TextIO | None) -> bool:
    """Return whether it is one; a program without a console has no stream at all."""
    return stream is not None and not stream.closed and stream.isatty()


def _discard_input(stream: TextIO) -> None:
    try:
        import termios
    except ImportError:  # Windows
        return
    termios.tcflush(stream, termios.TCIFLUSH)
