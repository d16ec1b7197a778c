"""Any bytes become text, and what was not UTF-8 is reported."""

import pytest

from satchel.text import decode, is_text


@pytest.mark.parametrize(
    "text", ["", "plain", "caf\u00e9 \U0001f600\r\n", "\ufeffmarked"]
)
def test_utf8_is_kept_as_it_is(text: str) -> None:
    decoded = decode(text.encode())

    assert (decoded.text, decoded.encoding, decoded.findings) == (text, "utf-8", ())


@pytest.mark.row("R35", "G03")
@pytest.mark.parametrize(
    ("data", "text", "line"),
    [
        (b"caf\xe9", "caf\u00e9", 1),
        (b"a\nb\n\x93x\x94", "a\nb\n\u201cx\u201d", 3),
        (b"\x81\x8d\x8f\x90\x9d", "\x81\x8d\x8f\x90\x9d", 1),
        ("\u00e9 ".encode() + b"\xe9", "\u00e9 \u00e9", 1),
        (b"\xed\xa0\xbd", "\u00ed\u00a0\u00bd", 1),
    ],
)
def test_other_bytes_are_windows_1252(data: bytes, text: str, line: int) -> None:
    decoded = decode(data)

    assert (decoded.text, decoded.encoding) == (text, "windows-1252")
    assert [(f.code, f.severity, f.line) for f in decoded.findings] == [
        ("not-utf8", "warning", line)
    ]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_known_by_its_mark(encoding: str) -> None:
    decoded = decode("\ufeffcaf\u00e9".encode(encoding))

    assert (decoded.text, decoded.encoding) == ("caf\u00e9", "utf-16")
    assert [f.code for f in decoded.findings] == ["not-utf8"]


@pytest.mark.row("G23", "A05")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", True),
        (b"plain\ttext\r\n", True),
        ("caf\u00e9".encode(), True),
        (b"caf\xe9", True),
        ("\ufeffx".encode("utf-16-le"), True),
        (b"a\0b", False),
        (b"\x89PNG\r\n\x1a\n", False),
        (b"\x1f\x8b\x08", False),
        (b"\xe9" * 9_000 + b"\x01", True),
    ],
)
def test_text_is_reported_from_binary(data: bytes, *, expected: bool) -> None:
    assert is_text(data) is expected


@pytest.mark.parametrize("control", [0x00, 0x01, 0x1F, 0x7F])
def test_a_control_character_is_in_no_text_that_is_not_utf8(control: int) -> None:
    assert not is_text(b"caf\xe9" + bytes([control]))


@pytest.mark.parametrize("sign", [0x09, 0x0A, 0x0C, 0x0D, 0x1B, 0x80])
def test_what_text_files_do_hold_is_text(sign: int) -> None:
    assert is_text(b"caf\xe9" + bytes([sign]))
