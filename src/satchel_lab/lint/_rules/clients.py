"""Text of the body to which only some clients give a meaning."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding, Severity
from satchel_lab.lint._context import LintContext, body, is_about_skills, rule
from satchel_lab.lint._review import block_at

_ENVELOPE: Final = lazy_pattern(
    r"</(?:skill_content|skill_resources|activated_skill|available_skills|skill)\s*>"
    r"|</?system-reminder\s*>",
    re.IGNORECASE,
)


@rule("client-envelope")
def client_envelope(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on the first tag that ends what a client put around the body."""
    # The tags are those of agentskills.io, "Adding skills support", and of what Claude
    # Code and Gemini CLI send. Our own envelope has the code `envelope-breakout`.
    instructions = body(pack)
    match = _ENVELOPE.search(instructions.text)
    if match:
        line = instructions.line_at(match.start())
        yield Finding.of("client-envelope", SKILL_FILE, line, text=match[0])


_ARGUMENTS: Final = lazy_pattern(r"(?<![\\\w$])\$ARGUMENTS(?:\[\d+\])?(?!\w)")
_VARIABLE: Final = lazy_pattern(
    r"\$\{?(?:CLAUDE_(?:SKILL_DIR|SESSION_ID|EFFORT|PLUGIN_ROOT|PLUGIN_DATA)"
    r"|KIMI_SKILL_DIR)\b\}?"
)
_BASE_FOLDER: Final = lazy_pattern(r"(?<![{$])\{baseDir\}")
_INSERTED: Final = lazy_pattern(r"(?:^|(?<=[ \t]))!`[^`\n]+`", re.MULTILINE)
# A row or an item that explains a name: nothing but it, then what it means.
_ROW: Final = lazy_pattern(r"\s*(?:[|*+-]|\d+\.)\s*[`*]*\Z")
_MEANING: Final = lazy_pattern(r"[`*]*\s*(?:[|:=]|[-\u2013\u2014]+\s)")
_SYNTAX: Final = (
    ("$ARGUMENTS", _ARGUMENTS, "Claude Code"),
    ("CLAUDE_", _VARIABLE, "Claude Code"),
    ("KIMI_SKILL_DIR", _VARIABLE, "Kimi"),
    ("{baseDir}", _BASE_FOLDER, "OpenClaw"),
    ("!`", _INSERTED, "Claude Code"),
)


@rule("client-only-syntax", of_skills=True)
def client_only_syntax(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on the first place of each kind; other clients show it as it is."""
    # Not where it is only shown or explained, or where the text says whose it is.
    text = body(pack).text
    for mark, pattern, client in _SYNTAX:
        if mark not in text or client in pack.clients or is_about_skills(pack):
            continue
        matches = (m for m in pattern.finditer(text) if mark in m[0])
        match = next((m for m in matches if not _is_shown(pack, m, client)), None)
        if match is not None:
            at = "client-only-syntax", SKILL_FILE, body(pack).line_at(match.start())
            yield Finding.of(*at, text=match[0][:60], client=client)


def _is_shown(pack: LintContext, match: re.Match[str], client: str) -> bool:
    text = match.string
    block = block_at(pack, SKILL_FILE, body(pack).line_at(match.start()))
    begin = text.rfind("\n", 0, match.start()) + 1
    before, after = text[begin : match.start()], text[match.end() :].partition("\n")[0]
    # Its client, or the plugins that only that one has; the head says whose it all is.
    named = rf"(?i)(?<![$\w{{]){client.partition(' ')[0]}|\bplugins\b(?!/)"
    head = pack.text[: len(pack.text) - len(text)]
    return (
        re.search(named, f"{head}\n{before}{after}") is not None
        or (_ROW.match(before) and _MEANING.match(after)) is not None
        or (block is not None and block.language.startswith(("markdown", "md")))
    )


# `$1` of awk, a shell function or SQL, or a price of one digit: not one that goes on,
# which no client takes for an argument.
_NUMBERED: Final = lazy_pattern(r"\$[0-9](?!\w|[.,]\d)(?<![\\\w$]\$[0-9])")
_MEANT: Final = lazy_pattern(r"(?i)\barg(?:ument)?s?\b|\bpassed\b|\u53c2\u6570")
# What fills it in: awk, a function of a shell, a query. Elsewhere it may be meant.
_FILLED_IN: Final = lazy_pattern(
    r"\b[gmn]?awk\b|\blocal\s+\w+=|^\s*(?:function\s+\w+|\w+\s*\(\)\s*\{)"
    r"|\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|VALUES)\b"
)
_AMOUNT: Final = lazy_pattern(
    r"(?i)\$\d+(?:[.,]\d|\d|[kmb]\b)|\b(?:budget|costs?|fees?|free|pric(?:e|es|ing)|usd"
    r"|(?:per|a)[ -]month)\b|/(?:mo|month|hour|user|year|yr)\b"
    r"|\u4ef7|\u8d39|\u9884\u7b97"
)
# What precedes one that is a part of a path, or is set off.
_NAMED: Final = lazy_pattern(r"[/*`{\"'_=-]\Z")
# Clients that replace nothing, of which a pack speaks that is for them.
_OTHERS: Final = lazy_pattern(
    r"(?i)\b(?:agent[ -]?zero|antigravity|claw\w*|cline|codex|copilot|cursor|gemini"
    r"|goose|hermes|kiro|moltbot|openclaw|opencode|windsurf)\b"
)
# Lines above one that show what fills it in.
_NEAR: Final = 4
# Words that people type behind the name of a skill, mostly.
_FEW_WORDS: Final = 3


@rule("argument-in-code", of_skills=True)
def argument_in_code(pack: LintContext) -> Iterator[Finding]:
    """Yield the first place in code and in text that Claude Code would fill in."""
    # code.claude.com, "Skills": `$N` is short for `$ARGUMENTS[N]`, and is replaced
    # everywhere when the skill is called with arguments.
    text, first = body(pack)
    if not _NUMBERED.search(text) or is_about_skills(pack):
        return
    is_for_others = "claude" not in pack.text.lower() and _OTHERS.search(pack.text)
    if is_for_others or (pack.clients and "Claude Code" not in pack.clients):
        return
    client = pack.manifest.client
    declared = len(client.arguments) or len(client.argument_hint.split())
    seen: set[bool] = set()
    lines = text.split("\n")
    for at, line in enumerate(lines):
        # Where the text speaks of arguments, they are meant.
        if "$" not in line or _MEANT.search("\n".join(lines[max(0, at - 1) : at + 1])):
            continue
        is_code = block_at(pack, SKILL_FILE, first + at) is not None
        if is_code in seen or not _NUMBERED.search(line):
            continue
        near = "\n".join(lines[max(0, at - _NEAR) : at + 1])
        shows = _AMOUNT if not is_code else _FILLED_IN
        for match in _NUMBERED.finditer(line):
            # In text, what few words fill in, and no argument that the pack declares.
            may_be = is_code or (
                int(match[0][1:]) in range(declared, _FEW_WORDS)
                and not _NAMED.search(line[: match.start()])
            )
            around = near[: len(near) - len(line)] + line.replace(match[0], "")
            if not may_be or not shows.search(around):
                continue
            seen.add(is_code)
            severity: Severity | None = None if is_code else "warning"
            yield Finding.of(
                *("argument-in-code", SKILL_FILE, first + at),
                severity=severity,
                text=match[0],
            )
            break
