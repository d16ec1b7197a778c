"""Paths with backslashes, which only Windows understands."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, documents, rule, text_of
from satchel.model import Finding

_PATH: Final = re.compile(
    r"(?<![\w\\/.:-])(?:\.\\)?(?:references|scripts|assets)(?:\\[\w-][\w.-]*)+\.(\w+)"
)
_SHELLS: Final = frozenset(
    ["bat", "batch", "batchfile", "cmd", "dos", "powershell", "ps", "ps1", "pwsh"]
)
_DRIVE: Final = re.compile(r"(?<![\w/])[A-Za-z]:\\|%\w+%|\$env:", re.IGNORECASE)
_OF_WINDOWS: Final = frozenset(["bat", "cmd", "exe", "ps1", "psm1", "vbs"])


@rule("backslash-path")
def backslash_path(pack: LintContext) -> Iterator[Finding]:
    """Yield each path into the pack with backslashes, but none that is for Windows."""
    for path, document in documents(pack):
        text = text_of(pack, path)
        if not ("references\\" in text or "scripts\\" in text or "assets\\" in text):
            continue
        windows = {
            line
            for block in document.blocks
            if block.info.strip().lower().partition(" ")[0] in _SHELLS
            for line in range(block.line, block.line + block.lines)
        }
        # Lines are counted as the search goes on, once for the whole text.
        number, counted = 1, 0
        for match in _PATH.finditer(text):
            number += text.count("\n", counted, match.start())
            counted = match.start()
            if match[1].lower() in _OF_WINDOWS:
                continue
            if number in windows or _DRIVE.search(_line_at(text, match)):
                continue
            yield Finding.of("backslash-path", path, number, text=match[0])


def _line_at(text: str, match: re.Match[str]) -> str:
    end = text.find("\n", match.end())
    return text[text.rfind("\n", 0, match.start()) + 1 : end if end >= 0 else len(text)]
