"""A skill as its user calls it: the body with the arguments filled in."""

import re
import shlex
from dataclasses import dataclass, field, replace
from typing import Final

from satchel.load._lean import render_element
from satchel.load._tool_backend import FOLDERS, VARIABLE, StyleOptions
from satchel.load._wording import LEFT_AS_IT_IS
from satchel.model import ClientFields, Loaded, Style

_COMMAND: Final = re.compile(r"(?:^|(?<=\s))!`[^`\n]+`|^ {0,3}```!", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FilledBody:
    """A body with its arguments: what was filled, and notes on what was left."""

    text: str
    notes: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()


def fill_arguments(
    body: str,
    arguments: str,
    *,
    names: tuple[str, ...] | None = (),
    folder: str | None = None,
) -> FilledBody:
    """Return ``body`` with its placeholders filled, in a single pass. Never raises.

    ``$ARGUMENTS`` is the whole text as it was typed, ``$ARGUMENTS[0]`` and ``$0`` its
    first word, ``$name`` the word in the place that ``names`` gives it. Words are split
    as a shell does. An index without a word is left as it is, a name without one is
    empty. ``$0`` and its kin are left where ``names`` is None, for a skill declares no
    arguments, and where they are an amount. A single backslash before the ``$`` keeps a
    placeholder. Where none was filled, the arguments follow the body. ``folder`` is for
    ``${SKILL_DIR}`` and ``${CLAUDE_SKILL_DIR}``, which stay without it, as does
    ``${CLAUDE_SESSION_ID}``.
    """
    values: dict[str, str] = dict.fromkeys(FOLDERS, folder or "")
    filling = _ArgumentFiller(arguments, names or (), values)
    # One pass: a placeholder in what a user types is text, and is not filled again.
    text = _pattern(names).sub(filling, body)
    if arguments.strip() and not filling.filled:
        before = f"{text.rstrip()}\n\n" if text.strip() else ""
        text = f"{before}ARGUMENTS: {arguments}"
    notes = [LEFT_AS_IT_IS.format(name) for name in filling.left]
    if names is None and arguments.strip() and (digit := re.search(_DIGIT, body)):
        notes.append(f"{digit[0]} is left as it is: the skill declares no arguments")
    if filling.split_at_blanks:
        notes.append("the quotes in the arguments do not match; split at blanks")
    # Claude Code runs these; here text of a pack is never a command.
    if _COMMAND.search(body):
        notes.append("commands in the text, !`...` and ```!, are not run")
    return FilledBody(text, tuple(notes), tuple(filling.filled))


# Money is no argument: `$1,000`, `$1.50`, `$1 000`, `$5k`, `US$5`.
_DIGIT: Final = (
    r"(?<![A-Z])\$[0-9]{1,9}"
    r"(?!\w|[.,'\u2019][0-9]|[ \u00a0\u202f][0-9]{3}(?![0-9]))"
)


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
        self.filled: dict[str, None] = {}
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
        self.filled[match[0][len(match[1]) :]] = None
        return match[1] + argument

    def _argument(self, match: re.Match[str]) -> str | None:
        name = match["name"]
        if name is not None:
            return self._word(self._names.index(name)) or ""
        index = match["index"] or (match["number"] or "")[1:]
        return self._word(int(index)) if index else self._arguments

    def _word(self, index: int) -> str | None:
        # Split when a word is asked for: quotes may be odd where the whole is used.
        if self._words is None:
            try:
                self._words = shlex.split(self._arguments)
            except ValueError:
                self._words = self._arguments.split()
                self.split_at_blanks = True
        return self._words[index] if index < len(self._words) else None


def _pattern(names: tuple[str, ...] | None) -> re.Pattern[str]:
    """Return what finds each placeholder with the backslashes before it."""
    # An alternation takes the first name that fits, so `$file-id` has to come before
    # `$file`; without names the group never matches.
    longest_first = sorted(filter(None, names or ()), key=len, reverse=True)
    named = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return re.compile(
        r"(\\*)"
        rf"(?:(?P<variable>{VARIABLE})"
        r"|\$ARGUMENTS(?:\[(?P<index>[0-9]{1,9})\]|(?!\w))"
        rf"|(?P<number>{'(?!)' if names is None else _DIGIT})"
        rf"|\$(?P<name>{named})(?!\w))"
    )


@dataclass(frozen=True, slots=True)
class InvokedSkill:
    """What to send as the user's message; ``notes`` say what was filled, and left."""

    id: str
    text: str = field(repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def invoke_skill(
    loaded: Loaded,
    arguments: str,
    client: ClientFields,
    root: str | None,
    style: Style = "agent-skills",
) -> InvokedSkill:
    """Return a loaded skill with its arguments filled in, once, in its envelope."""
    names = client.arguments if client.arguments or client.argument_hint else None
    filled = fill_arguments(loaded.body, arguments, names=names, folder=root)
    body = replace(loaded, text=filled.text, body=filled.text)
    notes = (*loaded.notes, *filled.notes)
    if filled.filled:
        notes += (f"filled in: {', '.join(filled.filled)}",)
    options = StyleOptions(envelope="extended", root=root)
    text = render_element(body, options, filled.notes, style=style)
    return InvokedSkill(loaded.id, text, notes)
