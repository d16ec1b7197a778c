"""Layers are merged the same way whichever neighbours are merged first."""

import json

import pytest
from hypothesis import given, strategies as st

from satchel.errors import SkillManifestError
from satchel.model import Json
from satchel.skill_md import Layer, merge_layers, parse, render_frontmatter
from satchel.skill_md._layers import merge_fields

pytestmark = [pytest.mark.property, pytest.mark.row("E04")]

_WORD = st.sampled_from(["a", "b", "c.md", "d e", "1.10"])
_KEYED = st.fixed_dictionaries({"name": _WORD}, optional={"value": _WORD})
_LISTED: st.SearchStrategy[Json] = st.lists(_WORD | _KEYED, max_size=3).map(list)
_SCALAR: st.SearchStrategy[Json] = _WORD | st.integers(0, 3) | st.booleans()
_METADATA: st.SearchStrategy[dict[str, Json]] = st.recursive(
    st.dictionaries(_WORD, _SCALAR | _LISTED, max_size=3),
    lambda inner: st.dictionaries(_WORD, _SCALAR | inner, max_size=2),
    max_leaves=6,
)
_FIELDS: st.SearchStrategy[dict[str, Json]] = st.fixed_dictionaries(
    {},
    optional={
        "description": _WORD,
        "version": _SCALAR,
        "references": st.lists(_WORD, max_size=3).map(list),
        "required_environment_variables": _LISTED,
        "allowed-tools": st.lists(_WORD, max_size=3).map(list),
        "metadata": _METADATA,
    },
)


def normal(fields: dict[str, Json]) -> dict[str, Json]:
    """Return one layer in its normal form, as `merge_layers` begins."""
    merged: dict[str, Json] = {}
    for layer in (fields, fields):  # a layer merged with itself: lists are deduplicated
        merged = merge_fields(merged, layer)
    return merged


def attempt(*layers: dict[str, Json], right: bool = False) -> str:
    """Return the outcome as text, or that they do not go together."""
    try:
        low, middle, high = map(normal, layers)
        if right:
            merged = merge_fields(low, merge_fields(middle, high))
        else:
            merged = merge_fields(merge_fields(low, middle), high)
    except SkillManifestError:
        return "refused"
    return json.dumps(merged)


@given(_FIELDS, _FIELDS, _FIELDS)
def test_it_is_associative(
    low: dict[str, Json], middle: dict[str, Json], high: dict[str, Json]
) -> None:
    assert attempt(low, middle, high) == attempt(low, middle, high, right=True)


@given(_FIELDS, _FIELDS)
def test_what_is_merged_is_read_back(
    low: dict[str, Json], high: dict[str, Json]
) -> None:
    layers = [
        Layer("base", {"name": "a", "description": "d", **low}),
        Layer("team", high),
    ]
    try:
        merged = merge_layers("a", layers)
    except SkillManifestError:
        return
    again = merge_layers("a", [Layer("base", merged.fields)])
    manifest = parse(render_frontmatter(merged.fields).encode()).manifest

    assert again.fields == merged.fields
    assert manifest is not None
    assert json.dumps(manifest.frontmatter) == json.dumps(merged.fields)


@given(_FIELDS)
def test_an_empty_layer_changes_nothing(fields: dict[str, Json]) -> None:
    base = {"name": "a", "description": "d", **fields}
    alone = merge_layers("a", [Layer("base", base)])

    for layers in (
        [Layer("base", base), Layer("team", {})],
        [Layer("base", {}), Layer("team", base)],
        [Layer("base", base), Layer("team", base)],
    ):
        assert merge_layers("a", layers).fields == alone.fields
