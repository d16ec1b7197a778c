"""What a text hides from its reader, and how to show it safely."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.lazy import lazy_pattern
from satchel.text._encoding import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
# First bytes of the sequences among which the hidden ones are.
LEADS: Final = bytes(_LOOKS)

# Only these and control characters are left when the harmless bytes are deleted.
_NEEDLESS: Final = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})
_HARMLESS: Final = bytes({*range(0x100)} - {*_NEEDLESS, *LEADS})

# Tags of the envelope that a text could close, or open again, from within.
_BREAKOUT: Final = (
    r"<\s*(?:/\s*(?:instructions|execution_directive|skill_context)"
    r"|(?:execution_directive|active_resources|skill_context))\b"
)
_BREAKOUT_BYTES: Final = re.compile(_BREAKOUT.encode(), re.IGNORECASE)
_BREAKOUT_TEXT: Final = re.compile(_BREAKOUT, re.IGNORECASE | re.ASCII)


def may_hide(data: bytes) -> bool:
    """Return whether ``data`` may contain characters that `find_hidden` finds."""
    doubtful = set(data.translate(None, _HARMLESS))
    return any(byte not in _LOOKS or _LOOKS[byte].search(data) for byte in doubtful)


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


def find_hidden(text: str) -> tuple[Hidden, ...]:
    """Return what ``text`` hides, gravest kind first; nothing in most texts.

    Tabs, line feeds, carriage returns and ordinary spaces of any width hide nothing.
    """
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


def clean_line(text: str) -> str:
    """Return ``text`` as one line in which nothing is hidden: the catalog policy.

    Each run of white space becomes one space, none is left at the ends; hidden
    characters are removed, lone surrogates too. Emoji sequences, and the joiners of
    Persian and Indic words, stay whole. Cleaning twice changes nothing more, and
    `find_hidden` reports what was removed.
    """
    # rfind() takes two thirds of the time of `in`.
    if _is_clean(text) and text.rfind("  ") < 0 and text.strip() is text:
        return text
    folded = " ".join(text.split())
    if _is_clean(folded):
        return folded
    return " ".join(_SUSPICIOUS.sub(_visible, text).split())


# White space to fold begins with the same bytes as what is hidden.
_VISIBLE_BYTES: Final = bytes({*range(0x20, 0x100)} - {0x7F, *LEADS})
_INVISIBLE: Final = lazy_pattern(f"[{_FILLERS}{_SELECTORS}]")
# Up to here isprintable() is quicker than a detour over bytes.
_SHORT_CHARS: Final = 100


def _is_clean(text: str) -> bool:
    """Return whether nothing is hidden and all white space is plain spaces."""
    # isprintable() is false for all of Cc, Cf, Cn, Co, Cs and Z* but the space.
    if len(text) < _SHORT_CHARS and text.isascii():
        return text.isprintable()
    left = text.encode("utf-8", "surrogatepass").translate(None, _VISIBLE_BYTES)
    if not left:
        return True
    # isprintable() accepts the invisible letters, which begin with neither of these.
    return text.isprintable() and not (
        left.strip(b"\xe2\xf0") and _INVISIBLE.search(text)
    )


def _visible(match: re.Match[str]) -> str:
    if match.lastgroup is None or match[0].isspace():
        return match[0]  # white space is folded afterwards
    return ""


def escape_xml(text: str, *, quotes: bool = False) -> str:
    """Return ``text`` so that it can neither open nor close a tag.

    ``quotes`` escapes both quotes too, as an attribute's value needs it; elsewhere
    they would only cost tokens.
    """
    # Looking first is several times faster than replacing nothing.
    # `&` comes first, so that the escapes below are not escaped again.
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    if quotes and '"' in text:
        text = text.replace('"', "&quot;")
    if quotes and "'" in text:
        text = text.replace("'", "&#x27;")
    return text


# What a Markdown reader would take for a character reference.
_REFERENCE: Final = re.compile(r"&(?=#|\w+;)")


def list_line(id: str, description: str | None, mark: str = "-") -> str:
    """Return one skill as a line of a list, ended by a line feed; both texts are clean.

    Of the characters of markup only ``<``, and ``&`` where it begins a character
    reference, are escaped, and the colon in an id, which could else hold the id of
    another skill and a description for it. The rest cannot leave its line.
    """
    shown = _escape(id)
    if ":" in shown:
        shown = shown.replace(":", "&#58;")
    if description is None:
        return f"{mark} {shown}\n"
    return f"{mark} {shown}: {_escape(description)}\n"


def _escape(text: str) -> str:
    if "&" in text:
        text = _REFERENCE.sub("&amp;", text)
    return text.replace("<", "&lt;") if "<" in text else text


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def count_severities(findings: "Iterable[Finding]", kind: str = "") -> str:
    """Return how many there are of each severity, as ``2 errors, 1 note``."""
    from satchel.model import SEVERITIES

    counts = Counter(finding.severity for finding in findings)
    return ", ".join(
        plural(counts[severity], f"{kind}{severity}")
        for severity in SEVERITIES
        if counts[severity]
    )


def first_names(names: "Sequence[str]", most: int = 10) -> str:
    """Return the first names with commas between them, and how many more there are."""
    more = len(names) - most
    end = f" and {more:,} more" if more > 0 else ""
    return f"{', '.join(names[:most])}{end}"


def unsearched_folders(findings: "Iterable[Finding]") -> str:
    """Return ``not searched: `` and the first folders; empty where there is none."""
    unsearched = (item for item in findings if item.code == "unsearched-folder")
    paths = [finding.path for finding in unsearched]
    return f"not searched: {first_names(paths)}" if paths else ""


def printable(text: str, *, keep: str = "\n\t") -> str:
    r"""Return ``text`` with all that a terminal would obey, or hide, made visible.

    Control characters, ESC, bidirectional controls and hidden characters become
    ``<U+202E>``; emoji and the joiners of Persian and Indic words stay as they are.
    Of the control characters only those in ``keep`` pass; ``\r`` does not by default,
    because it lets a text overwrite its own line.
    """
    if text.isascii() and text.isprintable():
        return text

    def show(match: re.Match[str]) -> str:
        if match.lastgroup is None or match[0] in keep:
            return match[0]
        return f"<U+{ord(match[0]):04X}>"

    return _SUSPICIOUS.sub(show, text)


def content_warnings(data: bytes, path: str) -> "tuple[Finding, ...]":
    """Return what a file hides, and the tags with which it leaves its envelope."""
    # Most bytes are cleared by a quick look, without being decoded.
    hides, breaks = may_hide(data), _BREAKOUT_BYTES.search(data)
    if not (hides or breaks):
        return ()
    text = decode(data).text
    findings = tuple(hidden_text_findings(text, path)) if hides else ()
    return findings + tuple(breakout_findings(text, path)) if breaks else findings


def hidden_text_findings(text: str, path: str) -> "Iterator[Finding]":
    """Yield one finding for each kind of invisible character; tags are an error."""
    from satchel.model import Finding

    # A byte order mark at the very beginning of a file hides nothing.
    for hidden in find_hidden(text.removeprefix("\ufeff")):
        yield Finding.of(
            "hidden-text", path, hidden.line, severity=hidden.severity, hidden=hidden
        )


def breakout_findings(text: str, path: str) -> "Iterator[Finding]":
    from satchel.model import Finding

    for match in _BREAKOUT_TEXT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Finding.of("envelope-breakout", path, line, tag=match[0])
