"""Frontmatter goes to the other dialect by its lines; bodies keep their bytes."""

from pathlib import Path

import pytest

from satchel.model import SKILL_FILE, Json, Manifest
from satchel.skill_md import find_span, from_spec, parse, to_spec
from satchel_lab._frontmatter_editor import comments_in, edit_entries
from satchel_lab.authoring._convert._packs import rewrite
from satchel_lab.authoring._convert._values import Dialect

ROOT = Path(__file__).parents[4]
PACKS = sorted(
    file
    for folder in ("tests/cases/spec", "examples/skills", "src/satchel/packs")
    for file in (ROOT / folder).glob(f"*/{SKILL_FILE}")
)
MEANING = (
    *("name", "description", "version", "author", "license", "compatibility"),
    *("allowed_tools", "trigger_keywords", "references", "scripts", "assets"),
    *("declares_files", "client", "status", "replaced_by"),
)


def skill_md(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in ("---", *lines, "---")).encode()


def meaning(manifest: Manifest | None) -> list[object]:
    assert manifest is not None
    return [getattr(manifest, field) for field in MEANING]


def body(data: bytes) -> bytes:
    span = find_span(data)
    assert span is not None
    return data[span.body :]


@pytest.mark.row("X07", "C14", "C15", "C16")
@pytest.mark.parametrize("dialect", ["spec", "strict"])
def test_every_pack_keeps_its_meaning_and_its_body(dialect: Dialect) -> None:
    for file in PACKS:
        check_rewriting(file, dialect)


def check_rewriting(file: Path, dialect: Dialect) -> None:
    """There, back, and there again: nothing changes any more, and nothing is lost."""
    data = file.read_bytes()
    folder = file.parent.name
    manifest = parse(data, profile="lenient", directory=folder).manifest
    there = rewrite(data, dialect, directory=folder).data
    if manifest is None:
        assert there is None
        return
    assert there is not None
    other: Dialect = "strict" if dialect == "spec" else "spec"
    back = rewrite(there, other, directory=folder).data
    assert back is not None

    for made in (there, back):
        assert meaning(parse(made, profile="lenient").manifest) == meaning(manifest)
    assert body(there) == body(back)
    if find_span(data) is not None and not parse(data).findings:
        assert body(there) == body(data)
    assert rewrite(there, dialect, directory=folder).data == there
    again = rewrite(back, dialect, directory=folder).data
    assert again is not None
    assert values(again, other) == values(there, other)


def values(data: bytes, dialect: Dialect) -> dict[str, Json]:
    """Return the values as `dialect` has them: there a version is a text (R02)."""
    made = rewrite(data, dialect).data
    assert made is not None
    manifest = parse(made, profile="lenient").manifest
    assert manifest is not None
    return to_spec(from_spec(manifest.frontmatter))


@pytest.mark.row("X07")
def test_what_needs_no_change_keeps_its_bytes() -> None:
    """Even what is laid out in another way than we write."""
    data = b"---\nname:   a  # it\ndescription: 'does a'\nlicense:\tMIT\n---\nBody"

    assert rewrite(data, "spec").data is data


KEPT = (
    *("name: a", "description: |", "  b # no comment", "# before", "metadata:"),
    *("    # indented by four", "    team: desk", "", "    nested: {deep: 1.0}"),
)
TAKEN = ("name: a", "description: b", "metadata:", "  version: of the forms")
ODD_LIST = ["name: a", "description: b", "references:", "  - 1.0", "  - {not: a text}"]
TO_SPEC = {
    "a number keeps its text": (
        ["name: a", "version: 1.10", "description: b # why"],
        ["name: a", "metadata:", '  version: "1.10"', "description: b # why"],
    ),
    "metadata in braces": (
        [
            *("name: a", "description: b", "metadata: {team: desk} # ours"),
            "references: [a b.md, c.md]   # two",
        ],
        [
            *("name: a", "description: b", "# ours", "metadata:", "  team: desk"),
            *('  references: "[\\"a b.md\\", \\"c.md\\"]"', "# two"),
        ],
    ),
    "metadata indented by four, unknown fields kept": (
        [*KEPT, 'author: "Ana # no comment"', "x-unknown: [1, {a: b}]"],
        [*KEPT, '    author: "Ana # no comment"', "x-unknown: [1, {a: b}]"],
    ),
    "a key of metadata that is taken": (
        [*TAKEN[:2], "version: 2", *TAKEN[2:]],
        [*TAKEN, '  "satchel:version": "2"'],
    ),
    "a list that is none of texts stays": (ODD_LIST, ODD_LIST),
}


@pytest.mark.parametrize(("before", "after"), TO_SPEC.values(), ids=TO_SPEC)
def test_to_the_specification(before: list[str], after: list[str]) -> None:
    made = rewrite(skill_md(*before), "spec")

    assert made.data == skill_md(*after)
    assert made.findings == ()


@pytest.mark.parametrize("dialect", ["spec", "strict"])
def test_metadata_that_is_not_a_mapping_stays(dialect: Dialect) -> None:
    data = skill_md("name: a", "description: b", "version: '1'", "metadata: text")

    assert rewrite(data, dialect).data == data


def test_a_description_that_is_not_text_becomes_text() -> None:
    made = rewrite(b"---\nname: a\ndescription:\n  - b\n  - c\n---\n", "spec")

    assert made.data is not None
    assert parse(made.data, profile="spec").manifest is not None
    assert [finding.code for finding in made.findings] == ["description-not-text"]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["{a: 1, b: 2}"], id="in braces"),
        pytest.param(["a: 1", "a: 2", "b: 2"], id="a key twice"),
        pytest.param(["a: 1"], id="a key less"),
    ],
)
def test_other_layouts_are_not_edited(lines: list[str]) -> None:
    assert edit_entries(lines, {"a": 1, "b": 2}, {"a": 1}) is None


@pytest.mark.parametrize(
    ("lines", "rendered"),
    [
        (["m:", "  ? b", "  : 1 # one"], ["# one", "m:", "  b: 2"]),
        (["m:", "# c"], ["m:", "  b: 2", "# c"]),
    ],
)
def test_an_inner_layout_that_is_not_known_is_rendered(
    lines: list[str], rendered: list[str]
) -> None:
    assert edit_entries(lines, {"m": {"b": 1}}, {"m": {"b": 2}}) == rendered


def test_comments_are_known_from_text() -> None:
    lines = [
        "a: 'it''s # no' # one",
        '  - "\\" # no" # two',
        "  - c#d",
        "  # three ",
        "    #four",
    ]

    assert comments_in(lines) == ["# one", "# two", "# three", "#four"]
    assert comments_in(["a: >- # five", "  # text"]) == ["# five"]


@pytest.mark.row("X07", "E15")
def test_a_later_schema_survives_the_other_dialect() -> None:
    """Without it strict would refuse the fields that only a later one knows."""
    about = "description: Tests what a later schema allows. Use to test."
    own = skill_md("name: x", about, "manifest_schema: 2") + b"Body\n"

    portable = rewrite(own, "spec", directory="x").data

    assert portable is not None
    assert parse(portable, profile="spec", directory="x").findings == ()
    for number in (b'"2"', b"2"):
        data = portable.replace(b'"2"', number)
        assert rewrite(data, "strict", directory="x").data == own


@pytest.mark.row("X07", "R02")
@pytest.mark.parametrize(
    ("dialect", "lines"),
    [
        ("strict", ["version: x", "metadata:", "  version: 1.10", "  scripts: 2"]),
        ("spec", ["version: 1.10", "metadata: text"]),
        ("spec", ["version: 1.10", "metadata:", "  'satchel:version': a"]),
    ],
    ids=["taken-above", "no-mapping", "set-aside"],
)
def test_a_number_that_does_not_move_keeps_its_line(
    dialect: Dialect, lines: list[str]
) -> None:
    made = rewrite(skill_md("name: x", "description: d", *lines), dialect).data

    assert made is not None
    assert b": 1.10" in made


@pytest.mark.row("X07", "R02")
@pytest.mark.parametrize("key", ["version", "license", "compatibility"])
def test_a_number_keeps_its_text_where_all_is_rendered(key: str) -> None:
    twice = ("metadata: {team: a}", f"metadata: {{author: b, {key}: 2}}")
    data = skill_md("name: x", "description: d", f"{key}: 1.10", *twice)
    made = rewrite(data, "strict").data

    assert made is not None
    assert f'{key}: "1.10"\n'.encode() in made
