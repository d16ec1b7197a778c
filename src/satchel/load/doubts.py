"""What a text that is handed out unaltered should be doubted for."""

from collections.abc import Iterator

from satchel.model import Finding
from satchel.text import breaks_out, find_breakouts, find_hidden, may_hide

__all__ = ["find_doubts", "note"]


def find_doubts(data: bytes, text: str, file: str) -> tuple[Finding, ...]:
    """Return what ``text`` hides, and the tags with which it leaves its envelope.

    ``data`` is what ``text`` was decoded from: most bytes are cleared by a quick look.
    """
    findings: tuple[Finding, ...] = ()
    if may_hide(data):
        findings = tuple(_hidden(text, file))
    if breaks_out(data):
        findings += tuple(_breakouts(text, file))
    return findings


def note(finding: Finding) -> str:
    """Return a finding as a sentence for whoever reads the text."""
    line = f", line {finding.line}" if finding.line else ""
    return f"{finding.path}{line}: {finding.message}."


def _hidden(text: str, file: str) -> Iterator[Finding]:
    for hidden in find_hidden(text):
        yield Finding(
            "hidden-text",
            "warning",
            f"the text holds {hidden}, the first in this line",
            file,
            hidden.line,
            fix="remove them, unless a script needs them to be read",
        )


def _breakouts(text: str, file: str) -> Iterator[Finding]:
    for line, tag in find_breakouts(text):
        yield Finding(
            "envelope-breakout",
            "warning",
            f"{tag!r} is a tag of the envelope that the text is handed out in",
            file,
            line,
            fix="write &lt; in place of <, or say it in other words",
        )
