"""Marks of a merge that nobody finished."""

from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, decoded_bytes, document, rule
from satchel.model import SKILL_FILE, Finding

_BEGIN: Final = b"<<<<<<< "
_MIDDLE: Final = b"======="
_END: Final = b">>>>>>> "
_MARKDOWN: Final = (".md", ".markdown")


@rule("conflict-marker")
def conflict_marker(pack: LintContext) -> Iterator[Finding]:
    """Yield an error on the first conflict of each file: three marks in order."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        data = decoded_bytes(pack, path)
        # A search for bytes spares most files the look at each line.
        if _BEGIN not in data:
            continue
        for line, lines in _conflicts(data):
            if not _is_shown(pack, path, line, lines):
                yield Finding.of("conflict-marker", path, line)
                break


def _conflicts(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the first line of each conflict, and how many lines follow it."""
    begin = middle = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.startswith(_BEGIN):
            begin, middle = number, 0
        # Alone it may underline a heading, so it counts only after the first mark.
        elif begin and line.rstrip(b"\r") == _MIDDLE:
            middle = number
        elif middle and line.startswith(_END):
            yield begin, number - begin
            begin = middle = 0


def _is_shown(pack: LintContext, path: str, line: int, lines: int) -> bool:
    if not path.lower().endswith(_MARKDOWN):
        return False
    return any(
        block.closed and block.line < line and line + lines < block.line + block.lines
        for block in document(pack, path).blocks
    )
