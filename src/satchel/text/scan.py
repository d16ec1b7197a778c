"""Quick looks at raw bytes: may they hide something, may they leave their envelope.

The registry asks this of every SKILL.md at a sync, so each answer costs a few
microseconds for 8 KB. ``True`` is a reason to look closer, with `find_hidden` and
`find_breakouts`; ``False`` is final for valid UTF-8.
"""

import re
from functools import cache
from typing import Final

__all__ = ["LEADS", "breaks_out", "find_breakouts", "may_hide"]

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
    # Private use, fillers, selectors; an emoji's selector behind anything else.
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
LEADS: Final = bytes(pattern[0] for pattern in _SUSPECT)
"""First bytes of the sequences among which the hidden ones are."""

# Only these and control characters are left when the harmless bytes are deleted.
_NEEDLESS: Final = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})
_HARMLESS: Final = bytes({*range(0x100)} - {*_NEEDLESS, *LEADS})

# Tags of the envelope that a text could end, or open anew, from within.
_BREAKOUT: Final = (
    r"<(?:\s*/\s*(?:instructions|execution_directive|skill_context)"
    r"|\s*(?:execution_directive|active_resources|skill_context))\b"
)
_BREAKOUT_BYTES: Final = re.compile(_BREAKOUT.encode(), re.IGNORECASE)
_BREAKOUT_TEXT: Final = re.compile(_BREAKOUT, re.IGNORECASE | re.ASCII)


def may_hide(data: bytes) -> bool:
    """Tell whether ``data`` may hold characters that `find_hidden` finds."""
    doubtful = data.translate(None, _HARMLESS)
    if not doubtful:
        return False
    looks = _looks()
    return any(byte not in looks or looks[byte].search(data) for byte in set(doubtful))


@cache
def _looks() -> dict[int, re.Pattern[bytes]]:
    """Return what to search for after each first byte; compiled when first needed."""
    return {pattern[0]: re.compile(pattern, re.DOTALL) for pattern in _SUSPECT}


def breaks_out(data: bytes) -> bool:
    """Tell whether ``data`` closes or imitates a tag of the skill envelope."""
    return _BREAKOUT_BYTES.search(data) is not None


def find_breakouts(text: str) -> tuple[tuple[int, str], ...]:
    """Return the line, from 1, and the text of each tag that leaves the envelope."""
    return tuple(
        (text.count("\n", 0, match.start()) + 1, match[0])
        for match in _BREAKOUT_TEXT.finditer(text)
    )
