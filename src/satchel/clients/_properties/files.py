"""Where a pack lies, how its file is called, and its bytes."""

import re
from typing import Final

from satchel.clients._pack import PackProperty, PackReader

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


PROPERTIES: Final = (
    PackProperty(
        "lower-case-file",
        "the file is called `skill.md`",
        "call the file SKILL.md",
        lambda r: r.candidate.file != "SKILL.md",
    ),
    PackProperty(
        "nested",
        "the folder lies two levels deep",
        "put the pack's folder right into the library",
        lambda r: r.candidate.depth == 2,  # noqa: PLR2004
    ),
    PackProperty(
        "deeply-nested",
        "the folder lies three levels deep or more",
        "put the pack's folder right into the library",
        lambda r: r.candidate.depth > 2,  # noqa: PLR2004
    ),
    PackProperty(
        "linked-folder",
        "the folder is a symbolic link",
        "put the folder itself there",
        lambda r: r.candidate.is_link,
    ),
    PackProperty(
        "empty-file",
        "the file is empty",
        "write frontmatter and a body",
        lambda r: not r.candidate.data.strip(),
    ),
    PackProperty(
        "byte-order-mark",
        "the file begins with a UTF-8 byte order mark",
        "save the file without a byte order mark",
        lambda r: r.candidate.data.startswith(_UTF8_MARK),
    ),
    PackProperty(
        "windows-line-ends",
        "lines end in CR LF",
        "end lines with a line feed",
        lambda r: b"\r\n" in r.candidate.data,
    ),
    PackProperty(
        "old-line-ends",
        "lines end in CR alone",
        "end lines with a line feed",
        _has_old_line_ends,
    ),
    PackProperty(
        "not-utf8",
        "the file is not UTF-8",
        "save the file as UTF-8",
        _is_not_utf8,
    ),
    PackProperty(
        "control-character",
        "the frontmatter holds a control character",
        "delete the control characters",
        lambda r: bool(_CONTROL.search(r.head)),
    ),
    PackProperty(
        "control-character-in-body",
        "the body holds a NUL or another control character",
        "delete the control characters",
        lambda r: not _CONTROL.search(r.head) and bool(_CONTROL.search(r.body)),
    ),
    PackProperty(
        "odd-line-break",
        "the frontmatter holds a Unicode line separator",
        "write ordinary line ends",
        lambda r: bool(_ODD_BREAKS.search(r.head)),
    ),
    PackProperty(
        "next-line-character",
        "the frontmatter holds the control character NEXT LINE, U+0085",
        "write ordinary line ends",
        lambda r: "\x85" in r.head,
    ),
    PackProperty(
        "not-ascii",
        "the description holds letters outside ASCII",
        "write it in ASCII",
        lambda r: not r.description.isascii() and not max(r.description) > "\uffff",
    ),
    PackProperty(
        "emoji",
        "the description holds an emoji",
        "leave the emoji out",
        lambda r: not r.description.isascii() and max(r.description) > "\uffff",
    ),
    PackProperty(
        "empty-body",
        "nothing stands behind the frontmatter",
        "write a body",
        lambda r: r.span is not None and not r.body.strip(),
    ),
    PackProperty(
        "huge-body",
        "the file is larger than 1 MiB",
        "move most of the body to files beside it",
        lambda r: len(r.candidate.data) > _BIG_BODY_BYTES,
    ),
)
