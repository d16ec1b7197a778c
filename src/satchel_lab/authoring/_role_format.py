"""The roles of an earlier system: their names, and the language of prompts."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from satchel.files import path_problem
from satchel.model import MAX_NAME_CHARS, STRICT_NAME

# The file of a role, in the folder of its name.
SYSTEM_PROMPT: Final = "system_prompt.md"
# Possessive quantifiers: a name without its end is not tried again at every length.
IF: Final = re.compile(r"\{\{#IF\s++(\w++)\}\}")
IF_NOT: Final = re.compile(r"\{\{#IF_NOT\s++(\w++)\}\}")
_END: Final = re.compile(r"\{\{/IF\}\}")
_EITHER_END: Final = re.compile(r"\{\{/IF(?:_NOT)?\}\}")
COMMAND: Final = re.compile(r"!`([^`]++)`")
PLACEHOLDER: Final = re.compile(r"\{\{(\w++)\}\}")


def role_problem(role: str) -> str:
    """Return what is wrong with the name of a role; empty for nothing.

    The rules are those for the name of a pack: a-z, 0-9 and hyphens, a letter first.
    """
    if not role:
        return "it is empty"
    if len(role) > MAX_NAME_CHARS:
        return f"it has {len(role):,} characters, more than {MAX_NAME_CHARS}"
    if not STRICT_NAME.fullmatch(role):
        return "expected a-z, 0-9 and hyphens, and a letter first"
    return path_problem(role)


def fill(text: str, values: Mapping[str, object]) -> str:
    """Return ``text`` with its placeholders filled: the third step."""
    # One pass: a placeholder inside a value is text, and is not filled.
    return PLACEHOLDER.sub(
        lambda match: to_text(values[match[1]]) if match[1] in values else match[0],
        text,
    )


def choose_branches(text: str, decide: Callable[[str], bool | None]) -> str:
    """Keep or remove each block, as ``decide`` says whether its variable has a value.

    Where it says None the block stays with its marks; so does one without an end, and
    all text after it.
    """
    for begins, ends, is_kept in ((IF, _END, True), (IF_NOT, _EITHER_END, False)):
        pieces: list[str] = []
        at = 0
        # Without an end the loop stops: a search from each begin on is quadratic.
        while (begin := begins.search(text, at)) and (
            end := ends.search(text, begin.end())
        ):
            decision = decide(begin[1])
            pieces.append(text[at : begin.start()])
            if decision is None:
                pieces.append(text[begin.start() : end.end()])
            elif decision is is_kept:
                pieces.append(text[begin.end() : end.start()])
            at = end.end()
        text = "".join((*pieces, text[at:]))
    return text


def to_text(value: object) -> str:
    """Return a value as text; None is empty."""
    return "" if value is None else str(value)
