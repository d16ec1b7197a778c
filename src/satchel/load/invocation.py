"""A skill as its user calls it: the body with the arguments put in.

The rules are those of Claude Code, whose documentation of skills is the source of each;
docs/how-to/invoke-skills.md lists them.
"""

import re
import shlex
from dataclasses import dataclass
from typing import Final

from satchel.load.folder import FOLDERS

__all__ = ["Invocation", "render_invocation"]

_COMMAND: Final = re.compile(r"(?:^|(?<=\s))!`[^`\n]+`|^ {0,3}```!", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Invocation:
    """A body with its arguments, and sentences on what was left as it was."""

    text: str
    notes: tuple[str, ...] = ()


def render_invocation(
    body: str,
    arguments: str,
    *,
    names: tuple[str, ...] = (),
    folder: str | None = None,
    session: str = "",
) -> Invocation:
    """Return ``body`` with its placeholders filled, in a single pass. Never raises.

    ``$ARGUMENTS`` is the whole text as it was typed, ``$ARGUMENTS[0]`` and ``$0`` its
    first word, ``$name`` the word in the place that ``names`` gives it. Words are
    split as a shell does, at blanks where its quotes do not match. An index without a
    word is left as it is, a name without one is empty. A single backslash before
    the ``$`` keeps a placeholder. Where none was filled, the arguments, if there are
    some, stand behind the body. What is filled in is never looked at again, and no
    command is ever run.

    Args:
        body: A skill's instructions, without frontmatter.
        arguments: As the user typed them.
        names: The skill's ``arguments``, in their order.
        folder: For ``${SKILL_DIR}`` and ``${CLAUDE_SKILL_DIR}``; None leaves them.
        session: For ``${CLAUDE_SESSION_ID}``; empty leaves it.
    """
    values = dict.fromkeys(FOLDERS, folder or "")
    filling = _Filling(arguments, names, values | {_SESSION: session})
    text = _pattern(names).sub(filling, body)
    if arguments.strip() and not filling.used:
        before = f"{text.rstrip()}\n\n" if text.strip() else ""
        text = f"{before}ARGUMENTS: {arguments}"
    notes = [f"{each} has no value here and is left as it is" for each in filling.left]
    if filling.split_at_blanks:
        notes.append("the quotes in the arguments do not match; split at blanks")
    if _COMMAND.search(body):
        notes.append("commands in the text, !`...` and ```!, are not run")
    return Invocation(text, tuple(notes))


_SESSION: Final = "${CLAUDE_SESSION_ID}"


class _Filling:
    """What stands in the place of each placeholder; remembers what was filled."""

    def __init__(
        self, arguments: str, names: tuple[str, ...], values: dict[str, str]
    ) -> None:
        self._arguments = arguments
        self._names = names
        self._values = values
        self._words: list[str] | None = None
        self.left: dict[str, None] = {}
        self.used = False
        self.split_at_blanks = False

    def __call__(self, found: re.Match[str]) -> str:
        """Return the text for one placeholder."""
        variable = found["variable"]
        if variable is not None:
            value = self._values.get(variable, "")
            if not value:
                self.left[variable] = None
            return found[1] + (value or variable)
        if len(found[1]) == 1:
            return found[0][1:]
        argument = self._argument(found)
        if argument is None:
            return found[0]
        self.used = True
        return found[1] + argument

    def _argument(self, found: re.Match[str]) -> str | None:
        name = found["name"]
        if name is not None:
            return self._word(self._names.index(name)) or ""
        index = found["index"] or found["number"]
        return self._arguments if index is None else self._word(int(index))

    def _word(self, index: int) -> str | None:
        if self._words is None:
            try:
                self._words = shlex.split(self._arguments)
            except ValueError:
                self._words = self._arguments.split()
                self.split_at_blanks = True
        return self._words[index] if index < len(self._words) else None


def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds each placeholder with the backslashes before it."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    named = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return re.compile(
        r"(\\*)"
        r"(?:(?P<variable>\$\{(?:CLAUDE_[A-Z_]+|SKILL_DIR)\})"
        r"|\$ARGUMENTS(?:\[(?P<index>[0-9]{1,9})\]|(?!\w))"
        r"|\$(?P<number>[0-9]{1,9})(?!\w)"
        rf"|\$(?P<name>{named})(?!\w))"
    )
