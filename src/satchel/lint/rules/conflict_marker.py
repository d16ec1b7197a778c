"""What a merge that nobody finished leaves in a file."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, rule
from satchel.lint.reading import bytes_of, document
from satchel.model import SKILL_FILE, Finding

__all__ = ["conflict_marker"]

_BEGIN: Final = b"<<<<<<< "
_CONFLICT: Final = re.compile(
    rb"^<{7} [^\n]*\n(?:(?!<{7} )[^\n]*\n)*?={7}\r?\n(?:(?!<{7} )[^\n]*\n)*?>{7} ",
    re.MULTILINE,
)
_MARKDOWN: Final = (".md", ".markdown")


@rule("conflict-marker")
def conflict_marker(pack: Context) -> Iterator[Finding]:
    """Yield an error on the first conflict of each file.

    All three marks in their order, each at the beginning of a line. A code block of
    Markdown that holds them whole shows what a conflict looks like.
    """
    for path in (SKILL_FILE, *pack.descriptor.resources):
        data = (
            pack.text.encode("utf-8", "replace")
            if path == SKILL_FILE
            else bytes_of(pack, path)
        )
        if _BEGIN not in data:
            continue
        for match in _CONFLICT.finditer(data):
            line = data.count(b"\n", 0, match.start()) + 1
            if not _is_shown(pack, path, line, match[0].count(b"\n")):
                yield Finding(
                    "conflict-marker",
                    "error",
                    "a merge is not finished: both sides and its marks are here",
                    path,
                    line,
                    fix="keep the side that is meant, and take the marks out",
                )
                break


def _is_shown(pack: Context, path: str, line: int, lines: int) -> bool:
    if not path.lower().endswith(_MARKDOWN):
        return False
    return any(
        block.closed and block.line < line and line + lines < block.line + block.lines
        for block in document(pack, path).blocks
    )
