"""Bytes to text: UTF-8 as it is, anything else repaired and reported."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from satchel.lazy import lazy_pattern

# Imported when there is one: the command line needs this room before any other.
if TYPE_CHECKING:
    from satchel.model import Finding

_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
# How much is looked at for control characters; file(1) and git look at as much.
_SAMPLE_BYTES: Final = 8 * 1024

# How files begin that are no text, whatever their names and their other bytes.
_SIGNATURES: Final = (
    *(b"%PDF-", b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"PK\x03\x04"),
    *(b"PK\x05\x06", b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf"),
    b"Rar!\x1a\x07",
    *(b"\x28\xb5\x2f\xfd", b"\x7fELF", b"\xd0\xcf\x11\xe0", b"wOFF", b"wOF2", b"OggS"),
)
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


# In Windows-1252 these are no text: long rows but for quotes, dashes and spaces, bytes
# without a meaning, and signs and capitals inside of words.
_FOREIGN: Final = lazy_pattern(
    r"[\x80-\x84\x86-\x90\x98-\x9f\xa1-\xaa\xac-\xba\xbc-\xff]{3,}|[\x81\x8d\x8f\x90\x9d]"
    r"|(?<=[a-z])[\x82\x84\x87-\x8c\x8e\x9f]"
    r"|(?<=[a-z\xe0-\xff])[\xa1-\xa6\xa8\xa9\xac\xae\xaf\xb3\xb6\xb8\xb9\xbf](?=[a-z\xe0-\xff])"
)
_ROW: Final = lazy_pattern(r"[\x80-\xff]+")


def is_unsure(data: bytes) -> bool:
    """Return whether bytes are text in an encoding that `decode` would guess wrong."""
    if data.isascii() or data[:2] in _UTF16_MARKS:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        utf8 = data.decode("utf-8", "surrogateescape")
    else:
        return False
    stray = sum("\udc80" <= char <= "\udcff" for char in utf8)
    if stray * 2 <= sum(char > "\x7f" for char in utf8):
        return False  # it is UTF-8 with some damage
    text = data.decode("latin-1")
    foreign = sum(max(1, len(row) // 2) for row in _FOREIGN.findall(text))
    # One may be a slip.
    return foreign > 1 and foreign * 10 > len(_ROW.findall(text))


def is_text(data: bytes) -> bool:
    """Return whether bytes are text: UTF-8 without NUL, UTF-16, or no controls."""
    if data[:2] in _UTF16_MARKS:
        return True
    # No text file has a NUL, and most binary ones do.
    if b"\0" in data or data.startswith(_SIGNATURES):
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
