"""One dialect becomes the other, and names become portable."""

import pytest

from satchel.model import Json, portable_name
from satchel.skill_md import (
    from_spec,
    parse,
    render_frontmatter,
    spec_name_violations,
    strict_name_violations,
    to_spec,
)

OWN: dict[str, Json] = {
    "name": "pdf-forms",
    "description": "Use when a form must be filled in.",
    "version": "2.0.0",
    "author": "Ana",
    "references": ["a.md", "b.md"],
    "scripts": [],
    "trigger_keywords": ["fill in", "pdf"],
}
PUBLIC: dict[str, Json] = {
    "name": "pdf-forms",
    "description": "Use when a form must be filled in.",
    "metadata": {
        "trigger_keywords": '["fill in", "pdf"]',
        "references": "a.md b.md",
        "scripts": "",
        "version": "2.0.0",
        "author": "Ana",
    },
}


@pytest.mark.row("X07", "E15")
def test_own_fields_become_valid_metadata_and_come_back() -> None:
    assert to_spec(OWN) == PUBLIC
    assert from_spec(PUBLIC) == OWN

    own: dict[str, Json] = {"name": "x", "description": "d", "manifest_schema": 2}
    public: dict[str, Json] = {
        "name": "x",
        "description": "d",
        "metadata": {"manifest_schema": "2"},
    }

    assert to_spec(own) == public
    assert from_spec(public) == own

    strict, spec = (render_frontmatter(f).encode() for f in (OWN, to_spec(OWN)))
    assert parse(strict, profile="strict", directory="pdf-forms").findings == ()
    assert parse(spec, profile="spec", directory="pdf-forms").findings == ()


@pytest.mark.row("X07")
def test_a_key_that_metadata_uses_is_set_aside() -> None:
    mixed: dict[str, Json] = {
        "name": "x",
        "description": "d",
        "version": "2",
        "metadata": {"version": "of something else"},
    }

    moved = to_spec(mixed)

    assert moved["metadata"] == {"version": "of something else", "satchel:version": "2"}
    assert from_spec(moved) == mixed
    manifest = parse(render_frontmatter(moved).encode()).manifest
    assert manifest is not None
    assert manifest.version == "2"


@pytest.mark.row("X07")
@pytest.mark.parametrize(
    "frontmatter",
    [
        {"version": 1.0},
        {"references": ["a", 1]},
        {"references": "a.md"},
        {"metadata": "text", "version": "1"},
        {"metadata": {"version": 1.0}},
        {"metadata": {}},
        {"version": "3", "metadata": {"version": "1", "satchel:version": "2"}},
        {"version": "3", "metadata": {"satchel:version": "2"}},
        {"manifest_schema": "2"},
        {"manifest_schema": True},
        {"manifest_schema": 0},
        {"manifest_schema": 1.5},
        {"metadata": {"manifest_schema": "02"}},
        {"metadata": {"manifest_schema": "two"}},
    ],
)
def test_what_cannot_be_a_text_stays(frontmatter: dict[str, Json]) -> None:
    assert to_spec(frontmatter) == frontmatter
    assert from_spec(frontmatter) == frontmatter


@pytest.mark.row("X05", "X07")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("PDF Forms!", "pdf-forms"),
        ("a--b", "a-b"),
        ("3d-print", "d-print"),
        ("base64", "base64"),
        ("-a-", "a"),
        ("a\n", "a"),
        ("r\u00e9sum\u00e9", "resume"),
        ("\u6280\u80fd", ""),
        ("a-" * 40, ("a-" * 32)[:-1]),
    ],
)
def test_a_name_that_every_profile_takes(text: str, name: str) -> None:
    assert portable_name(text) == name
    if name:
        assert list(spec_name_violations(name)) == []
        assert list(strict_name_violations(name)) == []


def test_a_name_offers_its_portable_form() -> None:
    (breach,) = spec_name_violations("My_Skill", "My_Skill")

    assert breach.fix == "write `name: my-skill`"


def test_written_frontmatter_is_the_same_each_time() -> None:
    frontmatter: dict[str, Json] = {
        "tags": ["yes", "on", "1.0", "a: b", "", "caf\u00e9", "plain text"],
        "description": "two\nlines # and a sign",
        "nested": {"list": [{"a": 1, "b": [True, None]}, [], {}], "x y": -1.5},
        "name": "x",
    }

    text = render_frontmatter(frontmatter)

    assert text == (
        "---\n"
        "name: x\n"
        'description: "two\\nlines # and a sign"\n'
        "tags:\n"
        '  - "yes"\n'
        '  - "on"\n'
        '  - "1.0"\n'
        '  - "a: b"\n'
        '  - ""\n'
        '  - "caf\u00e9"\n'
        "  - plain text\n"
        "nested:\n"
        "  list:\n"
        "    -\n"
        "      a: 1\n"
        "      b:\n"
        "        - true\n"
        "        - null\n"
        "    - []\n"
        "    - {}\n"
        '  "x y": -1.5\n'
        "---\n"
    )
    manifest = parse(text.encode()).manifest
    assert manifest is not None
    assert manifest.frontmatter == frontmatter
    assert render_frontmatter(manifest.frontmatter) == text
