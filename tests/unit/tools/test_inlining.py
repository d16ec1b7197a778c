"""What a schema refers to stands in its place."""

from typing import Any

from pydantic import BaseModel, TypeAdapter

from satchel.tools import inline_schema


class Leaf(BaseModel):
    grams: int


class Tree(BaseModel):
    leaf: Leaf
    also: list[Leaf]
    inside: list["Tree"] = []


def test_definitions_stand_where_they_were_named() -> None:
    schema = TypeAdapter(Tree).json_schema()

    flat: Any = inline_schema(schema)

    leaf = {**Leaf.model_json_schema()}
    assert "$defs" not in str(flat)
    assert flat["properties"]["leaf"] == leaf
    assert flat["properties"]["also"]["items"] == leaf


def test_one_that_holds_itself_is_cut() -> None:
    flat: Any = inline_schema(TypeAdapter(Tree).json_schema())

    assert flat["properties"]["inside"]["items"] == {"type": "object"}


def test_what_stands_beside_a_reference_goes_first() -> None:
    schema: Any = {
        "$defs": {"a": {"type": "string", "description": "Any."}},
        "properties": {"x": {"$ref": "#/$defs/a", "description": "This."}},
    }

    assert inline_schema(schema) == {
        "properties": {"x": {"type": "string", "description": "This."}}
    }


def test_other_references_stay() -> None:
    schema: Any = {"properties": {"x": {"$ref": "https://a.example/x"}}}

    assert inline_schema(schema) == schema
