"""Each property has a pack that has it, and the look that finds it."""

from __future__ import annotations

import pytest

from satchel.clients import PROPERTIES, Candidate
from satchel.clients._properties._all import GROUPS, PLAIN, properties_of
from tools.loaders.packs import BODY, FIRST, NAME, PACKS, pack

ROWS = [(key, each) for key, packs in PACKS.items() for each in packs]
OTHERS = [key for key in PACKS if key != PLAIN]


def test_every_property_has_a_pack_and_every_pack_a_property() -> None:
    assert sorted(OTHERS) == sorted(PROPERTIES)


def test_keys_are_unique_across_the_groups() -> None:
    assert sum(map(len, GROUPS.values())) == len(PROPERTIES)


@pytest.mark.parametrize("key", OTHERS)
def test_a_look_finds_its_own_pack(key: str) -> None:
    assert all(key in properties_of(each) for each in PACKS[key])


def test_no_look_finds_anything_in_the_plain_pack() -> None:
    assert properties_of(*PACKS[PLAIN]) == ()


@pytest.mark.parametrize("key", OTHERS)
def test_a_property_says_what_it_is_and_how_it_is_lost(key: str) -> None:
    each = PROPERTIES[key]

    assert each.about
    assert each.about[0].isascii()
    assert each.fix
    assert not each.fix.endswith(".")


def test_properties_come_in_the_order_of_the_table() -> None:
    head = "name: Other\ndescription: 'It counts '\nversion: 1.0"
    found = properties_of(pack(head, ""))

    assert found == tuple(key for key in PROPERTIES if key in found)
    assert found == (
        "empty-body",
        "name-not-folder",
        "name-upper-case",
        "description-single-quoted",
        "description-blank-around",
        "unknown-field",
        "version-number",
        "version-not-semantic",
    )


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"\xff\xfe\x00", "not-utf8"),
        (b"\n\n", "empty-file"),
        (b"Some prose.\n", "no-frontmatter"),
        (b"---\n- a\n---\n", "frontmatter-not-mapping"),
        (b"---\n" + b"[" * 5000 + b"\n---\n", ""),
        (b"\x00" * 100, "no-frontmatter"),
        (b"---\nname: a\ndescription: &x b\nother: *x\n---\n", "anchor"),
        (f"--- \n{FIRST}\n---\n{BODY}".encode(), "blanks-behind-opening-fence"),
    ],
)
def test_any_bytes_are_looked_at(data: bytes, wanted: str) -> None:
    found = properties_of(Candidate(data, NAME))

    assert not wanted or wanted in found


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("description: a: b\nname: x", "unquoted-colon"),
        ("name: x\ndescription: > text here", "text-behind-block-mark"),
        ("name: x\ndescription: '", "open-single-quote"),
        ('name: x\ndescription: "a', "open-double-quote"),
        ("name: x\ndescription: [a] b", "text-behind-bracket"),
        ("name: x\ndescription: b\nbad: a: b", "broken-field"),
    ],
)
def test_what_breaks_the_yaml_is_told_apart(head: str, wanted: str) -> None:
    assert wanted in properties_of(pack(head))


def test_a_rule_in_the_body_is_no_closing_fence() -> None:
    text = f"---\n{FIRST}\n\n# Head\n\nSome prose.\n\n---\n\nMore.\n"
    found = properties_of(Candidate(text.encode(), NAME))

    assert "no-closing-fence-before-a-rule" in found
    assert "broken-field" not in found


@pytest.mark.row("F56")
@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        (f"name: {NAME}\ndescription:\tIt counts", {"tab-behind-colon"}),
        (f"name:  \t{NAME}\ndescription: It counts", {"tab-behind-colon"}),
        (f"name: {NAME}\ndescription: It\tcounts", set()),
        (f"name: {NAME}\ndescription: !!str It counts", {"standard-tag"}),
        (f"name: {NAME}\ndescription: !mine It counts", {"tag"}),
        (
            f"name: {NAME}\ndescription: It\x85counts",
            {"next-line-character", "not-ascii"},
        ),
        (f"  name: {NAME}\n  description: It counts", {"indented-fields"}),
        ("name: null\ndescription: It counts", {"null-name"}),
        ("name: ~\ndescription: It counts", {"null-name"}),
        ("name:\ndescription: It counts", {"empty-name"}),
    ],
)
def test_what_loaders_differ_by_is_seen(head: str, wanted: set[str]) -> None:
    assert set(properties_of(pack(head))) - {PLAIN} == wanted


@pytest.mark.row("F56")
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        *(("12", "name-number"), ("0", "name-number"), ("1.10", "name-odd-number")),
        *(("0x1f", "name-odd-number"), ("010", "name-odd-number")),
        *(("1_000", "name-odd-number"), ("1e3", "name-odd-number")),
        *(("1:30", "name-odd-number"), ("'1.10'", ""), ("v1", "")),
    ],
)
def test_a_name_that_yaml_takes_for_a_number(name: str, wanted: str) -> None:
    found = properties_of(pack(f"name: {name}\ndescription: It counts"))

    assert [each for each in found if each.endswith("number")] == [wanted] * bool(
        wanted
    )
