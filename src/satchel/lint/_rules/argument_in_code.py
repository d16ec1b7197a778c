"""`$1` in code, which one client replaces."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, body, document, rule
from satchel.model import SKILL_FILE, Finding

# `$1` of awk, a shell function or SQL: one digit, as no price and no regular
# expression has it, in a line of a code block.
_ARGUMENT: Final = re.compile(r"\$[0-9](?!\w|[.,]\d)(?<![\\\w$]\$[0-9])")


@rule("argument-in-code")
def argument_in_code(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on the first place where Claude Code puts an argument into code."""
    # code.claude.com, "Skills": `$N` is short for `$ARGUMENTS[N]`, and is replaced
    # everywhere when the skill is called with arguments.
    instructions = body(pack)
    if not _ARGUMENT.search(instructions.text):
        return
    lines = instructions.text.split("\n")
    for block in document(pack, SKILL_FILE).blocks:
        begin = block.line - instructions.line + 1
        for number, line in enumerate(lines[begin : begin + block.lines - 1]):
            match = _ARGUMENT.search(line)
            if match:
                yield Finding.of(
                    "argument-in-code",
                    SKILL_FILE,
                    block.line + 1 + number,
                    text=match[0],
                )
                return
