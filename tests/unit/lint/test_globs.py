"""Patterns of paths."""

from __future__ import annotations

import pytest

from satchel.lint._settings import glob_pattern


@pytest.mark.parametrize(
    ("glob", "paths", "others"),
    [
        ("a", ["a", "a/b", "a/b/c"], ["b/a", "ab", "A"]),
        ("./a/", ["a", "a/b"], ["b"]),
        ("*", ["a", "a/b"], []),
        ("*.md", ["a.md", ".md", "a.md/b"], ["a/b.md", "a.mdx"]),
        ("a/*/c", ["a/b/c", "a/b/c/d"], ["a/c", "a/b/b/c"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b"]),
        ("**/c", ["c", "a/c", "a/b/c", "a/c/d"], ["ac"]),
        ("a/**/c", ["a/c", "a/b/c", "a/b/b/c"], ["a/bc"]),
        ("?", ["a", "a/b"], ["ab", "/"]),
        ("a[b].(c)+", ["a[b].(c)+"], ["ab.c"]),
        ("", [""], ["a"]),
    ],
)
def test_what_a_pattern_matches(glob: str, paths: list[str], others: list[str]) -> None:
    pattern = glob_pattern(glob)

    assert [path for path in paths if not pattern.fullmatch(path)] == []
    assert [path for path in others if pattern.fullmatch(path)] == []


def test_many_wildcards_cost_little() -> None:
    assert not glob_pattern("**/" * 50 + "x").fullmatch("a/" * 2000 + "y")
