"""Programs that are downloaded when they are run, in any version."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, body, rule
from satchel.model import SKILL_FILE, Finding

# What all of the words below end in: one quick look at a text that has none of them.
_MARK: Final = re.compile(r"x (?<=(?:np|un|dl|uv|ip)x )")
_RUN: Final = re.compile(
    r"(?<![\w-])(?:npx|bunx|pnpm dlx|yarn dlx|uvx|pipx run)[ \t]+"
    r"(?:-[\w-]+[ \t]+)*"
    r"(?P<package>(?:github:)?@?[A-Za-z][\w.-]*(?:/[A-Za-z][\w.-]*)?(?<![.-]))(?P<version>[@=#]+[\w.^~-]+)?"
    r"(?![\w/<{$*:])"
)
# What precedes it, in its line, where nothing is run; comments too.
_NOT_RUN: Final = re.compile(
    r"^\s*(?:#|//)|\b(?:avoid|don't|e\.g|for example|instead of|never|not|no"
    r"|prohibit\w*|such as|without)\b",
    re.IGNORECASE,
)
# Words that follow the name of a program in a sentence about it.
_PROSE: Final = frozenset(
    [
        *("and", "command", "commands", "for", "in", "is", "or", "package"),
        *("packages", "script", "scripts", "the", "to", "with"),
    ]
)
_BEFORE: Final = len("pnpm dl")
_MAX_CHARS: Final = 200
_UNLESS: Final = ", where the project has none installed"
_MOVES: Final = re.compile(r"@(?:latest|next|alpha|beta|canary|main)\b")


@rule("unpinned-command")
def unpinned_command(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on the first one in the body."""
    # agentskills.io, "Using scripts": pin versions, so that a command does the same
    # later.
    text = body(pack).text
    for mark in _MARK.finditer(text):
        start = max(mark.start() - _BEFORE, 0)
        match = _RUN.search(text, start, mark.end() + _MAX_CHARS)
        if match is None or match.start() > mark.start():
            continue
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _NOT_RUN.search(before) or match["package"] in _PROSE:
            continue
        version = match["version"]
        if version is None or _MOVES.match(version):
            package = match["package"]
            yield Finding.of(
                "unpinned-command",
                SKILL_FILE,
                body(pack).line_at(match.start()),
                command=match[0][:80],
                unless=_UNLESS if match[0].startswith(("npx", "bunx")) else "",
                package=package,
                version="#COMMIT" if package.startswith("github:") else "@VERSION",
            )
            return
