"""What a text hides from its reader, and how to show it safely."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from satchel.model import Finding, Severity

# The first byte of UTF-8 sequences, and what must follow for them to be looked at.
_SUSPECT: Final = (
    b"\xc2[\x80-\x9f\xad]",  # C1, soft hyphen
    b"\xcd\x8f",
    b"\xd8\x9c",
    b"\xdc\x8f",
    b"\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])",
    b"\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])",  # joiners, bidi, ends
    b"\xe3\x85\xa4",
    b"\xed[\xa0-\xbf]",  # surrogates
    b"\xee",  # private use
    # Private use, fillers, selectors; an emoji's selector after anything else.
    (
        b"\xef(?:\xb8[\x80-\x8d]|\xbb\xbf|\xbe\xa0|[\x80-\xa3]|\xb7[\x90-\xaf]"
        b"|\xbf[\xb0-\xbb\xbe\xbf]"
        b"|\xb8[\x8e\x8f](?<!\xf0\x9f[\x80-\xab].\xef\xb8.)"
        b"(?<!\xe2(?:\x86[\x90-\xbf]|\x96[\xa0-\xbf]"
        b"|[\x87\x8c-\x8f\x97-\x9e\xac-\xaf].)\xef\xb8.))"
    ),
    b"\xf0(?:\x9b\xb2[\xa0-\xa3]|[\x9f\xaf\xbf]\xbf[\xbe\xbf])",
    b"\xf1",  # planes without characters, tags, private use
    b"\xf2",
    b"\xf3",
    b"\xf4",
)
_LOOKS: Final = {look[0]: lazy_pattern(look, re.DOTALL) for look in _SUSPECT}


def any_look_finds(data: bytes, doubtful: bytes) -> bool:
    """Return whether one of these bytes begins what may be hidden in ``data``."""
    leads = set(doubtful)
    return any(lead not in _LOOKS or _LOOKS[lead].search(data) for lead in leads)


_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS: Final = "\U000e0000-\U000e007f"
_BIDI: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH: Final = "\u00ad\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"
_PRIVATE: Final = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_SURROGATES: Final = "\ud800-\udfff"
_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029"
# Invisible although they are letters or marks, so that isprintable() says yes to them.
_FILLERS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0"
_OTHER: Final = (
    f"{_FILLERS}\u070f\ufff0-\ufffb\ufdd0-\ufdef\U0001bca0-\U0001bca3"
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
_SEQUENCES: Final = "|".join(
    (
        _FLAG,
        f"{_EMOJI}(?:\u200d{_EMOJI})*",
        "[0-9#*]\ufe0f(?=\u20e3)",
        # So that a block within a block does not end the outer one.
        "\u200b(?=```)",
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


_GROUPS: Final = "|".join(f"(?P<{kind}>[{of[1]}])" for kind, of in _KINDS.items())
# Finds hidden characters; ``lastgroup`` None is a sequence to keep. Sequences come
# first, so that no kind matches a part of one.
_SUSPICIOUS: Final = lazy_pattern(rf"{_SEQUENCES}|(?P<space>[\t\n\r])|{_GROUPS}")


# Finds hidden characters, those of sequences to keep among them.
_HIDING: Final = lazy_pattern(f"[{''.join(chars for _, chars in _KINDS.values())}]")


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hidden characters of one kind: how many, and the line of the first, from 1."""

    kind: str
    count: int
    line: int

    @property
    def severity(self) -> "Severity":
        # Nothing but a hidden message is written in tags; all others have an honest
        # use.
        return "error" if self.kind == _KINDS["tag"][0] else "warning"

    def __str__(self) -> str:
        return f"{self.count} {self.kind}{'' if self.count == 1 else 's'}"


def hidden_in(text: str) -> tuple[Hidden, ...]:
    """Return what `find_hidden` does, of a text that may hide something."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    # No sequence to keep spans two lines, and most lines hide nothing.
    for number, line in enumerate(text.split("\n"), 1):
        if (line.isascii() and line.isprintable()) or not _HIDING.search(line):
            continue
        for match in _SUSPICIOUS.finditer(line):
            kind = match.lastgroup
            if kind is not None and kind != "space":
                counts[kind] += 1
                first.setdefault(kind, number)
    return tuple(
        Hidden(name, counts[kind], first[kind])
        for kind, (name, _) in _KINDS.items()
        if kind in counts
    )


INVISIBLE: Final = lazy_pattern(f"[{_FILLERS}{_SELECTORS}]")


def without_hidden(text: str) -> str:
    """Return ``text`` without what it hides."""
    return _SUSPICIOUS.sub(_visible, text)


def with_hidden_shown(text: str, keep: str) -> str:
    """Return ``text`` with code points in the place of what it hides."""

    def show(match: re.Match[str]) -> str:
        if match.lastgroup is None or match[0] in keep:
            return match[0]
        return f"<U+{ord(match[0]):04X}>"

    return _SUSPICIOUS.sub(show, text)


def _visible(match: re.Match[str]) -> str:
    if match.lastgroup is None or match[0].isspace():
        return match[0]  # white space is folded afterwards
    return ""


def hidden_text_findings(text: str, path: str) -> "Iterator[Finding]":
    """Yield one finding for each kind of invisible character; tags are an error."""
    from satchel.model import Finding

    # A byte order mark at the very beginning of a file hides nothing.
    for hidden in hidden_in(text.removeprefix("\ufeff")):
        yield Finding.of(
            "hidden-text", path, hidden.line, severity=hidden.severity, hidden=hidden
        )
