"""Where a pack is, its bytes, and the fences of its frontmatter."""

import re
from typing import Final

from satchel_lab.clients._pack import Detector, PackReader

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


_SPACES_AFTER: Final = re.compile(r"\ufeff?---[ \t]+\r?\n")
_LONG_OPENING: Final = re.compile(r"\ufeff?----+[ \t]*\r?\n")
_NOTED_OPENING: Final = re.compile(r"\ufeff?---[ \t]+#[^\n]*\n")
# In the body it is a rule of Markdown; to a lazy loader it closes the frontmatter.
_RULE: Final = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_DASHES: Final = "---"
_ESSENTIAL: Final = frozenset(["name", "description"])


def _closing(reading: PackReader) -> str:
    span = reading.span
    if span is None:
        return ""
    return reading.text[span.end : span.body].rstrip("\r\n")


def _has_later_rule(reading: PackReader) -> bool:
    return bool(_RULE.search(reading.body))


def _is_unfenced(reading: PackReader) -> bool:
    if reading.is_fenced or not reading.candidate.data.strip():
        return False
    return not any(entry.key in _ESSENTIAL for entry in reading.entries)


def _begins_with_space(reading: PackReader) -> bool:
    text = reading.text.removeprefix("\ufeff")
    return text[:1].isspace() and text.lstrip().startswith(_DASHES)


def _dashes_in(reading: PackReader, where: str) -> bool:
    """Whether three dashes are within a line of the frontmatter, in this place."""
    if not reading.is_fenced:
        return False
    at = next((n for n, e in enumerate(reading.entries) if e.key == "description"), -1)
    for number, entry in enumerate(reading.entries):
        if _DASHES in entry.text:
            place = "in" if number == at else "before" if number < at else "after"
            return place == where
    return False


DETECTORS: Final[dict[str, Detector]] = {
    "lower-case-file": lambda r: r.candidate.file != "SKILL.md",
    "nested": lambda r: r.candidate.depth == 2,  # noqa: PLR2004
    "deeply-nested": lambda r: r.candidate.depth > 2,  # noqa: PLR2004
    "linked-folder": lambda r: r.candidate.is_link,
    "empty-file": lambda r: not r.candidate.data.strip(),
    "byte-order-mark": lambda r: r.candidate.data.startswith(_UTF8_MARK),
    "windows-line-ends": lambda r: b"\r\n" in r.candidate.data,
    "old-line-ends": lambda r: (
        b"\r" in r.candidate.data and b"\n" not in r.candidate.data
    ),
    "not-utf8": _is_not_utf8,
    "control-character": lambda r: _CONTROL.search(r.head),
    "control-character-in-body": lambda r: (
        not _CONTROL.search(r.head) and _CONTROL.search(r.body)
    ),
    "odd-line-break": lambda r: _ODD_BREAKS.search(r.head),
    "next-line-character": lambda r: "\x85" in r.head,
    "not-ascii": lambda r: (
        not r.description.isascii() and not max(r.description) > "\uffff"
    ),
    "emoji": lambda r: not r.description.isascii() and max(r.description) > "\uffff",
    "empty-body": lambda r: r.span is not None and not r.body.strip(),
    "huge-body": lambda r: len(r.candidate.data) > _BIG_BODY_BYTES,
    "no-frontmatter": lambda r: (
        _is_unfenced(r)
        and not r.text.startswith(_DASHES)
        and "link-text" not in r.codes
    ),
    "fence-and-no-frontmatter": lambda r: (
        _is_unfenced(r) and r.text.startswith(_DASHES)
    ),
    "link-text": lambda r: "link-text" in r.codes,
    "empty-frontmatter": lambda r: r.problem == "empty-frontmatter" and r.is_fenced,
    "frontmatter-not-mapping": lambda r: (
        r.problem == "frontmatter-not-mapping" and not r.is_broken
    ),
    "no-opening-fence": lambda r: "no-opening-fence" in r.codes,
    "no-closing-fence": lambda r: (
        "no-closing-fence" in r.codes and not _has_later_rule(r)
    ),
    "no-closing-fence-before-a-rule": lambda r: (
        "no-closing-fence" in r.codes and _has_later_rule(r)
    ),
    "blank-before-frontmatter": _begins_with_space,
    "text-before-frontmatter": lambda r: (
        "text-before-frontmatter" in r.codes and not _begins_with_space(r)
    ),
    "frontmatter-in-code-block": lambda r: "frontmatter-in-code-block" in r.codes,
    "blanks-behind-opening-fence": lambda r: _SPACES_AFTER.match(r.text),
    "long-opening-fence": lambda r: _LONG_OPENING.match(r.text),
    "comment-behind-opening-fence": lambda r: _NOTED_OPENING.match(r.text),
    "blanks-behind-closing-fence": lambda r: (
        _closing(r).startswith(_DASHES) and _closing(r)[-1:] in " \t"
    ),
    "long-closing-fence": lambda r: _closing(r).startswith("----"),
    "dots-for-closing-fence": lambda r: (
        _closing(r).startswith("...") and not _has_later_rule(r)
    ),
    "dots-for-closing-fence-before-a-rule": lambda r: (
        _closing(r).startswith("...") and _has_later_rule(r)
    ),
    "nothing-behind-closing-fence": lambda r: (
        r.is_fenced and r.text.endswith(_DASHES) and not r.body
    ),
    "text-behind-closing-fence": lambda r: (
        "text-after-closing-fence" in r.codes and not _has_later_rule(r)
    ),
    "text-behind-closing-fence-before-a-rule": lambda r: (
        "text-after-closing-fence" in r.codes and _has_later_rule(r)
    ),
    "dashes-before-description": lambda r: _dashes_in(r, "before"),
    "dashes-in-description": lambda r: _dashes_in(r, "in"),
    "dashes-behind-description": lambda r: _dashes_in(r, "after"),
    "blank-line-in-frontmatter": lambda r: r.is_fenced and "\n\n" in f"\n{r.head}",
    "comment-in-frontmatter": lambda r: re.search(r"^[ \t]*#", r.head, re.MULTILINE),
}
