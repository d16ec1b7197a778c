"""Where the frontmatter begins and ends, and what is wrong there."""

import re
from typing import Final

from satchel.clients._pack import PackProperty, PackReader

_BLANKS_BEHIND: Final = re.compile(r"\ufeff?---[ \t]+\r?\n")
_LONG_OPENING: Final = re.compile(r"\ufeff?----+[ \t]*\r?\n")
_NOTED_OPENING: Final = re.compile(r"\ufeff?---[ \t]+#[^\n]*\n")
_RULE: Final = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_DASHES: Final = "---"
_ESSENTIAL: Final = frozenset(["name", "description"])


def _closing(reading: PackReader) -> str:
    """Return the line that closes the frontmatter; empty where there is none."""
    span = reading.span
    if span is None:
        return ""
    return reading.text[span.end : span.body].rstrip("\r\n")


def _has_later_rule(reading: PackReader) -> bool:
    return bool(_RULE.search(reading.body))


def _is_unfenced(reading: PackReader) -> bool:
    """Whether the frontmatter cannot be told by the letter, and is none in prose."""
    if reading.is_fenced or not reading.candidate.data.strip():
        return False
    return not any(each.key in _ESSENTIAL for each in reading.entries)


def _begins_blank(reading: PackReader) -> bool:
    text = reading.text.removeprefix("\ufeff")
    return text[:1].isspace() and text.lstrip().startswith(_DASHES)


def _dashes_in(reading: PackReader, where: str) -> bool:
    """Whether three dashes stand within a line of the frontmatter, and where."""
    if not reading.is_fenced:
        return False
    at = next((n for n, e in enumerate(reading.entries) if e.key == "description"), -1)
    for number, entry in enumerate(reading.entries):
        if _DASHES in entry.text:
            place = "in" if number == at else "before" if number < at else "behind"
            return place == where
    return False


PROPERTIES: Final = (
    PackProperty(
        "no-frontmatter",
        "there is no frontmatter",
        "begin the file with ---, `name:`, `description:`, and --- again",
        lambda r: (
            _is_unfenced(r)
            and not r.text.startswith(_DASHES)
            and "link-text" not in r.codes
        ),
    ),
    PackProperty(
        "fence-and-no-frontmatter",
        "the file begins with --- and has no frontmatter",
        "begin the file with ---, `name:`, `description:`, and --- again",
        lambda r: _is_unfenced(r) and r.text.startswith(_DASHES),
    ),
    PackProperty(
        "link-text",
        "the file holds only a path, as a link does that was checked out as a file",
        "put the file itself there",
        lambda r: "link-text" in r.codes,
    ),
    PackProperty(
        "empty-frontmatter",
        "nothing stands between the fences",
        "write `name:` and `description:` there",
        lambda r: r.problem == "empty-frontmatter" and r.is_fenced,
    ),
    PackProperty(
        "frontmatter-not-mapping",
        "between the fences stands a list or a text",
        "write `name:` and `description:` there",
        lambda r: r.problem == "frontmatter-not-mapping" and not r.is_broken,
    ),
    PackProperty(
        "no-opening-fence",
        "the frontmatter has no opening fence",
        "write --- on a line of its own before it",
        lambda r: "no-opening-fence" in r.codes,
    ),
    PackProperty(
        "no-closing-fence",
        "the frontmatter is never closed",
        "write --- on a line of its own behind it",
        lambda r: "no-closing-fence" in r.codes and not _has_later_rule(r),
    ),
    PackProperty(
        "no-closing-fence-before-a-rule",
        "the frontmatter is not closed, and a rule --- stands further down",
        "write --- on a line of its own behind it",
        lambda r: "no-closing-fence" in r.codes and _has_later_rule(r),
    ),
    PackProperty(
        "blank-before-frontmatter",
        "blank lines stand before the frontmatter",
        "begin the file with the line ---",
        _begins_blank,
    ),
    PackProperty(
        "text-before-frontmatter",
        "a comment or other text stands before the frontmatter",
        "begin the file with the line ---",
        lambda r: "text-before-frontmatter" in r.codes and not _begins_blank(r),
    ),
    PackProperty(
        "frontmatter-in-code-block",
        "the frontmatter stands in a Markdown code block",
        "take the ``` lines away",
        lambda r: "frontmatter-in-code-block" in r.codes,
    ),
    PackProperty(
        "blanks-behind-opening-fence",
        "blanks follow the opening fence",
        "write the line --- without blanks",
        lambda r: bool(_BLANKS_BEHIND.match(r.text)),
    ),
    PackProperty(
        "long-opening-fence",
        "the opening fence has more than three dashes",
        "write three dashes",
        lambda r: bool(_LONG_OPENING.match(r.text)),
    ),
    PackProperty(
        "comment-behind-opening-fence",
        "a comment follows the opening fence",
        "write the line --- alone",
        lambda r: bool(_NOTED_OPENING.match(r.text)),
    ),
    PackProperty(
        "blanks-behind-closing-fence",
        "blanks follow the closing fence",
        "write the line --- without blanks",
        lambda r: _closing(r).startswith(_DASHES) and _closing(r)[-1:] in " \t",
    ),
    PackProperty(
        "long-closing-fence",
        "the closing fence has more than three dashes",
        "write three dashes",
        lambda r: _closing(r).startswith("----"),
    ),
    PackProperty(
        "dots-for-closing-fence",
        "the frontmatter ends with `...`",
        "write --- in place of it",
        lambda r: _closing(r).startswith("...") and not _has_later_rule(r),
    ),
    PackProperty(
        "dots-for-closing-fence-before-a-rule",
        "the frontmatter ends with `...`, and a rule --- stands further down",
        "write --- in place of it",
        lambda r: _closing(r).startswith("...") and _has_later_rule(r),
    ),
    PackProperty(
        "nothing-behind-closing-fence",
        "the file ends at the closing fence, without a line end",
        "end the line of the closing fence",
        lambda r: r.is_fenced and r.text.endswith(_DASHES) and not r.body,
    ),
    PackProperty(
        "text-behind-closing-fence",
        "text follows the closing fence on its line",
        "begin a new line behind ---",
        lambda r: "text-after-closing-fence" in r.codes and not _has_later_rule(r),
    ),
    PackProperty(
        "text-behind-closing-fence-before-a-rule",
        "text follows the closing fence, and a rule --- stands further down",
        "begin a new line behind ---",
        lambda r: "text-after-closing-fence" in r.codes and _has_later_rule(r),
    ),
    PackProperty(
        "dashes-before-description",
        "three dashes stand in a line before the description",
        "write a dash in place of ---",
        lambda r: _dashes_in(r, "before"),
    ),
    PackProperty(
        "dashes-in-description",
        "three dashes stand in the description",
        "write a dash in place of ---",
        lambda r: _dashes_in(r, "in"),
    ),
    PackProperty(
        "dashes-behind-description",
        "three dashes stand in a line behind the description",
        "write a dash in place of ---",
        lambda r: _dashes_in(r, "behind"),
    ),
    PackProperty(
        "blank-line-in-frontmatter",
        "a blank line stands in the frontmatter",
        "take the blank line away",
        lambda r: r.is_fenced and "\n\n" in f"\n{r.head}",
    ),
    PackProperty(
        "comment-in-frontmatter",
        "a comment stands in the frontmatter",
        "take the comment away",
        lambda r: bool(re.search(r"^[ \t]*#", r.head, re.MULTILINE)),
    ),
)
