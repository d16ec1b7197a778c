"""What a file hides is looked for once for the same bytes."""

from __future__ import annotations

from hashlib import sha256

import pytest

from satchel.load import _load as clearing
from satchel.load._load import cached_content_warnings
from satchel.text import content_warnings

PLAIN = b"# Steps\n\nDo it.\n"
HIDING = "see\u200bthis\n".encode()


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


@pytest.fixture(autouse=True)
def nothing_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clearing, "_clean_digests", set())


@pytest.mark.parametrize("data", [PLAIN, HIDING], ids=["plain", "hiding"])
def test_the_second_look_says_what_the_first_did(data: bytes) -> None:
    for _ in range(2):
        assert cached_content_warnings(data, digest(data), "a.md") == content_warnings(
            data, "a.md"
        )


def test_only_what_was_cleared_is_remembered() -> None:
    cached_content_warnings(PLAIN, digest(PLAIN), "a.md")
    found = cached_content_warnings(HIDING, digest(HIDING), "b.md")

    assert clearing._clean_digests == {digest(PLAIN)}
    assert [finding.path for finding in found] == ["b.md"]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clearing, "MAX_CLEAN_DIGESTS", 3)

    for number in range(10):
        data = PLAIN + bytes([48 + number])
        assert cached_content_warnings(data, digest(data), "a.md") == ()
        assert len(clearing._clean_digests) <= 3
