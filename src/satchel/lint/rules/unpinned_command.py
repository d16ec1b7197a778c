"""Programs that are fetched as they are run, in whatever version there is."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, rule
from satchel.lint.reading import body
from satchel.model import SKILL_FILE, Finding

__all__ = ["unpinned_command"]

# What all of the words below end in: one quick look at a text that has none of them.
_MARK: Final = re.compile(r"x (?<=(?:np|un|dl|uv|ip)x )")
_RUN: Final = re.compile(
    r"(?<![\w-])(?:npx|bunx|pnpm dlx|yarn dlx|uvx|pipx run)[ \t]+"
    r"(?:-[\w-]+[ \t]+)*"
    r"(?P<package>@?[A-Za-z][\w.-]*(?:/[A-Za-z][\w.-]*)?(?<![.-]))(?P<version>[@=]+[\w.^~-]+)?"
    r"(?![\w/<{$*])"
)
_BEFORE: Final = len("pnpm dl")
_MAX_CHARS: Final = 200
_UNLESS: Final = ", where the project has none installed"
_MOVES: Final = re.compile(r"@(?:latest|next|alpha|beta|canary|main)\b")


@rule("unpinned-command")
def unpinned_command(pack: Context) -> Iterator[Finding]:
    """Yield a note on the first one in the body.

    Source: agentskills.io, "Using scripts": pin versions, so that a command does the
    same tomorrow.
    """
    behind = body(pack)
    for mark in _MARK.finditer(behind.text):
        start = max(mark.start() - _BEFORE, 0)
        match = _RUN.search(behind.text, start, mark.end() + _MAX_CHARS)
        if match is None or match.start() > mark.start():
            continue
        version = match["version"]
        if version is None or _MOVES.match(version):
            yield Finding(
                "unpinned-command",
                "note",
                f"{match[0][:80]!r} fetches and runs whatever version is newest"
                + (_UNLESS if match[0].startswith(("npx", "bunx")) else ""),
                SKILL_FILE,
                behind.line_at(match.start()),
                fix=f"name the version that you tried: {match['package']}@VERSION",
            )
            return
