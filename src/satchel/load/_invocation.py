"""A skill as its user calls it: the body with the arguments filled in."""

import re
import shlex
from dataclasses import dataclass, field, replace
from typing import Final

from satchel.load._agent_skills import FOLDERS, StyleOptions
from satchel.load._lean import render_element
from satchel.model import Loaded, Style

_COMMAND: Final = re.compile(r"(?:^|(?<=\s))!`[^`\n]+`|^ {0,3}```!", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FilledBody:
    """A body with its arguments, and sentences on what was left as it was."""

    text: str
    notes: tuple[str, ...] = ()


def fill_arguments(
    body: str,
    arguments: str,
    *,
    names: tuple[str, ...] = (),
    folder: str | None = None,
    session: str = "",
) -> FilledBody:
    """Return ``body`` with its placeholders filled, in a single pass. Never raises.

    ``$ARGUMENTS`` is the whole text as it was typed, ``$ARGUMENTS[0]`` and ``$0`` its
    first word, ``$name`` the word in the place that ``names`` gives it. Words are split
    as a shell does. An index without a word is left as it is, a name without one is
    empty. A single backslash before the ``$`` keeps a placeholder. Where none was
    filled, the arguments follow the body. ``folder`` and ``session`` are for
    ``${SKILL_DIR}``, ``${CLAUDE_SKILL_DIR}`` and ``${CLAUDE_SESSION_ID}``, which stay
    without them.
    """
    values = dict.fromkeys(FOLDERS, folder or "")
    filling = _ArgumentFiller(arguments, names, values | {_SESSION: session})
    # One pass: a placeholder in what a user types is text, and is not filled again.
    text = _pattern(names).sub(filling, body)
    if arguments.strip() and not filling.used:
        before = f"{text.rstrip()}\n\n" if text.strip() else ""
        text = f"{before}ARGUMENTS: {arguments}"
    notes = [f"{name} has no value here and is left as it is" for name in filling.left]
    if filling.split_at_blanks:
        notes.append("the quotes in the arguments do not match; split at blanks")
    # Claude Code runs these; here text of a pack is never a command.
    if _COMMAND.search(body):
        notes.append("commands in the text, !`...` and ```!, are not run")
    return FilledBody(text, tuple(notes))


_SESSION: Final = "${CLAUDE_SESSION_ID}"


class _ArgumentFiller:
    """Replaces each placeholder; remembers what was filled."""

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

    def __call__(self, match: re.Match[str]) -> str:
        variable = match["variable"]
        if variable is not None:
            value = self._values.get(variable, "")
            if not value:
                self.left[variable] = None
            return match[1] + (value or variable)
        if len(match[1]) == 1:
            return match[0][1:]
        argument = self._argument(match)
        if argument is None:
            return match[0]
        self.used = True
        return match[1] + argument

    def _argument(self, match: re.Match[str]) -> str | None:
        name = match["name"]
        if name is not None:
            return self._word(self._names.index(name)) or ""
        index = match["index"] or match["number"]
        return self._arguments if index is None else self._word(int(index))

    def _word(self, index: int) -> str | None:
        # Split when a word is asked for: quotes may be odd where the whole is used.
        if self._words is None:
            try:
                self._words = shlex.split(self._arguments)
            except ValueError:
                self._words = self._arguments.split()
                self.split_at_blanks = True
        return self._words[index] if index < len(self._words) else None


def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds each placeholder with the backslashes before it."""
    # An alternation takes the first name that fits, so `$file-id` has to come before
    # `$file`; without names the group never matches.
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    named = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return re.compile(
        r"(\\*)"
        r"(?:(?P<variable>\$\{(?:CLAUDE_[A-Z_]+|SKILL_DIR)\})"
        r"|\$ARGUMENTS(?:\[(?P<index>[0-9]{1,9})\]|(?!\w))"
        r"|\$(?P<number>[0-9]{1,9})(?!\w)"
        rf"|\$(?P<name>{named})(?!\w))"
    )


@dataclass(frozen=True, slots=True)
class InvokedSkill:
    """What to send as the user's message; ``notes`` tell what was left as it was."""

    id: str
    text: str = field(repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def invoke_skill(
    loaded: Loaded,
    arguments: str,
    names: tuple[str, ...],
    root: str | None,
    style: Style = "agent-skills",
) -> InvokedSkill:
    """Return a loaded skill with its arguments filled in, once, in its envelope."""
    filled = fill_arguments(loaded.body, arguments, names=names, folder=root)
    body = replace(loaded, text=filled.text, body=filled.text)
    notes = (*loaded.notes, *filled.notes)
    options = StyleOptions(envelope="extended", root=root)
    text = render_element(body, options, filled.notes, style=style)
    return InvokedSkill(loaded.id, text, notes)
