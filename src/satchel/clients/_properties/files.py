"""Where a pack is, the name of its file, and its bytes."""

import re
from typing import Final

from satchel.clients._pack import Detector, PackReader

_UTF8_MARK: Final = b"\xef\xbb\xbf"
# What PyYAML's reader refuses.
_CONTROL: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
# Line ends to Python, and text to others.
_ODD_BREAKS: Final = re.compile("[\u2028\u2029]")
_BIG_BODY_BYTES: Final = 1 << 20


def _is_not_utf8(reading: PackReader) -> bool:
    try:
        reading.candidate.data.decode()
    except UnicodeDecodeError:
        return True
    return False


def _has_old_line_ends(reading: PackReader) -> bool:
    data = reading.candidate.data
    return b"\r" in data and b"\n" not in data


DETECTORS: Final[dict[str, Detector]] = {
    "lower-case-file": lambda r: r.candidate.file != "SKILL.md",
    "nested": lambda r: r.candidate.depth == 2,  # noqa: PLR2004
    "deeply-nested": lambda r: r.candidate.depth > 2,  # noqa: PLR2004
    "linked-folder": lambda r: r.candidate.is_link,
    "empty-file": lambda r: not r.candidate.data.strip(),
    "byte-order-mark": lambda r: r.candidate.data.startswith(_UTF8_MARK),
    "windows-line-ends": lambda r: b"\r\n" in r.candidate.data,
    "old-line-ends": _has_old_line_ends,
    "not-utf8": _is_not_utf8,
    "control-character": lambda r: bool(_CONTROL.search(r.head)),
    "control-character-in-body": lambda r: (
        not _CONTROL.search(r.head) and bool(_CONTROL.search(r.body))
    ),
    "odd-line-break": lambda r: bool(_ODD_BREAKS.search(r.head)),
    "next-line-character": lambda r: "\x85" in r.head,
    "not-ascii": lambda r: (
        not r.description.isascii() and not max(r.description) > "\uffff"
    ),
    "emoji": lambda r: not r.description.isascii() and max(r.description) > "\uffff",
    "empty-body": lambda r: r.span is not None and not r.body.strip(),
    "huge-body": lambda r: len(r.candidate.data) > _BIG_BODY_BYTES,
}
