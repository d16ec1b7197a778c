"""Digests that anybody can compute again."""

import hashlib

import pytest

from satchel.files import digest_bytes, tree_digest
from satchel.model import Resource

pytestmark = pytest.mark.row("R25")


def test_digest_of_a_tree() -> None:
    """``path NUL hex LF`` of each file, by code point: capitals come first."""
    one, two = hashlib.sha256(b"1").hexdigest(), hashlib.sha256(b"2").hexdigest()
    text = f"SKILL.md\0{one}\nassets/é.md\0{two}\n".encode()
    resources = [
        Resource("assets/é.md", f"sha256:{two}", 1),
        Resource("SKILL.md", f"sha256:{one}", 1),
    ]

    assert digest_bytes(b"1") == f"sha256:{one}"
    expected = "sha256-tree-v1:" + hashlib.sha256(text).hexdigest()
    assert tree_digest(resources) == expected
    assert tree_digest(reversed(resources)) == expected


def test_every_part_counts() -> None:
    digests = {
        tree_digest([]),
        tree_digest([Resource("a", digest_bytes(b""), 0)]),
        tree_digest([Resource("b", digest_bytes(b""), 0)]),
        tree_digest([Resource("a", digest_bytes(b"x"), 1)]),
        tree_digest([Resource("\ud800", digest_bytes(b""), 0)]),
    }

    assert len(digests) == 5
