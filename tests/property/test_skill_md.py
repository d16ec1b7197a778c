"""The parser takes any bytes, and gives back what the writer wrote."""

import json
import math
import re

import pytest
from hypothesis import example, given, strategies as st

from satchel.model import Finding, Json, portable_name
from satchel.skill_md import body_of, from_spec, parse, render_frontmatter, to_spec
from satchel.skill_md._frontmatter import resolve

pytestmark = pytest.mark.property


_PIECES = st.sampled_from(
    [
        *(
            b"---\n",
            b"---",
            b"...\n",
            b"----\n",
            b"```yaml\n",
            b"# T\n",
            b"<!--",
            b"-->",
        ),
        *(b"name: x\n", b"name:x\n", b" name: x\n", b"? [a]\n: b\n"),
        *(b"description: a: b\n", b"description: > a\n", b"description: **a**\n"),
        *(b"description: *a\n", b"description: &a b\n", b"description: !a b\n"),
        *(b'description: "a" b\n', b'description: "\\ud83d\\udc8a \\q"\n'),
        *(b"description:\n", b"  - a\n", b"\t- a\n", b"metadata: {a: [b, @c]\n"),
        *(b"metadata:\n  a: b: c\n", b"\r\n", b"\r", b"\n", b"\x00", b"\xff\xfe"),
        *(b"\xef\xbb\xbf", b"\xe9"),
        "\u540d\u79f0\uff1aa\n\u63cf\u8ff0\uff1ab\n".encode(),
    ]
)
FILES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.one_of(_PIECES, st.binary(max_size=4)), max_size=12).map(b"".join),
)
# Everything that UTF-8 can carry.
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)
ITEMS = st.lists(TEXTS, max_size=4)
WORDS = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)


_IN_BOTH = ("version", "author", "references", "scripts", "assets", "declares_files")


@pytest.mark.row("C17", "G03")
@given(FILES, st.sampled_from(["strict", "spec", "lenient", "auto"]))
@example(b"---\nname: " + b"[" * 30_000 + b"\n---\n", "auto")
@example(b"---\n" + b"- " * 30_000 + b"\n---\n", "auto")
@example(b"\xff\xfe-\x00-\x00-\x00\n\x00", "auto")
def test_nothing_is_raised_whatever_the_bytes(data: bytes, profile: str) -> None:
    parsed = parse(data, profile=profile, path="p", directory="d")  # type: ignore[arg-type]

    assert parsed.profile in {"", "strict", "spec", "lenient"}
    assert (parsed.manifest is None) == (not parsed.profile)
    if parsed.manifest is None:
        assert any(finding.severity == "error" for finding in parsed.findings)
    else:
        assert parsed.manifest.name
        json.dumps(parsed.manifest.frontmatter, allow_nan=False).encode()
    for finding in parsed.findings:
        _check(finding, data)


def _check(finding: Finding, data: bytes) -> None:
    assert finding.code != "parser-failed"
    assert finding.path == "p"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", finding.code)
    lines = data.count(b"\n") + data.count(b"\r") + 1
    assert finding.line is None or 1 <= finding.line <= lines


@given(FILES)
def test_equal_bytes_give_equal_results(data: bytes) -> None:
    assert parse(data, directory="d") == parse(data, directory="d")


@given(TEXTS)
def test_a_body_is_the_end_of_its_file(text: str) -> None:
    assert text.endswith(body_of(text))


@pytest.mark.slow
@given(st.dictionaries(TEXTS, JSON, max_size=5), TEXTS)
def test_what_is_rendered_reads_back_equal(
    fields: dict[str, Json], description: str
) -> None:
    frontmatter = {**fields, "name": "a", "description": f"d {description}"}
    text = render_frontmatter(frontmatter)

    manifest = parse(text.encode()).manifest

    assert manifest is not None
    assert manifest.frontmatter == frontmatter
    assert parse(render_frontmatter(manifest.frontmatter).encode()).manifest == manifest


OWN = st.fixed_dictionaries(
    {"name": WORDS, "description": TEXTS},
    optional={
        **dict.fromkeys(("trigger_keywords", "references", "scripts", "assets"), ITEMS),
        **dict.fromkeys(("version", "author"), TEXTS),
    },
)
SPEC = st.fixed_dictionaries(
    {"name": WORDS, "description": TEXTS},
    optional={
        "license": TEXTS,
        "compatibility": TEXTS,
        "allowed-tools": TEXTS,
        "metadata": st.dictionaries(
            st.one_of(
                TEXTS,
                st.sampled_from(["references", "version", "satchel:version", "author"]),
            ),
            st.one_of(TEXTS, st.sampled_from(["a.md b.md", "a.md,b", "", "[1, 2]"])),
            max_size=5,
        ),
    },
)


@pytest.mark.row("X07")
@given(OWN)
def test_to_the_public_specification_and_back(frontmatter: dict[str, Json]) -> None:
    moved = to_spec(frontmatter)

    assert moved.keys() <= {"name", "description", "metadata"}
    assert from_spec(moved) == frontmatter


@pytest.mark.row("X07")
@given(SPEC)
def test_from_the_public_specification_and_back(frontmatter: dict[str, Json]) -> None:
    assert to_spec(from_spec(frontmatter)) == frontmatter


@pytest.mark.row("X07")
@given(OWN.filter(lambda fields: bool(str(fields["description"]).strip())))
def test_either_dialect_means_the_same(frontmatter: dict[str, Json]) -> None:
    first = parse(render_frontmatter(frontmatter).encode()).manifest
    second = parse(render_frontmatter(to_spec(frontmatter)).encode()).manifest

    assert first is not None
    assert second is not None
    for field in _IN_BOTH:
        assert getattr(first, field) == getattr(second, field)


@given(st.text(max_size=12))
@example("0o17")
@example("-.5e+3")
@example("1" * 5_000)
@example("1e400")
def test_plain_scalars_follow_the_core_schema(text: str) -> None:
    """The regular expressions are those of YAML 1.2.2, section 10.3.2."""
    value = resolve(text)

    if re.fullmatch(r"null|Null|NULL|~|", text):
        assert value is None
    elif re.fullmatch(r"true|True|TRUE|false|False|FALSE", text):
        assert value is (text.lower() == "true")
    elif len(text) > 4_000:
        assert value == text
    elif re.fullmatch(r"[-+]?[0-9]+", text, re.ASCII):
        assert value == int(text)
    elif re.fullmatch(r"0o[0-7]+|0x[0-9a-fA-F]+", text):
        assert value == int(text, 0)
    elif re.fullmatch(
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text, re.ASCII
    ):
        assert value == (text if math.isinf(float(text)) else float(text))
    else:
        assert value == text


@pytest.mark.row("X05")
@given(st.text(max_size=100))
def test_our_own_names_are_portable(text: str) -> None:
    name = portable_name(text)

    assert name == "" or re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)
    assert len(name) <= 64
