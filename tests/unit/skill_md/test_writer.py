"""Frontmatter as it was written; plain scalars by the core schema."""

import pytest

from satchel.model import Finding, Json
from satchel.skill_md import parse, read_as_written, render_frontmatter
from satchel.skill_md._frontmatter import FIRST_OF_ODD, resolve
from satchel_lab._frontmatter_editor import same_values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0", 0),
        ("+12", 12),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("1e3", 1000.0),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1.", 1.0),
        ("-.5E-1", -0.05),
        ("2024-01-31", "2024-01-31"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("-1e999", "-1e999"),
        ("9" * 4_001, "9" * 4_001),
        ("\u0661", "\u0661"),
        ("+", "+"),
        ("0x", "0x"),
    ],
)
def test_value(text: str, value: object) -> None:
    resolved = resolve(text)

    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize(
    "text", ["", "~", "null", "True", "false", "-1", "+1", ".5", "0"]
)
def test_the_quick_look_misses_no_value(text: str) -> None:
    """What does not begin with one of these characters is never resolved at all."""
    assert text[:1] in FIRST_OF_ODD


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

    assert isinstance(read_as_written(b"# A"), Finding)


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"---\nname: a\nname: b\n---\n# A", ["duplicate-key"]),
        (b"---\nname: a\ndescription: a: b\n---\n# A", ["unquoted-colon"]),
    ],
)
def test_what_was_repaired_is_reported(data: bytes, codes: list[str]) -> None:
    written = read_as_written(data)

    assert not isinstance(written, Finding)
    assert [each.code for each in written.repairs] == codes
    assert written.body == b"# A"


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
