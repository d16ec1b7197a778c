"""Text as most of it is: a first look for what it hides, its lines, what it costs."""

import re
from typing import TYPE_CHECKING, Final

from satchel.lazy import lazy_pattern
from satchel.text._encoding import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from satchel.model import Finding
    from satchel.text._suspicious import Hidden

# First bytes of the UTF-8 sequences among which the hidden ones are.
LEADS: Final = b"\xc2\xcd\xd8\xdc\xe1\xe2\xe3\xed\xee\xef\xf0\xf1\xf2\xf3\xf4"
# Only these and control characters are left when the harmless bytes are deleted.
_NEEDLESS: Final = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})
_HARMLESS: Final = bytes({*range(0x100)} - {*_NEEDLESS, *LEADS})
# White space to fold begins with the same bytes as what is hidden.
_VISIBLE_BYTES: Final = bytes({*range(0x20, 0x100)} - {0x7F, *LEADS})
# Tags of the envelope that a text could close, or open again, from within.
_BREAKOUT: Final = (
    r"<\s*(?:/\s*(?:instructions|execution_directive|skill_context)"
    r"|(?:execution_directive|active_resources|skill_context))\b"
)
_BREAKOUT_BYTES: Final = re.compile(_BREAKOUT.encode(), re.IGNORECASE)
_BREAKOUT_TEXT: Final = lazy_pattern(_BREAKOUT, re.IGNORECASE | re.ASCII)


# Nearly every text is cleared here; what looks closer is imported for the others.
def may_hide(data: bytes) -> bool:
    """Return whether ``data`` may contain characters that `find_hidden` finds."""
    doubtful = data.translate(None, _HARMLESS)
    if not doubtful:
        return False
    from satchel.text._suspicious import any_look_finds

    return any_look_finds(data, doubtful)


def find_hidden(text: str) -> "tuple[Hidden, ...]":
    """Return what ``text`` hides, gravest kind first; nothing in most texts.

    Tabs, line feeds, carriage returns and ordinary spaces of any width hide nothing.
    """
    if not text.encode("utf-8", "surrogatepass").translate(None, _HARMLESS):
        return ()
    from satchel.text._suspicious import hidden_in

    return hidden_in(text)


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
    from satchel.text._suspicious import without_hidden

    return " ".join(without_hidden(text).split())


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
    if not text.isprintable():
        return False
    if not left.strip(b"\xe2\xf0"):
        return True
    from satchel.text._suspicious import INVISIBLE

    return not INVISIBLE.search(text)


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


def first_names(names: "Sequence[str]", most: int = 10) -> str:
    """Return the first names with commas between them, and how many more there are."""
    more = len(names) - most
    end = f" and {more:,} more" if more > 0 else ""
    return f"{', '.join(names[:most])}{end}"


def printable(text: str, *, keep: str = "\n\t") -> str:
    r"""Return ``text`` with all that a terminal would obey, or hide, made visible.

    Control characters, ESC, bidirectional controls and hidden characters become
    ``<U+202E>``; emoji and the joiners of Persian and Indic words stay as they are.
    Of the control characters only those in ``keep`` pass; ``\r`` does not by default,
    because it lets a text overwrite its own line.
    """
    if text.isascii() and text.isprintable():
        return text

    from satchel.text._suspicious import with_hidden_shown

    return with_hidden_shown(text, keep)


def content_warnings(data: bytes, path: str) -> "tuple[Finding, ...]":
    """Return what a file hides, and the tags with which it leaves its envelope."""
    # Most bytes are cleared by a quick look, without being decoded.
    hides, breaks = may_hide(data), _BREAKOUT_BYTES.search(data)
    if not (hides or breaks):
        return ()
    text = decode(data).text
    findings: tuple[Finding, ...] = ()
    if hides:
        from satchel.text._suspicious import hidden_text_findings

        findings = tuple(hidden_text_findings(text, path))
    return (*findings, *_breakout_findings(text, path)) if breaks else findings


def _breakout_findings(text: str, path: str) -> "Iterator[Finding]":
    from satchel.model import Finding

    for match in _BREAKOUT_TEXT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Finding.of("envelope-breakout", path, line, tag=match[0])


class EstimateCounter:
    """A quarter of a token for each byte of UTF-8, rounded up.

    That is the usual rule of four characters a token for English; Cyrillic counts
    double, a CJK character three quarters of a token and an emoji a whole one, near to
    what tokenizers make of them. More text never costs less.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the count."""
        return "estimate (UTF-8 bytes / 4)"

    def count(self, text: str) -> int:
        """Return the estimated number of tokens; 0 for no text."""
        if text.isascii():
            return (len(text) + 3) // 4
        return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4
