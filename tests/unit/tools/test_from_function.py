"""Tools made from plain functions."""

import asyncio
import json
import keyword
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Optional

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from satchel import Satchel
from satchel.agent import Skill
from satchel.errors import DuplicateToolError, ToolError
from satchel.tools import Run, Tool, Toolbox, inline_schema, tool_from_function
from tests.fakes import FakeSource
from tests.unit.tools import shapes


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    sku: str
    count: int = 1


class Address(TypedDict):
    city: str


class Order(BaseModel):
    """An order."""

    title: str = Field(title="The title", description="What it is called.")
    lines: list[Line]
    to: Address | None = None


def refund(order_id: str, cents: int = 100) -> str:
    """Pay an order back.

    The whole of it, or a part.

    Args:
        order_id: The order,
            as listed.
        cents: The amount in cents.

    Returns:
        A sentence.
    """
    return f"{order_id}: {cents}"


def message(result: object) -> str:
    assert isinstance(result, dict)
    error = result["error"]
    assert error["code"] == "bad-tool-call"
    return str(error["message"])


@pytest.mark.row("E20")
def test_a_function_says_all_that_a_tool_needs_and_stays_as_it_is() -> None:
    assert tool_from_function(refund) == Tool(
        "refund",
        "Pay an order back.\n\nThe whole of it, or a part.",
        {
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "description": "The order,\nas listed."},
                "cents": {
                    "type": "integer",
                    "description": "The amount in cents.",
                    "default": 100,
                },
            },
            "required": ["order_id"],
            "additionalProperties": False,
        },
        refund,
    )

    tool = tool_from_function(refund)

    assert refund("a", 5) == "a: 5"
    assert tool.handler is refund
    assert tool.call({"order_id": "a"}) == "a: 100"

    tool = tool_from_function(refund, name="pay-back", description="")

    assert (tool.name, tool.description) == ("pay-back", "")


@pytest.mark.row("E20")
def test_an_async_function_is_awaited_through_a_plain_wrapper_too() -> None:
    async def wait(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(0)
        return f"{seconds} s"

    @wraps(wait)
    def wrapper(*args: Any, **kwargs: Any) -> object:  # noqa: ANN401
        return wait(*args, **kwargs)

    for function in (wait, wrapper):
        tool = tool_from_function(function)

        assert (tool.description, tool.is_async) == ("Wait.", function is wait)
        assert asyncio.run(tool.acall({"seconds": 1})) == "1.0 s"
        assert "call it with acall" in message(tool.call({"seconds": 1}))


NUMPY = """Do it.

Parameters
----------
a : int
    About a.
b, c : str
    About both.
"""
SPHINX = """Do it.

:param a: About a.
:param str b: About both.
:param c: About both.
:returns: Nothing.
"""
GOOGLE = """Do it.

Args:
    a (int): About a.
    b: About both.
    c: About both.
"""


@pytest.mark.row("E20")
@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX])
def test_every_style_of_docstring_is_read(docstring: str) -> None:
    def do(a: int, b: str, c: str) -> None: ...

    do.__doc__ = docstring
    tool = tool_from_function(do)

    properties: Any = tool.parameters["properties"]
    assert tool.description == "Do it."
    assert {name: each["description"] for name, each in properties.items()} == {
        "a": "About a.",
        "b": "About both.",
        "c": "About both.",
    }


@pytest.mark.row("E20")
@pytest.mark.parametrize(
    ("docstring", "description"),
    [
        (None, ""),
        ("", ""),
        ("Do it. a: the a.", "Do it. a: the a."),
        ("Do it.\n\nArgs:\n    a\n", "Do it.\n\nArgs:\n    a"),
    ],
)
def test_a_docstring_without_style_is_the_description(
    docstring: str | None, description: str
) -> None:
    def do(a: int) -> None: ...

    do.__doc__ = docstring
    tool = tool_from_function(do)

    assert tool.description == description
    assert tool.parameters["properties"] == {"a": {"type": "integer"}}


def test_a_docstring_that_its_parser_refuses_is_the_description(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import docstring_parser

    def refuse(text: str) -> None:
        raise docstring_parser.ParseError(text)

    monkeypatch.setattr(docstring_parser, "parse", refuse)

    assert tool_from_function(refund).description.startswith("Pay an order back.")


def every_hint(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    plain,  # noqa: ANN001
    maybe: Optional[int],  # noqa: UP045
    union: int | str | None,
    literal: Literal["a", "b"],
    colour: Colour,
    numbers: list[int],
    by_name: dict[str, float],
    day: date,
    told: Annotated[int, Field(description="By the hint.", ge=1)] = 3,
    anything: Any = None,  # noqa: ANN401
    *,
    flag: bool = False,
) -> dict[str, Any]:
    """Take all.

    Args:
        told: By the docstring.
        plain: No hint.
    """
    return dict(locals())


@pytest.mark.row("E20")
def test_every_kind_of_hint_has_its_schema_and_its_arguments() -> None:
    parameters = tool_from_function(every_hint).parameters

    assert parameters["properties"] == {
        "plain": {"description": "No hint."},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "union": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        "literal": {"enum": ["a", "b"], "type": "string"},
        "colour": {"$ref": "#/$defs/Colour"},
        "numbers": {"items": {"type": "integer"}, "type": "array"},
        "by_name": {"additionalProperties": {"type": "number"}, "type": "object"},
        "day": {"format": "date", "type": "string"},
        "told": {
            "description": "By the hint.",
            "minimum": 1,
            "type": "integer",
            "default": 3,
        },
        "anything": {"default": None},
        "flag": {"type": "boolean", "default": False},
    }
    assert parameters["required"] == [
        *("plain", "maybe", "union", "literal", "colour", "numbers", "by_name", "day"),
    ]
    assert parameters["$defs"] == {
        "Colour": {"enum": ["red", "blue"], "type": "string"}
    }

    given = {
        "plain": {"x": 1},
        "maybe": None,
        "union": "u",
        "literal": "a",
        "colour": "blue",
        "numbers": ["1", 2],
        "by_name": {"x": 1},
        "day": "2026-11-21",
    }

    assert tool_from_function(every_hint).call(given) == {
        **given,
        "colour": Colour.BLUE,
        "numbers": [1, 2],
        "day": date(2026, 11, 21),
        "told": 3,
        "anything": None,
        "flag": False,
    }


@pytest.mark.row("E20")
def test_nested_models_become_instances() -> None:
    def place(order: Order, line: Line, to: Address) -> list[object]:
        return [order, line, to]

    tool = tool_from_function(place)

    result = tool.call(
        {
            "order": {"title": "t", "lines": [{"sku": "a"}], "to": None},
            "line": {"sku": "b", "count": 2},
            "to": {"city": "Ulm"},
        }
    )

    assert result == [
        Order(title="t", lines=[Line("a")]),
        Line("b", 2),
        {"city": "Ulm"},
    ]
    defined: Any = tool.parameters["$defs"]
    assert defined.keys() == {"Address", "Line", "Order"}
    assert defined["Order"] == {
        "description": "An order.",
        "properties": {
            "title": {"description": "What it is called.", "type": "string"},
            "lines": {"items": {"$ref": "#/$defs/Line"}, "type": "array"},
            "to": {
                "anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["title", "lines"],
        "type": "object",
    }
    assert json.loads(json.dumps(tool.parameters)) == tool.parameters


@pytest.mark.row("E20", "B26")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"line": {}}, "place: argument 'line.sku': Field required"),
        ({}, "place: missing argument 'line'"),
        ({"line": {"sku": "a"}, "x": 1}, "place: unknown argument 'x'"),
        (
            {"line": {"sku": "a"}, "numbers": [1, None]},
            "place: argument 'numbers[1]': Input should be a valid integer",
        ),
    ],
)
def test_a_wrong_argument_is_a_result_that_names_it(
    arguments: dict[str, object], told: str
) -> None:
    def place(line: Line, numbers: list[int] | None = None) -> None: ...

    assert message(tool_from_function(place).call(arguments)) == told


@pytest.mark.row("E20")
def test_mistakes_are_counted_and_check_finds_them() -> None:
    def add(numbers: list[int], more: int) -> None: ...

    told = message(
        tool_from_function(add).call({"numbers": ["x"] * 9, "more": "secret"})
    )

    assert told.count("argument") == 5
    assert told.endswith("; and 5 more")
    assert "secret" not in told

    tool = tool_from_function(every_hint)

    with pytest.raises(ToolError, match="missing argument 'plain'"):
        tool.check({})
    with pytest.raises(ToolError, match=r"argument 'cents': Input should be"):
        tool_from_function(refund).check({"order_id": "a", "cents": None})
    tool_from_function(refund).check({"order_id": "a", "cents": 3})


class Desk:
    """A desk."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def ask(self, question: str) -> str:
        """Ask the desk."""
        return f"{self.owner}: {question}"

    @classmethod
    def open(cls, owner: str) -> str:
        """Open a desk."""
        return f"{cls.__name__} {owner}"

    @staticmethod
    def shut(hard: bool) -> str:
        """Shut it."""
        return f"shut {hard}"


class SlowDesk(Desk):
    async def __call__(self, question: str) -> str:
        await asyncio.sleep(0)
        return f"{self.owner}, slowly: {question}"


class QuickDesk(Desk):
    def __call__(self, question: str) -> str:
        """Ask it, quickly."""
        return self.ask(question)


@pytest.mark.row("E20")
@pytest.mark.parametrize(
    ("function", "name", "description", "arguments", "result"),
    [
        (Desk("Ana").ask, "ask", "Ask the desk.", {"question": "?"}, "Ana: ?"),
        (Desk.open, "open", "Open a desk.", {"owner": "Ana"}, "Desk Ana"),
        (Desk.shut, "shut", "Shut it.", {"hard": True}, "shut True"),
        (SlowDesk("Ana"), "SlowDesk", "A desk.", {"question": "?"}, "Ana, slowly: ?"),
        (
            QuickDesk("Ana"),
            "QuickDesk",
            "Ask it, quickly.",
            {"question": "?"},
            "Ana: ?",
        ),
        (partial(refund, "a"), "refund", None, {"cents": 1}, "a: 1"),
        (partial(Desk("Ana").ask), "ask", "Ask the desk.", {"question": ""}, "Ana: "),
    ],
)
def test_whatever_can_be_called_can_be_a_tool(
    function: Callable[..., object],
    name: str,
    description: str | None,
    arguments: dict[str, object],
    result: object,
) -> None:
    tool = tool_from_function(function)

    assert tool.name == name
    assert description is None or tool.description == description
    assert list(tool.parameters["properties"]) == list(arguments)  # type: ignore[arg-type]
    assert asyncio.run(tool.acall(arguments)) == result


@pytest.mark.row("E20")
def test_what_a_partial_has_bound_is_not_the_models() -> None:
    def pay(key: str, cents: int) -> str:
        return f"{key} {cents}"

    tool = tool_from_function(partial(pay, key="secret"))

    assert "secret" not in json.dumps(tool.parameters)
    assert tool.call({"cents": 1}) == "secret 1"
    assert message(tool.call({"cents": 1, "key": "x"})) == "pay: unknown argument 'key'"


@pytest.mark.row("E20")
@pytest.mark.parametrize(
    "hint",
    [
        Run,
        Run | None,
        Optional[Run],  # noqa: UP045
        Annotated[Run, "x"],
        Annotated[Run | None, "x"],
    ],
    ids=["plain", "union", "optional", "annotated", "annotated-union"],
)
def test_a_run_is_filled_in_and_in_no_schema(hint: Any) -> None:  # noqa: ANN401
    def who(text: str, run: object = None) -> object:
        """Tell."""
        return (text, run)

    who.__annotations__["run"] = hint
    tool = tool_from_function(who)
    run = Run(who={"user": "ana"})

    assert tool.run_parameter == "run"
    assert list(tool.parameters["properties"]) == ["text"]  # type: ignore[arg-type]
    assert tool.call({"text": "x"}, run) == ("x", run)
    assert tool.call({"text": "x"}) == ("x", Run())
    assert "unknown argument 'run'" in message(tool.call({"text": "x", "run": {}}))


@pytest.mark.row("E20")
def test_hints_may_be_texts_and_a_run_imported_for_type_checkers_alone() -> None:
    tool = tool_from_function(shapes.grow)
    node = {"label": "a", "children": [{"label": "b", "children": []}]}

    result = tool.call({"node": node, "by": 2})

    grown = shapes.Node("a", [shapes.Node("b", [])])
    assert result == (grown, 2, Run())
    assert tool.parameters["required"] == ["node"]


@pytest.mark.row("E20")
def test_a_default_that_json_cannot_hold_is_left_out() -> None:
    nothing = object()

    def take(a: Any = nothing, b: float = float("inf"), c: Line = Line("x")) -> object:  # noqa: ANN401, B008
        return (a, b, c)

    tool = tool_from_function(take)

    assert tool.parameters == {
        "type": "object",
        "properties": {
            "a": {},
            "b": {"type": "number"},
            "c": {"$ref": "#/$defs/Line", "default": {"sku": "x", "count": 1}},
        },
        "additionalProperties": False,
        "$defs": tool.parameters["$defs"],
    }
    assert tool.call({}) == (nothing, float("inf"), Line("x"))


def star(*names: str) -> None: ...
def stars(**names: str) -> None: ...
def slash(name: str, /) -> None: ...
def two(a: Run, b: Run) -> None: ...
def calls(back: Callable[[int], int]) -> None: ...
def odd(desk: Desk) -> None: ...
def bound(name: Annotated[str, Field(discriminator="x")]) -> None: ...
def field(name: str = Field(description="x")) -> None: ...


@pytest.mark.row("E20")
@pytest.mark.parametrize(
    ("function", "told"),
    [
        (star, "parameter '*names' is variadic positional; a model gives each by its"),
        (stars, "parameter '**names' is variadic keyword; a model gives each by its"),
        (slash, "parameter 'name' is positional-only; a model gives each by its name"),
        (two, "several parameters are a Run: a, b"),
        (calls, "parameter 'back': Cannot generate a JsonSchema"),
        (odd, "parameter 'desk': Unable to generate pydantic-core schema"),
        (bound, "is not a valid discriminated union variant"),
        (field, "parameter 'name': write Annotated[..., Field(...)] and a plain"),
        (shapes.lost, "parameter 'node': its hint cannot be resolved: name 'Missing'"),
        (lambda: None, "<lambda>: a tool's name matches"),
        (dict.fromkeys, "parameter 'iterable' is positional-only"),
        (type, "no signature found for builtin"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_at_once(
    function: Callable[..., object], told: str
) -> None:
    with pytest.raises(ToolError, match=re.escape(told)):
        tool_from_function(function)


@pytest.mark.row("B05", "E20")
def test_skills_and_boxes_take_plain_functions() -> None:
    skill = Skill("refunds", tools=[refund])
    own = tool_from_function(refund, name="own")

    assert skill.tools == Toolbox("refunds", (tool_from_function(refund),))
    assert [tool.name for tool in Toolbox.of("x", [own, refund])] == ["own", "refund"]
    with pytest.raises(DuplicateToolError, match="both x and x"):
        Toolbox.of("x", [refund, refund])
    with pytest.raises(TypeError, match="not a callable object"):
        tool_from_function(3)  # type: ignore[arg-type]


@pytest.mark.row("E19", "R34")
def test_importing_the_room_brings_neither_library() -> None:
    import subprocess

    code = (
        "import sys; sys.modules['pydantic'] = sys.modules['docstring_parser'] = None\n"
        "import satchel.tools, satchel.agent._skill, satchel.agent._agent\n"
        "satchel.agent._skill.Skill('a', tools=[])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)

    assert done.returncode == 0


RESERVED: Final = """
self cls ctx context run run_context tool_context config args kwargs input name id type
properties description callback state runtime store agent model messages session request
response return class async from import lambda None title default required items schema
arguments handler tool approved call_id parameters path skill_id function result error
additionalProperties $ref $defs
""".split()  # noqa: SIM905 - to be read
WRITABLE: Final = [
    each for each in RESERVED if each.isidentifier() and not keyword.iskeyword(each)
]
# Pydantic takes no name for a parameter's model that begins so; ours is no model.
WRITABLE.extend(["model_config", "model_fields", "copy", "json", "_private", "__x"])


def function_of(name: str, *, is_async: bool = False) -> Callable[..., Any]:
    """Return a function with one parameter of that name, and a Run."""
    head = "async def" if is_async else "def"
    made: dict[str, Any] = {"Run": Run}
    exec(  # noqa: S102 - a name of ours
        f"{head} take({name}: int, the_run: Run = None) -> str:\n"
        f"    'Take it.\\n\\n    Args:\\n        {name}: What.\\n    '\n"
        f"    return f'{{{name} + 1}} {{the_run.agent}}'\n",
        made,
    )
    function: Callable[..., Any] = made["take"]
    return function


@pytest.mark.row("F25")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("name", WRITABLE)
def test_a_function_may_have_a_parameter_of_any_name(
    name: str, *, is_async: bool
) -> None:
    tool = tool_from_function(function_of(name, is_async=is_async))
    skill = Skill("s", instructions="x", description="Use.", tools=[tool])
    session = Satchel(FakeSource("f", {}), skill).session(always=["s"], agent="desk")
    offered = session.tools().get("take")
    run = Run(agent="desk")

    assert offered is not None
    assert tool.parameters["required"] == [name]
    assert inline_schema(tool.parameters)["properties"] == tool.parameters["properties"]
    asked = [
        tool.acall({name: 1}, run),
        Toolbox("b", (tool,)).acall("take", {name: 1}, run),
        session.acall("take", {name: 1}),
        session.acall("take", f'{{"{name}": 1}}'),
        offered.acall({name: 1}),
    ]

    async def main() -> list[object]:
        return [await each for each in asked]

    assert asyncio.run(main()) == ["2 desk"] * 5
    if not is_async:
        assert tool.call({name: 1}, run) == "2 desk"
        assert session.call("take", {name: 1}) == "2 desk"
        assert offered.call({name: 1}) == "2 desk"


@pytest.mark.row("F25")
@pytest.mark.parametrize("name", RESERVED)
def test_a_tool_by_schema_may_have_a_parameter_of_any_name(name: str) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "integer", "description": "What."}},
        "required": [name],
        "additionalProperties": False,
    }
    tool = Tool("take", "Take it.", schema, lambda **given: given[name] + 1)
    skill = Skill("s", instructions="x", description="Use.", tools=[tool])
    session = Satchel(FakeSource("f", {}), skill).session(always=["s"])
    offered = session.tools().get("take")

    assert offered is not None
    assert session.call("take", {name: 1}) == 2
    assert asyncio.run(session.acall("take", {name: 1})) == 2
    assert offered.call({name: 1}) == 2
    assert len(set(RESERVED)) >= 32
    assert "missing" in str(session.call("take", {}))
    assert "type integer" in str(session.call("take", {name: "x"}))
    assert inline_schema(schema) == schema


PLAIN = """
import sys
for name in {extras!r}:
    sys.modules[name] = None  # as where it is not installed
from satchel import Satchel, Skill
from satchel.tools import Toolbox

def add(a: int, b: int = 2) -> int:
    \'\'\'Add two numbers.

    Args:
        a: The first.
    \'\'\'
    return a + b

skill = Skill("sums", description="Use for sums.", instructions="Add.", tools=[add])
with Satchel(skill, sinks=()) as skills:
    session = skills.session()
    session.call("load_skill", {{"skill_id": "sums"}})
    tool = next(tool for tool in session.tools() if tool.name == "add")
    print(tool.description, tool.parameters["properties"]["a"]["description"])
    print(session.call("add", {{"a": "1"}}), session.call("add", {{}}))
"""


@pytest.mark.row("T11", "F106")
def test_plain_functions_become_tools_without_any_extra() -> None:
    """The packages of all extras are away; what is left comes with every install."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = {
        re.split(r"[\[<>=]", requirement)[0].replace("-", "_").lower()
        for requirements in extras.values()
        for requirement in requirements
    }
    assert {"mcp", "numpy", "starlette", "openai"} <= names
    code = PLAIN.format(extras=sorted(names))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    missing = {"code": "bad-tool-call", "message": "add: missing argument 'a'"}
    assert done.stdout.splitlines() == [
        "Add two numbers. The first.",
        f"3 { ({'error': missing}) }",
    ], done.stderr
