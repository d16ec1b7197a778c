"""What a text that is handed out unaltered should be doubted for."""

from collections.abc import Iterator

from satchel.model import Finding
from satchel.text.decoding import decode
from satchel.text.hidden import find_hidden
from satchel.text.scan import breaks_out, find_breakouts, may_hide

__all__ = ["find_doubts", "tell_breakouts", "tell_hidden"]


def find_doubts(data: bytes, path: str) -> tuple[Finding, ...]:
    """Return what a file hides, and the tags with which it leaves its envelope.

    Most bytes are cleared by a quick look, without being decoded.
    """
    hides, breaks = may_hide(data), breaks_out(data)
    if not (hides or breaks):
        return ()
    text = decode(data).text
    findings = tuple(tell_hidden(text, path)) if hides else ()
    return findings + tuple(tell_breakouts(text, path)) if breaks else findings


def tell_hidden(text: str, path: str) -> Iterator[Finding]:
    """Yield one finding for each kind of invisible character; tags are an error (E01).

    A byte order mark at the very beginning of a file hides nothing.
    """
    for hidden in find_hidden(text.removeprefix("\ufeff")):
        yield Finding(
            "hidden-text",
            hidden.severity,
            f"the text holds {hidden}, the first in this line",
            path,
            hidden.line,
            fix="remove them, unless a script needs them to be read",
        )


def tell_breakouts(text: str, path: str) -> Iterator[Finding]:
    """Yield one finding for each tag of the envelope that the text holds (X12)."""
    for line, tag in find_breakouts(text):
        yield Finding(
            "envelope-breakout",
            "warning",
            f"{tag!r} is a tag of the envelope that the text is handed out in",
            path,
            line,
            fix="write &lt; in place of <, or say it in other words",
        )
