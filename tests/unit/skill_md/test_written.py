"""Frontmatter as it was written."""

import pytest

from satchel.model import Finding, Json
from satchel.skill_md import parse, read_as_written, render_frontmatter, same_values

TEXT = b"""---
name: a
version: 1.10
count: 0x10
plain: 10
yes: true
none: ~
list: [1.0, 2, {deep: 1e3}]
---
# A\r
"""


def test_numbers_keep_their_spelling() -> None:
    written = read_as_written(TEXT)

    assert not isinstance(written, Finding)
    assert written.fields == {
        "name": "a",
        "version": "1.10",
        "count": "0x10",
        "plain": 10,
        "yes": True,
        "none": None,
        "list": [1.0, 2, {"deep": "1e3"}],
    }
    assert written.body == b"# A\r\n"
    assert written.repairs == ()


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"---\nname: a\nname: b\n---\n# A", ["duplicate-key"]),
        (b"---\nname: a\ndescription: a: b\n---\n# A", ["unquoted-colon"]),
    ],
)
def test_what_was_mended_is_said(data: bytes, codes: list[str]) -> None:
    written = read_as_written(data)

    assert not isinstance(written, Finding)
    assert [each.code for each in written.repairs] == codes
    assert written.body == b"# A"


def test_what_says_nothing_is_an_error() -> None:
    assert isinstance(read_as_written(b"# A"), Finding)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [(1, 1, True), (1, True, False), (1, 1.0, False), ([1], [1], True)],
)
def test_one_is_not_true(first: Json, second: Json, *, same: bool) -> None:
    assert same_values({"a": first}, {"a": second}) is same


def test_what_a_skill_replaces_is_read_and_written() -> None:
    data = b"---\nname: a\ndescription: b\nmetadata:\n  replaces: old older\n---\n"
    manifest = parse(data).manifest

    assert manifest is not None
    assert manifest.replaces == ("old", "older")
    assert render_frontmatter(manifest.frontmatter).encode() == data
