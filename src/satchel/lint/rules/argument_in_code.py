"""`$1` in code, which one client fills in."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, rule
from satchel.lint.reading import body
from satchel.model import SKILL_FILE, Finding

__all__ = ["argument_in_code"]

# `$1` of awk, a shell function or SQL: one digit, as no price and no regular
# expression has it, in a line of a code block.
_ARGUMENT: Final = re.compile(r"\$[0-9](?!\w|[.,]\d)(?<![\\\w$]\$[0-9])")
_BLOCK: Final = re.compile(
    r"^(?P<fence>```+|~~~+)[^\n]*\n(?P<code>.*?)^(?P=fence)", re.MULTILINE | re.DOTALL
)


@rule("argument-in-code")
def argument_in_code(pack: Context) -> Iterator[Finding]:
    """Yield a note on the first place where Claude Code puts an argument into code.

    Source: code.claude.com, "Skills": ``$N`` is short for ``$ARGUMENTS[N]``, and is
    replaced wherever it stands when the skill is called with arguments.
    """
    behind = body(pack)
    if "$" not in behind.text or not _ARGUMENT.search(behind.text):
        return
    for block in _BLOCK.finditer(behind.text):
        match = _ARGUMENT.search(block["code"])
        if match:
            yield Finding(
                "argument-in-code",
                "note",
                f"Claude Code puts an argument in place of {match[0]} here, when the "
                "skill is called with some",
                SKILL_FILE,
                behind.line_at(block.start("code") + match.start()),
                fix="put the command into a script of the pack, or write a backslash "
                "before the $",
            )
            return
