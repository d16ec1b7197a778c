"""A question in the words that a person reads before they answer it."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Final

from satchel.model import Question
from satchel.text import printable

__all__ = ["question_lines", "question_text"]

MAX_ARGUMENT: Final = 1_000
"""Characters of one argument that are shown; a longer one says how much it hides."""
MAX_ARGUMENTS: Final = 20
"""Arguments that are shown; where there are more, their number is."""
MAX_NAME: Final = 100
"""Characters of a name that are shown."""

_VERBS: Final = {"load": "Load", "read": "Read a file of", "script": "Run a script of"}


def question_text(question: Question) -> str:
    """Return a question as a short text of several lines, safe to show anywhere.

    It names the skill, the tool, the arguments, the agent and the reason. Everything
    in it that comes from a pack or a model is JSON without hidden characters, and is
    cut where it is long; what is cut is counted.
    """
    return "\n".join(question_lines(question))


def question_lines(question: Question) -> Iterator[str]:
    """Yield the lines of `question_text`."""
    skill = _shown(question.skill, MAX_NAME)
    if question.tool:
        tool = _shown(question.tool, MAX_NAME)
        yield f"Call the tool {tool} of the skill {skill}?"
    else:
        yield f"{_VERBS.get(question.action, question.action)} the skill {skill}?"
    for name, value in islice(question.arguments.items(), MAX_ARGUMENTS):
        yield f"  {_shown(name, MAX_NAME)}: {_shown(value, MAX_ARGUMENT)}"
    more = len(question.arguments) - MAX_ARGUMENTS
    if more > 0:
        yield f"  and {more:,} more arguments"
    for name, text in (("agent", question.agent), ("because", question.reason)):
        if text:
            yield f"  ({name}: {_cut(printable(text, keep=''), MAX_ARGUMENT)})"


def _shown(value: object, maximum: int) -> str:
    """Return a value as JSON on one line, or about so, with nothing hidden in it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = _represented(value)
    return _cut(printable(text, keep=""), maximum)


def _represented(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - an object's own method
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"


def _cut(text: str, maximum: int) -> str:
    more = len(text) - maximum
    return text if more <= 0 else f"{text[:maximum]}... ({more:,} more characters)"
