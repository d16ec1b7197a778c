"""The description: its words, its length, its lines."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    STRICT_DESCRIPTION_CHARS,
    Finding,
)
from satchel.text import EstimateCounter
from satchel_lab.lint._context import LintContext, rule
from satchel_lab.lint._english import is_english, opening_chars

_TESTS: Final = lazy_pattern(r"/(?:fixtures?|tests?|testdata)/")
_CUES: Final = lazy_pattern(
    r"""\b(?:when(?:ever)?|if|before|after|while|during|upon|once|until|unless
    |whether|(?:as\ soon|any\ ?time|every\ time|each\ time)
    |us(?:e|ed|eful|ing)\ (?:it\ |this\ |this\ skill\ |\w+ly\ )?
        (?:for|to|in|on|as|with|at|by|proactively|instead|only|any)
    |(?<![\w,]\ )use\ (?:(?!\.\ )[^;:]){1,60}?\ (?:for|to|in)
    |(?:actions|elements|projects|tasks|topics|queries)(?=\ ?:)
    |use\ cases?|designed\ (?:for|to)|intended\ for|suit(?:ed|able)|ideal\ for
    |perfect\ for|best\ for|good\ for|great\ for|helps?\ with|applies\ (?:to|for)
    |trigger(?:s|ed|ing)?|invok(?:e|ed|es)|activat(?:e|ed|es)|asks?|asked|asking
    |mentions?|mentioned|keywords?|phrases?|not\ for|requested|(?:up)?on\ requests?
    |users?'?s?\ requests?
    |(?<!pull\ )(?<!merge\ )(?<!-)requests?
        \ (?:an?|for|to|like|about|that|involving|help)
    |wants?|needs?|needed|says?|users?\ provides?
    |must\ be|should\ be|required\ for|in\ case|where\ the|scenarios?|for\ tasks?
    |tasks?\ (?:like|such|involving|related|that)|questions?\ about)\b""",
    re.IGNORECASE | re.VERBOSE,
)


@rule("description-lacks-when", of_skills=True)
def description_lacks_when(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on an English description without a word that says when."""
    text, client = pack.manifest.description, pack.manifest.client
    # Nobody chooses what is only there for tests, or what people start by its name.
    if any(_TESTS.search(origin.location) for origin in pack.descriptor.origins):
        return
    by_name = client.argument_hint or client.arguments or not client.model_invocable
    if by_name or client.when_to_use or pack.manifest.trigger_keywords:
        return
    if "$ARGUMENTS" in pack.text:
        return
    if text and not _CUES.search(text) and is_english(text):
        yield pack.finding_at("description-lacks-when", "description")


@rule("description-late-point")
def description_late_point(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where filler takes half of what clients with little room show."""
    room = pack.thresholds.description_point_chars
    text = " ".join(pack.manifest.description.split())
    opening = opening_chars(text) if len(text) > room else 0
    if 0 < room <= 2 * opening:
        yield pack.finding_at(
            "description-late-point", "description", opening=opening, room=room
        )


_OF_STRICT: Final = frozenset(["assets", "references", "scripts", "trigger_keywords"])


@rule("description-limits")
def description_limits(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a length that another profile or client refuses."""
    text = pack.manifest.description
    length = len(" ".join(text.split()))
    shortest, longest = STRICT_DESCRIPTION_CHARS
    if not length or pack.profile == "strict":
        return
    # `long_description` reports these.
    if 0 < pack.thresholds.description_chars < length <= MAX_DESCRIPTION_CHARS:
        return
    # A Chinese or Japanese word has one or two signs.
    wide = any(unicodedata.east_asian_width(char) == "W" for char in text)
    if length < shortest and not wide and "{{" not in text:
        what = "too few to tell when the skill is meant"
    elif len(text) > MAX_DESCRIPTION_CHARS and pack.profile != "spec":
        what = "the public specification refuses more than 1,024"
    # The limits of `strict` are for manifests with fields of its dialect.
    elif length > longest and pack.manifest.frontmatter.keys() & _OF_STRICT:
        what = "profile strict would refuse it"
    else:
        return
    at = "description-limits", "description"
    limits = {"shortest": shortest, "longest": longest}
    yield pack.finding_at(*at, length=length, what=what, **limits)


@rule("long-description")
def long_description(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a valid description over the bound, white space folded."""
    text = " ".join(pack.manifest.description.split())
    bound = pack.thresholds.description_chars
    # Over the limit of the specification, the profile reports it.
    if 0 < bound < len(text) <= MAX_DESCRIPTION_CHARS:
        at, tokens = ("long-description", "description"), EstimateCounter().count(text)
        yield pack.finding_at(*at, count=len(text), tokens=tokens, bound=bound)


# A heading, an item, a quotation, a fence, a rule: after the first line of the text.
_MARKED: Final = lazy_pattern(
    r"(?<=\n)[ \t]*(?:#{1,6}[ \t]|[-*+>][ \t]|\d+[.)][ \t]|```|~~~|---+[ \t]*$)",
    re.MULTILINE,
)


@rule("description-lines")
def description_lines(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a line of the description that begins like Markdown."""
    # Measured: most loaders put line breaks of a description into their prompt as they
    # are.
    text = pack.manifest.description.strip()
    if "\n" not in text:
        return
    match = _MARKED.search(text)
    if match:
        yield pack.finding_at(
            "description-lines", "description", start=match[0].strip()
        )


_TAG: Final = lazy_pattern(r"</?[A-Za-z][^<>\n]{0,60}>")


@rule("description-markup")
def description_markup(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a tag, a note on a single bracket."""
    # platform.claude.com, "Agent Skills", on `description`; `quick_validate.py` of
    # anthropics/skills refuses every bracket.
    text = pack.manifest.description
    if "<" not in text and ">" not in text:
        return
    tag = _TAG.search(text)
    if tag:
        yield pack.finding_at("description-markup", "description", tag=tag[0])
    else:
        yield pack.finding_at(
            "description-markup", "description", severity="note", sentence="bracket"
        )


_PLAIN: Final = lazy_pattern(
    r"^description:[ \t]+(?![\"'>|&*!\[{%@`#])([^\n]*(?:\n[ \t]+[^\n]*)*)", re.MULTILINE
)
_COMMENT: Final = lazy_pattern(r"[ \t](#[^\n]*)")


@rule("description-comment-cut")
def description_comment_cut(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning where a description without quotes contains a space and ``#``."""
    # A comment begins there: every YAML parser drops the rest of the line silently.
    line = pack.line_of("description")
    if line is None or " #" not in pack.text:
        return
    match = _PLAIN.search(pack.text)
    cut = _COMMENT.search(match[0]) if match else None
    if match is None or cut is None or cut[1].rstrip() in pack.manifest.description:
        return
    line += match[0].count("\n", 0, cut.start())
    yield Finding.of("description-comment-cut", SKILL_FILE, line, rest=_shown(cut[1]))


def _shown(text: str, chars: int = 40) -> str:
    text = text.rstrip()
    return repr(text if len(text) <= chars else f"{text[:chars]}...")
