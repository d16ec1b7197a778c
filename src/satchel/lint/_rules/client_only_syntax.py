"""Placeholders in the body that only some clients fill in."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, body, rule
from satchel.model import SKILL_FILE, Finding

_ARGUMENTS: Final = re.compile(r"(?<![\\\w$])\$ARGUMENTS(?:\[\d+\])?(?!\w)")
_VARIABLE: Final = re.compile(
    r"\$\{?(?:CLAUDE_(?:SKILL_DIR|PROJECT_DIR|SESSION_ID|EFFORT|PLUGIN_ROOT|PLUGIN_DATA)"
    r"|KIMI_SKILL_DIR)\b\}?"
)
_BASE: Final = re.compile(r"(?<![{$])\{baseDir\}")
_COMMAND: Final = re.compile(r"(?:^|(?<=[ \t]))!`[^`\n]+`", re.MULTILINE)
_SYNTAX: Final = (
    ("$ARGUMENTS", _ARGUMENTS, "Claude Code"),
    ("CLAUDE_", _VARIABLE, "Claude Code"),
    ("KIMI_SKILL_DIR", _VARIABLE, "Kimi"),
    ("{baseDir}", _BASE, "OpenClaw"),
    ("!`", _COMMAND, "Claude Code"),
)


@rule("client-only-syntax")
def client_only_syntax(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on the first place of each kind; every other client shows it as is.

    Source: the documentation of these clients, read from August to November 2026.
    """
    behind = body(pack)
    for mark, pattern, client in _SYNTAX:
        if mark not in behind.text:
            continue
        match = next(
            (each for each in pattern.finditer(behind.text) if mark in each[0]), None
        )
        if match is not None:
            yield Finding.of(
                "client-only-syntax",
                SKILL_FILE,
                behind.line_at(match.start()),
                text=match[0][:60],
                client=client,
            )
