"""Characters that a reader does not see and a model does.

The classes are spelt out rather than asked of `unicodedata`, so that every Python gives
the same answer: the categories Cc, Cf, Co, Cs, Zl and Zp of Unicode 16, the other
default-ignorable characters, and the noncharacters, which XML forbids. The few format
characters with a shape of their own (Arabic number signs, Egyptian joiners, musical
beams) are not among them.

What must stay for a text to be whole is recognised as a sequence: an emoji with its
joiners and selectors, a joiner or non-joiner behind a letter of a script that uses
them, a variation selector behind an ideograph or a mathematical sign.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Final

from satchel.model import Severity
from satchel.text.scan import LEADS

__all__ = ["Hidden", "clean_line", "doubtful", "find_hidden"]

_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS: Final = "\U000e0000-\U000e007f"
_BIDI: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH: Final = "\u00ad\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"
_PRIVATE: Final = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_SURROGATES: Final = "\ud800-\udfff"
_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029"
# Invisible although they are letters or marks, so that isprintable() says yes to them.
_BLANKS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0"
_OTHER: Final = (
    f"{_BLANKS}\u070f\ufff0-\ufffb\ufdd0-\ufdef\U0001bca0-\U0001bca3"
    "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
    + "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
)

_EMOJI: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf"
    "\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
    "[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
)
# England, Scotland and Wales: the only sequences of tags that Unicode recommends.
_FLAG: Final = "\U0001f3f4(?:{})\U000e007f".format(
    "|".join(
        "".join(chr(0xE0000 + ord(letter)) for letter in region)
        for region in ("gbeng", "gbsct", "gbwls")
    )
)
_CJK: Final = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_JOINING_LETTER: Final = (
    "[\u0620-\u06ff\u0710-\u07ff\u0840-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3"
    "\u17b6-\u17ff\u1820-\u18af\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]"
)
_KEPT: Final = "|".join(
    (
        _FLAG,
        f"{_EMOJI}(?:\u200d{_EMOJI})*",
        "[0-9#*]\ufe0f(?=\u20e3)",
        f"{_JOINING_LETTER}[\u200c\u200d](?![\u200c\u200d])",
        "[\u1820-\u18af][\u180b-\u180f](?![\u180b-\u180f])",
        f"[{_CJK}][\U000e0100-\U000e01ef]",
        f"[{_CJK}\u2200-\u22ff\u2a00-\u2aff\u3000-\u303f\uff00-\uff9f][\ufe00-\ufe0d]",
    )
)

# By group of the pattern, gravest first.
_KINDS: Final = {
    "tag": ("tag character", _TAGS),
    "bidi": ("bidirectional control", _BIDI),
    "zero": ("zero-width character", _ZERO_WIDTH),
    "control": ("control character", _CONTROLS),
    "private": ("private-use character", _PRIVATE),
    "surrogate": ("lone surrogate", _SURROGATES),
    "selector": ("variation selector", _SELECTORS),
    "other": ("invisible character", _OTHER),
}


@cache
def doubtful() -> re.Pattern[str]:
    r"""Return what finds doubtful characters, and the sequences that are none.

    A match's ``lastgroup`` is None for a sequence to keep, ``space`` for ``\t``,
    ``\n`` and ``\r``, else a kind of hidden character. Compiled when first needed:
    most texts never ask.
    """
    kinds = "|".join(f"(?P<{name}>[{chars}])" for name, (_, chars) in _KINDS.items())
    return re.compile(rf"{_KEPT}|(?P<space>[\t\n\r])|{kinds}")


@cache
def _hiding() -> re.Pattern[str]:
    """Return what finds hidden characters, those of sequences to keep among them."""
    return re.compile(f"[{''.join(chars for _, chars in _KINDS.values())}]")


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hidden characters of one kind: how many, and the line of the first, from 1."""

    kind: str
    count: int
    line: int

    @property
    def severity(self) -> Severity:
        """An error for tag characters: nothing but a hidden message is written so.

        All others have an honest use somewhere, and are a warning.
        """
        return "error" if self.kind == _KINDS["tag"][0] else "warning"

    def __str__(self) -> str:
        """Return ``3 tag characters``."""
        return f"{self.count} {self.kind}{'' if self.count == 1 else 's'}"


def find_hidden(text: str) -> tuple[Hidden, ...]:
    """Return what ``text`` hides, gravest kind first; nothing in most texts.

    Tabs, line feeds, carriage returns and ordinary spaces of any width hide nothing.
    """
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    hiding = _hiding()
    # No sequence to keep spans two lines, and most lines hide nothing.
    for number, line in enumerate(text.split("\n"), 1):
        if (line.isascii() and line.isprintable()) or not hiding.search(line):
            continue
        for match in doubtful().finditer(line):
            kind = match.lastgroup
            if kind is not None and kind != "space":
                counts[kind] += 1
                first.setdefault(kind, number)
    return tuple(
        Hidden(name, counts[kind], first[kind])
        for kind, (name, _) in _KINDS.items()
        if kind in counts
    )


def clean_line(text: str) -> str:
    """Return ``text`` as one line in which nothing is hidden: the catalog policy.

    Each run of white space becomes one blank, none is left at the ends; hidden
    characters are removed, lone surrogates too. Emoji sequences, and the joiners of
    Persian and Indic words, stay whole. Cleaning twice changes nothing more, and
    `find_hidden` tells what was removed.
    """
    # rfind() takes two thirds of the time of `in`.
    if _is_clean(text) and text.rfind("  ") < 0 and text.strip() is text:
        return text
    folded = " ".join(text.split())
    if _is_clean(folded):
        return folded
    return " ".join(doubtful().sub(_seen, text).split())


# White space to fold begins with the same bytes as what is hidden.
_HARMLESS: Final = bytes({*range(0x20, 0x100)} - {0x7F, *LEADS})
_SHORT_CHARS: Final = 100
"""Up to here isprintable() is quicker than a detour over bytes."""


def _is_clean(text: str) -> bool:
    """Tell whether nothing is hidden and all white space is blanks."""
    # isprintable() is false for all of Cc, Cf, Cn, Co, Cs and Z* but the blank.
    if len(text) < _SHORT_CHARS and text.isascii():
        return text.isprintable()
    left = text.encode("utf-8", "surrogatepass").translate(None, _HARMLESS)
    if not left:
        return True
    # The blank letters, which isprintable() lets pass, begin with none of these two.
    return text.isprintable() and not (
        left.strip(b"\xe2\xf0") and _blanks().search(text)
    )


@cache
def _blanks() -> re.Pattern[str]:
    return re.compile(f"[{_BLANKS}{_SELECTORS}]")


def _seen(match: re.Match[str]) -> str:
    if match.lastgroup is None or match[0].isspace():
        return match[0]  # white space is folded afterwards
    return ""
