"""What a pack may do to those who use it, hide from them, or give away."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding
from satchel.text import content_warnings, is_text
from satchel_lab.lint._context import (
    LintContext,
    body,
    bytes_of,
    decoded_bytes,
    rule,
    text_of,
)
from satchel_lab.lint._review import PAGES, block_at, is_in_use, review_table


@rule("envelope-breakout", "hidden-text")
def suspicious_content(pack: LintContext) -> Iterator[Finding]:
    """Yield the suspicious content of each text file."""
    # A sync looks only at SKILL.md; a check has the time to look at all files.
    for path in (SKILL_FILE, *pack.descriptor.resources):
        data = bytes_of(pack, path)
        if is_text(data):
            yield from content_warnings(data, path)


_NO_SECRET: Final = lazy_pattern(
    rb"example|placeholder|your|xxxx|0000|1234|abcd|redacted|dummy|fake|sample|test_?key"
    rb"|\.\.\.|\*\*\*",
    re.IGNORECASE,
)
# Different characters of a real secret: twenty random letters have some fourteen.
_MIN_DIFFERENT: Final = 10


def find_secrets(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the line, from 1, and the kind of each secret; never its text."""
    secrets: list[tuple[int, str]] = []
    for shape in review_table()["secret"]:
        # A search for bytes is cheap, and spares most files the pattern, which is
        # compiled (once) only for those that need it.
        if shape["mark"].encode() not in data:
            continue
        kind = shape["kind"]
        for match in re.finditer(shape["pattern"].encode(), data):
            secret = match["secret"]
            # An obvious example is left out: EXAMPLE, a run such as 1234, few
            # characters.
            if len(Counter(secret)) < _MIN_DIFFERENT or _NO_SECRET.search(secret):
                continue
            line = data.count(b"\n", 0, match.start()) + 1
            if (line, kind) not in secrets:
                secrets.append((line, kind))
    yield from sorted(secrets)


@rule("sensitive-pattern")
def sensitive_pattern(pack: LintContext) -> Iterator[Finding]:
    """Yield an error on what has the shape of a secret; never the secret itself."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        for line, kind in find_secrets(decoded_bytes(pack, path)):
            yield Finding.of("sensitive-pattern", path, line, kind=kind)


# What all of the words below end in: one quick look at a text that has none of them.
_RUN_MARK: Final = lazy_pattern(r"x (?<=(?:np|un|dl|uv|ip)x )")
_RUN: Final = lazy_pattern(
    r"(?<![\w-])(?:npx|bunx|pnpm dlx|yarn dlx|uvx|pipx run)[ \t]+"
    r"(?:-[\w-]+[ \t]+)*"
    r"(?P<package>(?:github:)?@?[A-Za-z][\w.-]*(?:/[A-Za-z][\w.-]*)?(?<![.-]))(?P<version>[@=#]+[\w.^~-]+)?"
    r"(?![\w/<{$*:@-])"
)
# What precedes it, in its line, where nothing is run; comments too.
_NOT_RUN: Final = lazy_pattern(
    r"^\s*(?:#|//)|\b(?:avoid|don't|e\.g|for example|instead of|never|not|no"
    r"|prohibit\w*|such as|without)\b",
    re.IGNORECASE,
)
_BEFORE_CHARS: Final = len("pnpm dl")
_RUN_CHARS: Final = 200
# It runs the version that the project has installed, and asks before it fetches one.
_OF_PROJECT: Final = lazy_pattern(r"(?:npx|bunx)[ \t]+(?!-y\b|--yes\b|github:)")
_PLACEHOLDER: Final = lazy_pattern(
    r"(?i)@?(?:my|your|some|the|example|tool|package|command)(?:[-_/].*)?"
)
_MOVES: Final = lazy_pattern(r"@(?:latest|next|alpha|beta|canary|main)\b")


@rule("unpinned-command")
def unpinned_command(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on the first one in the body."""
    # agentskills.io, "Using scripts": pin versions, so that a command does the same
    # later.
    text = body(pack).text
    for mark in _RUN_MARK.finditer(text):
        start = max(mark.start() - _BEFORE_CHARS, 0)
        match = _RUN.search(text, start, mark.end() + _RUN_CHARS)
        if match is None or match.start() > mark.start():
            continue
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        line = body(pack).line_at(match.start())
        # A sentence only names a program, as in "the npx package".
        is_code = before.count("`") % 2 or block_at(pack, SKILL_FILE, line)
        if not is_code or _NOT_RUN.search(before):
            continue
        if _PLACEHOLDER.fullmatch(match["package"]):
            continue
        version = match["version"]
        is_moving = version is not None and _MOVES.match(version)
        if is_moving or (version is None and not _OF_PROJECT.match(match[0])):
            at, package = ("unpinned-command", SKILL_FILE, line), match["package"]
            pin = "#COMMIT" if package.startswith("github:") else "@VERSION"
            command = match[0][:80]
            yield Finding.of(*at, command=command, package=package, version=pin)
            return


_WITH_COMMENTS: Final = (*PAGES, ".html", ".htm", ".svg", ".xml")
_AS: Final = lazy_pattern(r"\bas\s+(\w+)\s*:")
_BRACKETS: Final = lazy_pattern(r"[()\[\]{}\n]|\\\r?\n")
_WORD: Final = lazy_pattern(r"\w+")
# Turns each byte that is not of an ASCII word into a space.
_SPACES: Final = bytes(
    ord(char if char.isascii() and (char.isalnum() or char == "_") else " ")
    for char in map(chr, range(256))
)
# A text in which no value is filled in: its words are no names.
_PLAIN: Final = lazy_pattern(r"'[^'\n${]*'|\"[^\"\n${]*\"")
# Where a command ends, and the next one begins; the end of a line that goes on below.
_NEXT: Final = lazy_pattern(r"&&|\|\||;\s|(?<!\\)(?<!\\\r)\n")
# Bounds of one expression, of the names that it goes through, of one file's findings.
_MOST_CHARS: Final = 2_000
_MOST_ROUNDS: Final = 4
_MOST_ACTS: Final = 100
_SHOWN: Final = 160


@rule(
    *("destructive-command", "downloaded-code", "encoded-code", "environment-sent"),
    *("evaluated-input", "order-in-comment", "unchecked-certificate"),
)
def risky_code(pack: LintContext) -> Iterator[Finding]:
    """Yield each act of the table that is not only shown, or warned of."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        text = text_of(pack, path)
        words = {*_ascii_words(text), ":()" if ":()" in text else ""}
        seen: set[tuple[str, int]] = set()
        for act in review_table()["act"]:
            code, pieces = act["code"], act.get("more", ("",))
            if words.isdisjoint(act["marks"]) or not any(p in text for p in pieces):
                continue
            find = _hidden if "hidden" in act else _acts
            for start, shown in islice(find(act, text), _MOST_ACTS):
                line = text.count("\n", 0, start) + 1
                if (code, line) not in seen and _counts(pack, path, act, start, line):
                    seen.add((code, line))
                    short = " ".join(shown.split())[:_SHOWN]
                    yield Finding.of(
                        *(code, path, line),
                        sentence=act.get("sentence", ""),
                        about=act["about"],
                        text=short,
                    )


def _ascii_words(text: str) -> list[str]:
    """Return the words of ASCII letters, digits and ``_``; other letters end a word."""
    # Some three times as fast as a pattern, and every file of every pack is looked at.
    data = text.encode("utf-8", "surrogatepass").translate(_SPACES)
    return data.decode("ascii").split()


def _counts(
    pack: LintContext, path: str, act: Mapping[str, Any], start: int, line: int
) -> bool:
    if "hidden" in act:
        return path.lower().endswith(_WITH_COMMENTS) and not block_at(pack, path, line)
    if "unless" in act:
        text = text_of(pack, path)
        above = text.rfind("\n", 0, max(text.rfind("\n", 0, start), 0)) + 1
        if re.search(act["unless"], text[above:start]):
            return False
    return is_in_use(pack, path, start, prose="prose" in act)


def _hidden(act: Mapping[str, Any], text: str) -> Iterator[tuple[int, str]]:
    """Yield where a page begins to hide an order, and the order."""
    for match in re.finditer(review_table()["text"]["hidden"], text):
        words = " ".join((match[match.lastindex or 0] or "").split())
        for pattern in act["patterns"]:
            if order := re.search(pattern, words):
                yield match.start(), words[max(0, order.start() - 20) :]


def _acts(act: Mapping[str, Any], text: str) -> Iterator[tuple[int, str]]:
    """Yield where each begins, and its text."""
    origin = re.compile(act.get("source", ""))
    names: set[str] | None = None
    for pattern in act["patterns"]:
        for match in re.compile(pattern, re.MULTILINE).finditer(text):
            start, given = match.start(), ""
            if "before" in act:
                command = _NEXT.split(text[max(0, start - _MOST_CHARS) : start])[-1]
                before = re.search(act["before"], command)
                if before is None:
                    continue
                start -= len(command) - before.start()
            if "source" in act:
                given = _expression(text, match.end())
                names = _names_from(origin, text) if names is None else names
                if names.isdisjoint(_names_in(given)) and not origin.search(given):
                    continue
                if "meant" in act and re.search(act["meant"], given):
                    continue
            yield start, text[start : match.end()] + given


def _expression(text: str, start: int) -> str:
    """Return what follows up to the end of its line, or of the brackets around it."""
    depth = 1 if text[start - 1] == "(" else 0
    ends = depth
    for mark in _BRACKETS.finditer(text, start, start + _MOST_CHARS):
        depth += (mark[0] in "([{") - (mark[0] in ")]}")
        if depth < ends or (mark[0] == "\n" and not depth):
            return text[start : mark.start()]
    return text[start : start + _MOST_CHARS]


def _names_in(text: str) -> list[str]:
    return _WORD.findall(_PLAIN.sub("", text))


def _names_from(origin: re.Pattern[str], text: str) -> set[str]:
    """Return the names that are given what comes from a source, in any order."""
    values = [
        (_WORD.findall(next(filter(None, match.groups()))), value)
        for match in re.finditer(review_table()["text"]["given"], text)
        if (value := _expression(text, match.end()))
    ]
    from_it: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        for names, value in values:
            if origin.search(value) or not from_it.isdisjoint(_names_in(value)):
                from_it |= {*names, *_AS.findall(value)}
    return from_it
