"""What is read without the YAML parser is what the parser reads, or nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from satchel.model import DEFAULT_LIMITS, Limits
from satchel.skill_md import YamlTree, find_span
from satchel.skill_md._frontmatter import read_plain
from satchel.skill_md._yaml import parse_yaml

pytestmark = pytest.mark.property

ROOT = Path(__file__).parents[2]

_KEYS = ["name", "description", "metadata", "a", "b-c", "d_1", "true", "A" * 300]
_VALUES = [
    *("x", "a b", "1", "-1", "1.5", "1e5", "0x1f", "0o17", "017", "~", "null", "True"),
    *("yes", ".inf", ".5", "+1", "2024-01-02", "1:30", "http://a.b/c#d", "a:b", "a#b"),
    *(
        "a #b",
        "a: b",
        "a:",
        "a :b",
        "- a",
        "-a",
        "? a",
        "?a",
        ":a",
        ": a",
        "[a]",
        "{a}",
    ),
    *("a, b", "a]", "'", '"', "'a'", '"a"', "'it''s'", '"a\\n"', '"a" b', "'a'b", "&a"),
    *("*a", "!a", "|", ">", "|-", "%a", "@a", "`a`", "=", "<<", "a\tb", "é", "日本語"),
    *(
        "a\x85b",
        "a\u2028b",
        "a\xa0",
        "\xa0a",
        "a:\xa0b",
        "\ufeffa",
        "a\x7f",
        "\U0001f600",
    ),
    *(
        "{a}",
        "\U0001f600",
        "",
        " ",
        "a ",
        "  a",
        "#",
        "...",
        "---",
        "a\\b",
        "a" * 2_000,
        "9" * 5_000,
    ),
]
_LINES = st.one_of(
    st.tuples(
        st.sampled_from(["", "", "", " ", "  ", "  ", "    ", "\t"]),
        st.one_of(st.sampled_from(_KEYS), st.text("ab:#-' \"", max_size=4)),
        st.sampled_from([":", ": ", ":  ", " : ", ":\t", ""]),
        st.one_of(st.sampled_from(_VALUES), st.text(max_size=6)),
        st.sampled_from(["", "", "", " ", "  ", "\t", " # c", "\r"]),
    ).map("".join),
    st.sampled_from(["", " ", "# c", "- a", "  - a", "---", "...", "a", "  b c"]),
)
_PLAIN_LINES = st.tuples(
    st.sampled_from(["", "", "", "  ", "  ", "    "]),
    st.sampled_from("abcdefgh"),
    st.sampled_from([":", ": ", ":  "]),
    st.sampled_from(["", "", "a b", "1", "-1", "null", "a:b#c", "'a'", '"a" ', "é"]),
).map("".join)
_MANY = st.lists(_PLAIN_LINES | _PLAIN_LINES | _PLAIN_LINES | _LINES, max_size=6)
HEADS = st.tuples(_MANY, st.sampled_from(["", "\n"])).map(
    lambda head: "\n".join(head[0]) + head[1]
)


def described(tree: object) -> object:
    """Return all that a tree says, without identities; a problem as it is."""
    if not isinstance(tree, YamlTree):
        return "no tree"
    found: list[object] = []

    def go(path: tuple[object, ...], node: object) -> None:
        text = None
        if path:
            text = tree.texts.get((holders[-1], path[-1]))  # type: ignore[arg-type]
        if isinstance(node, dict | list):
            pairs = node.items() if isinstance(node, dict) else enumerate(node)
            found.append((path, type(node), text))
            holders.append(id(node))
            for key, value in pairs:
                go((*path, key), value)
            holders.pop()
        else:
            found.append((path, type(node), node, text))

    holders: list[int] = []
    go((), tree.root)
    return found, len(tree.texts), [entry.key for entry in tree.duplicates]


def compare(head: bytes, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Hold one against the other; return whether the parser was not needed."""
    plain = read_plain(head, limits)
    if plain is not None:
        assert described(plain) == described(parse_yaml(head, limits))
    return plain is not None


@given(HEADS)
@example("a: 1\n  b: 2\n")
@example("a:\n  b: 1\n c: 2\n")
@example("a:\n  b:\n    c: x\n  d: ~\ne:")
@example("a: b\na: c\n")
@example("a:\nb:\n\n  c: d\n")
def test_any_lines(text: str) -> None:
    compare(text.encode("utf-8", "surrogatepass"))


_TREES = st.dictionaries(
    st.sampled_from(_KEYS),
    st.recursive(
        st.sampled_from(["", "a b ", "1", "~", "null", "a:b#c", "'a: b'", '"#" ', "é"]),
        lambda inner: st.dictionaries(st.sampled_from(_KEYS), inner, min_size=1),
        max_leaves=8,
    ),
    min_size=1,
)


@pytest.mark.slow
@given(_TREES, st.integers(1, 4))
def test_scalars_and_maps_of_them_need_no_parser(
    tree: dict[str, Any], width: int
) -> None:
    def lines(mapping: dict[str, Any], indent: str) -> Iterator[str]:
        for key, value in mapping.items():
            if isinstance(value, dict):
                yield f"{indent}{key}:"
                yield from lines(value, indent + " " * width)
            else:
                yield f"{indent}{key}: {value}"

    assert compare("\n".join(lines(tree, "")).encode())


@given(st.binary(max_size=60))
def test_any_bytes(head: bytes) -> None:
    compare(b"name: x\n" + head)


@given(HEADS, st.integers(1, 4), st.integers(1, 12))
def test_limits_are_the_same(text: str, depth: int, nodes: int) -> None:
    compare(text.encode(), Limits(yaml_depth=depth, yaml_nodes=nodes))


def test_texts_of_people() -> None:
    """Most of them are plain, so that this compares something."""
    folders = ROOT / "examples", ROOT / "src" / "satchel" / "packs", ROOT / "tests"
    texts = [p.read_bytes() for f in folders for p in sorted(f.rglob("SKILL.md"))]
    spans = [(data, find_span(data)) for data in texts]
    heads = [data[span.head : span.end] for data, span in spans if span is not None]

    assert sum(map(compare, heads)) > len(heads) / 4
