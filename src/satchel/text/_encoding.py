"""Bytes to text: UTF-8 as it is, anything else repaired and reported."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

# Imported when there is one: the command line needs this room before any other.
if TYPE_CHECKING:
    from satchel.model import Finding

_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
# How much is looked at for control characters; file(1) and git look at as much.
_SAMPLE_BYTES: Final = 8 * 1024

# No text file has these: controls but tab, line ends, form feed and escape.
_CONTROLS: Final = bytes({*range(0x20), 0x7F} - {0x09, 0x0A, 0x0C, 0x0D, 0x1B})


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the encoding it was read as, and what was repaired; a UTF-8 mark stays."""

    text: str
    encoding: str
    findings: "tuple[Finding, ...]" = ()


def decode(data: bytes) -> Decoded:
    """Return the text of any bytes; what is not UTF-8 comes with a finding."""
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    if data[:2] in _UTF16_MARKS:
        text = data.decode("utf-16", "replace")
        return Decoded(text, "utf-16", (_not_utf8("UTF-16", 1),))
    # Byte by byte, so that one stray byte spoils no other character.
    text = data.decode("utf-8", "surrogateescape").translate(_from_escape())
    return Decoded(text, "windows-1252", (_not_utf8("Windows-1252", line),))


@cache
def _from_escape() -> dict[int, str]:
    """Return what escaped bytes mean, most of them as in Windows-1252."""
    # Five bytes have no meaning there, and keep that of Latin-1.
    return {
        # `surrogateescape` reads the bytes 0x80 to 0xFF as U+DC80 to U+DCFF.
        0xDC00 + byte: bytes([byte])
        .decode("cp1252", "replace")
        .replace("\ufffd", chr(byte))
        for byte in range(0x80, 0x100)
    }


def is_text(data: bytes) -> bool:
    """Return whether bytes are text: UTF-8 without NUL, UTF-16, or no controls."""
    if data[:2] in _UTF16_MARKS:
        return True
    # No text file has a NUL, and most binary ones do.
    if b"\0" in data:
        return False
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        sample = data[:_SAMPLE_BYTES]
        return len(sample.translate(None, _CONTROLS)) == len(sample)
    return True


def _not_utf8(encoding: str, line: int) -> "Finding":
    from satchel.model import Finding

    return Finding.of("not-utf8", "", line, found=encoding)
