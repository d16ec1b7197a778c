"""Media types that do not depend on the machine."""

from __future__ import annotations

import pytest

from satchel.load import media_type


@pytest.mark.row("G23")
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.md", True, "text/markdown"),
        ("a.py", True, "text/x-python"),
        ("a.json", True, "application/json"),
        ("a.svg", True, "image/svg+xml"),
        ("a.unknown", True, "text/plain"),
        ("Makefile", True, "text/plain"),
        ("a.ts", True, "text/plain"),
        ("a.png", False, "image/png"),
        ("a.pdf", False, "application/pdf"),
        ("a.txt", False, "application/octet-stream"),
        ("a.tar.gz", False, "application/octet-stream"),
        ("a", False, "application/octet-stream"),
    ],
)
def test_the_name_counts_where_the_bytes_agree(
    path: str, text: bool, expected: str
) -> None:
    assert media_type(path, text=text) == expected
