"""Placeholders in the body that only some clients replace."""

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
    """Yield a note on the first place of each kind; other clients show it as it is."""
    text = body(pack).text
    for mark, pattern, client in _SYNTAX:
        if mark not in text:
            continue
        matches = (match for match in pattern.finditer(text) if mark in match[0])
        match = next(matches, None)
        if match is not None:
            yield Finding.of(
                "client-only-syntax",
                SKILL_FILE,
                body(pack).line_at(match.start()),
                text=match[0][:60],
                client=client,
            )
