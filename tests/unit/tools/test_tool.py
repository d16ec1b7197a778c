"""Tools, boxes of them, their schemas and their results."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, TypeAdapter

from satchel.errors import DuplicateToolError, ReferenceNotAllowedError
from satchel.tools import Tool, Toolbox, inline_schema, result_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from satchel.model import Json


def add(a: int, b: float = 0) -> float:
    return a + b


def tool(name: str = "add", handler: Callable[..., object] = add) -> Tool:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": ["number", "null"]},
            "any": {},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    return Tool(name, "Add.", schema, handler)


def test_a_call_reaches_the_handler_with_anything_untyped() -> None:
    assert tool().call({"a": 1, "b": 2.5}) == 3.5

    kept = tool(handler=lambda **arguments: arguments)

    assert kept.call({"a": 1, "any": [1], "b": None}) == {"a": 1, "any": [1], "b": None}

    schema: dict[str, Json] = {
        "properties": {"a": True},
        "additionalProperties": {"type": "string"},
    }
    wide = Tool("go", "", schema, lambda **arguments: arguments)

    assert wide.call({"a": 1, "b": "x"}) == {"a": 1, "b": "x"}


@pytest.mark.row("D06", "D14")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "missing argument 'a'"),
        ({"a": 1, "c": 2}, "unknown argument 'c'"),
        ({"a": "1"}, "argument 'a' has to be of type integer"),
        ({"a": True}, "argument 'a' has to be of type integer"),
        ({"a": 1, "b": "x"}, "argument 'b' has to be of type number or null"),
    ],
)
def test_a_wrong_call_is_a_result(arguments: dict[str, object], told: str) -> None:
    result: Any = tool().call(arguments)

    assert result["error"]["code"] == "bad-tool-call"
    assert told in result["error"]["message"]


@pytest.mark.row("D14", "X09")
def test_an_error_of_ours_keeps_its_code_and_any_other_its_secrets() -> None:
    def refuse(**_: object) -> None:
        raise ReferenceNotAllowedError("pdf", "x.md")

    def fail(**_: object) -> None:
        raise OSError(2, "no such file", "/home/me/secret")

    refused: Any = tool(handler=refuse).call({"a": 1})
    failed = tool(handler=fail).call({"a": 1})

    assert refused["error"]["code"] == "reference-not-allowed"
    assert failed == {
        "error": {"code": "internal-error", "message": "add failed: FileNotFoundError"}
    }


def test_boxes_keep_order_find_by_name_and_are_joined() -> None:
    box = Toolbox("mine", (tool("b"), tool("a")))

    assert ([t.name for t in box], len(box)) == (["b", "a"], 2)
    assert box.get("a") is not None
    assert box.get("c") is None
    assert box.call("a", {"a": 1}) == 1

    result: Any = Toolbox("mine").call("nope", {})

    assert result["error"]["message"] == "nope: there is no such tool"

    box = Toolbox.joined(
        "all", [Toolbox("x", (tool("b"),)), Toolbox("y", (tool("a"),))]
    )

    assert (box.name, [t.name for t in box]) == ("all", ["b", "a"])

    with pytest.raises(DuplicateToolError, match="both mine and mine"):
        Toolbox("mine", (tool(), tool()))

    with pytest.raises(DuplicateToolError, match="both mine and yours"):
        Toolbox.joined("all", [Toolbox("mine", (tool(),)), Toolbox("yours", (tool(),))])


@pytest.mark.row("B26")
@pytest.mark.parametrize("mode", ["sync", "async", "sync handler, awaited"])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StopIteration(), "internal-error"),
        (KeyError("secret"), "internal-error"),
        (ReferenceNotAllowedError("pdf", "x.md"), "reference-not-allowed"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_that_a_handler_raises_gets_out(
    error: Exception, code: str, mode: str
) -> None:
    """Not even what would leave an event loop waiting for ever."""

    def fail(**_: object) -> None:
        raise error

    async def afail(**_: object) -> None:
        raise error

    failing = tool(handler=afail if mode == "async" else fail)
    if mode == "sync":
        result: Any = failing.call({"a": 1})
    else:
        result = asyncio.run(asyncio.wait_for(failing.acall({"a": 1}), 30))

    assert result["error"]["code"] == code


@pytest.mark.row("R26")
def test_only_acall_takes_what_is_awaited() -> None:
    async def double(a: int) -> int:
        await asyncio.sleep(0)
        return 2 * a

    waiting = tool(handler=double)
    refused: Any = waiting.call({"a": 1})

    assert refused["error"]["message"] == "add: it is asynchronous; call it with acall"
    assert asyncio.run(waiting.acall({"a": 1})) == 2
    assert asyncio.run(Toolbox("mine", (waiting,)).acall("add", {"a": 2})) == 4
    unknown: Any = asyncio.run(Toolbox("mine").acall("add", {}))
    assert unknown["error"]["code"] == "bad-tool-call"

    async def both() -> tuple[object, object]:
        done = asyncio.get_running_loop().create_future()
        done.set_result(3)
        later = tool(handler=lambda **_: done)
        return later.call({"a": 1}), await later.acall({"a": 1})

    refused, waited = asyncio.run(both())

    assert "asynchronous" in str(refused)
    assert waited == 3


def test_a_tool_with_an_unhashable_native_object_can_be_hashed() -> None:
    native = Tool("x", "", {}, print, native=[])

    assert len({native}) == 1


@pytest.mark.parametrize("parameters", [{}, {"type": "object"}])
def test_a_schema_need_not_list_properties(parameters: dict[str, Json]) -> None:
    bare = Tool("go", "", parameters, lambda: "went")

    assert bare.call({}) == "went"
    assert "unknown argument 'a'" in str(bare.call({"a": 1}))


@pytest.mark.row("B26", "E21")
@pytest.mark.parametrize("arguments", [None, [], "text", 5])
def test_arguments_that_are_no_object_are_a_result(arguments: object) -> None:
    result = tool().call(arguments)  # type: ignore[arg-type]

    assert "the arguments " in str(result)


@pytest.mark.row("B26")
def test_a_handler_may_exit_but_an_interrupt_is_heard() -> None:
    """A function that parses a command line exits on a wrong one."""

    def leave(**_: object) -> None:
        raise SystemExit(2)

    async def leave_later(**_: object) -> None:
        raise SystemExit(2)

    both = tool(handler=leave), tool(handler=leave_later)
    results = [asyncio.run(each.acall({"a": 1})) for each in both]

    failed = {"error": {"code": "internal-error", "message": "add failed: SystemExit"}}
    assert [both[0].call({"a": 1}), *results] == [failed] * 3

    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tool(handler=interrupted).call({"a": 1})


@dataclass
class Point:
    x: int
    seen: date


class Order(BaseModel):
    seen: date


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ('{"a": é}', '{"a": é}'),
        ("", ""),
        (None, "null"),
        ({"a": [1, 2.5, True]}, '{"a": [1, 2.5, true]}'),
        ("é" * 2, "éé"),
        (["é"], '["é"]'),
        (Point(1, date(2026, 1, 2)), '{"x": 1, "seen": "2026-01-02"}'),
        ([Order(seen=date(2026, 1, 2))], '[{"seen": "2026-01-02"}]'),
        ({3, 1, 2}, "[1, 2, 3]"),
        pytest.param(frozenset({"b", 1}), '[1, "b"]', id="set"),
        (PurePosixPath("a/b"), '"a/b"'),
    ],
    ids=str,
)
def test_text_stays_and_anything_else_is_json(result: object, text: str) -> None:
    assert result_text(result) == text


@pytest.mark.row("B26")
def test_what_cannot_be_written_is_an_error_and_any_text_is_sent() -> None:
    """As os.listdir() gives a file's name that is no UTF-8."""

    class Bad:
        def __str__(self) -> str:
            raise OSError("/home/me/secret")

    circle: list[object] = []
    circle.append(circle)
    told = [
        json.loads(result_text(each))["error"] for each in (circle, {(1, 2): 3}, Bad())
    ]

    assert {each["code"] for each in told} == {"internal-error"}
    assert [each["message"].rpartition(" ")[2] for each in told] == [
        "ValueError",
        "TypeError",
        "OSError",
    ]

    assert result_text("caf\udce9 é") == "caf? é"
    assert result_text(["caf\udce9 é"]) == '["caf? é"]'


class Leaf(BaseModel):
    grams: int


class Tree(BaseModel):
    leaf: Leaf
    also: list[Leaf]
    inside: list[Tree] = []


def test_definitions_are_put_where_they_were_named() -> None:
    flat: Any = inline_schema(TypeAdapter(Tree).json_schema())
    leaf = Leaf.model_json_schema()

    assert "$defs" not in str(flat)
    assert flat["properties"]["leaf"] == leaf
    assert flat["properties"]["also"]["items"] == leaf
    assert flat["properties"]["inside"]["items"] == {"type": "object"}


def test_a_reference_keeps_what_is_next_to_it_or_stays() -> None:
    schema: Any = {
        "$defs": {"a": {"type": "string", "description": "Any."}},
        "properties": {"x": {"$ref": "#/$defs/a", "description": "This."}},
    }

    assert inline_schema(schema) == {
        "properties": {"x": {"type": "string", "description": "This."}}
    }

    other: Any = {"properties": {"x": {"$ref": "https://a.example/x"}}}

    assert inline_schema(other) == other


class Thing:
    """Has no text of its own."""


def counted(*items: object) -> Iterator[object]:
    yield from items


async def arriving(*items: object) -> AsyncIterator[object]:
    for item in items:
        yield item


def endless() -> Iterator[int]:
    number = 0
    while True:
        yield (number := number + 1)


def broken() -> Iterator[int]:
    yield 1
    raise OSError("/home/me")


@pytest.mark.row("U03", "F68")
@pytest.mark.parametrize(
    ("give", "text"),
    [
        (lambda: None, "t was called, and gave no result."),
        (lambda: counted("a", {"b": 1}), '["a", {"b": 1}]'),
        (lambda: (n * n for n in range(3)), "[0, 1, 4]"),
        (lambda: map(str, (1, 2)), '["1", "2"]'),
        ({"a": 1}.keys, '["a"]'),
        (lambda: deque([1, 2]), "[1, 2]"),
        (lambda: range(3), "[0, 1, 2]"),
        ("fünf".encode, "fünf"),
        (lambda: bytearray(b"five"), "five"),
        (lambda: b"\x89PNG\x00", "5 bytes, no text"),
        (lambda: {"rows": counted(1, 2), "raw": b"x"}, '{"rows": [1, 2], "raw": "x"}'),
        (lambda: [None, memoryview(b"x")], '[null, "x"]'),
        (Thing, '"a Thing, no text"'),
        (lambda: {"made": [Thing(), len]}, None),
    ],
)
def test_what_a_handler_gives_is_text_or_data(
    give: Callable[[], object], text: str | None
) -> None:
    tool = Tool("t", "", {"type": "object", "properties": {}}, give)

    for result in (tool.call({}), asyncio.run(tool.acall({}))):
        assert " at 0x" not in result_text(result)
        assert text is None or result_text(result) == text


@pytest.mark.row("U03", "F68")
def test_what_has_no_end_is_cut_and_what_breaks_off_has_failed() -> None:
    schema: Any = {"type": "object", "properties": {}}
    result: Any = Tool("t", "", schema, endless).call({})
    failed: Any = Tool("t", "", schema, broken).call({})

    assert result[-2:] == [10_000, "the first 10,000 items; there are more"]
    assert failed == {
        "error": {"code": "internal-error", "message": "t failed: OSError"}
    }


@pytest.mark.row("U03", "F68")
def test_what_arrives_bit_by_bit_is_waited_for() -> None:
    schema: Any = {"type": "object", "properties": {}}
    tool = Tool("t", "", schema, lambda: arriving("a", "b"))
    many = Tool("t", "", schema, lambda: arriving(*range(20_000)))

    refused: Any = tool.call({})
    whole: Any = asyncio.run(many.acall({}))

    assert asyncio.run(tool.acall({})) == ["a", "b"]
    assert "call it with acall" in refused["error"]["message"]
    assert len(whole) == 10_001
