# The loop that comes with Satchel, skills in code, and tools made from functions.
from satchel import BaseSkill, Run, Satchel, Skill
from satchel.agent import Agent, Call, Message, compose
from satchel.tools import Tool, Toolbox, Turn, result_text, tool_from_function


class Script:
    """A model that says its lines, and prints what it is given."""

    def __init__(self, *lines):
        self.lines = iter(lines)

    async def complete(self, system, messages, tools):
        print("system:", system)
        print("tools:", [tool.name for tool in tools], "last:", messages[-1])
        line = next(self.lines)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, str):
            return Message("assistant", line)
        return Message("assistant", calls=tuple(line))


def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


async def later(text: str, run: Run) -> dict[str, object]:
    """Say it later."""
    return {"text": text, "agent": run.agent}


def broken() -> None:
    """Fail."""
    raise ValueError("no such luck")


def ended(agent, *texts, **more):
    for text in texts:
        result = agent.run(text, **more)
        print(result.stopped, result.steps, result.text, repr(result.error))
        for message in result.messages:
            print("  ", message.to_dict())


maths = Skill("maths", description="Use for sums.", instructions="Use add.", tools=[add])
talk = Skill("talk", instructions="Talk.", tools=[later, broken])
[maths, talk, maths.tools, talk.category]


class Old(BaseSkill):
    name = "old"
    instructions = "Be old."

    def get_tools(self):
        return [add]


class Methods:
    """Members that are methods."""

    def name(self):
        return "methods"

    def instructions(self):
        return "From a method."

    def tools(self):
        return [broken]


class Bare:
    name, instructions = "bare", ""

    def get_tools(self):
        return None


def odd(**members):
    return type("Odd", (), {"name": "odd", "instructions": "", "tools": None, **members})()


ended(Agent(Script("Hello."), "You are the desk.", skills=[maths]), "Hi.")
ended(Agent(Script([Call("1", "add", {"a": 1})], "3."), skills=[maths, talk]), "1 + 2?")
ended(Agent(Script([Call("1", "later", {"text": "x"}), Call("2", "broken"), Call("3", "nope"), Call("4", "add", {"a": "x"}), Call("5", "add", [1])], "Done."), name="desk", skills=[talk, maths]), "All.")
ended(Agent(Script([Call("1", "add", {"a": 1})], [Call("2", "add", {"a": 2})], "never"), skills=[Old()], max_steps=2), "Go.")
ended(Agent(Script([Call("1", "add", {"a": 1})], OSError("gone")), skills=[Methods(), Bare(), maths]), "Go.")
ended(Agent(Script("One.", "Two."), tools=[add], toolboxes=[Toolbox("more", (tool_from_function(later),))]), "a", "b", history=[Message("user", "before"), Message("assistant", "yes")])
ended(Agent(Script("x"), tools=[add], skills=[maths]), "Go.")
seen = []
ended(Agent(Script([Call("1", "broken")], "x"), tools=[broken], on_step=seen.append), "Go.")
seen
ended(Agent(Script("x"), on_step=lambda added: 1 / 0), "Go.", context=Run(agent="other", who={"user": "u"}))
each(lambda skill: Agent(Script(), skills=[skill]), maths, Old, object(), "text", Bare(), odd())
each(lambda skill: compose("Base.", [skill]), odd(tools=1), odd(tools="text"), odd(instructions=1), odd(name=1, tools=[add]), odd(tools=lambda: [add]), odd(instructions="  "))
compose("", [maths, Old()])
compose("Base.", [maths, talk, Methods()], separator="\n--\n").instructions
Agent(Script(), tools=[add, add])
[Message.from_dict(m.to_dict()) == m for m in (Message("user", "x"), Message("assistant", "", (Call("1", "t", {"a": 1}),)), Message("tool", "r", (), "1", "t"))]
Message.from_dict({"text": "x"})
Skill("a", tools=[add], toolbox=Toolbox("b", ()))
Skill("a", category="odd")
Skill("a", tools=[1])
[Old().tools, BaseSkill().tools, BaseSkill().get_tools()]


# Tools from functions.
def of_kinds(
    text: str,
    number: float,
    flag: bool = False,
    maybe: int | None = None,
    items: list[str] = [],
    table: dict[str, int] = {},
    pair: tuple[int, str] = (1, "a"),
    *,
    word: "str" = "w",
) -> str:
    """Take all kinds.

    Longer text.

    :param text: A text.
    :param number: A number.
    """
    return repr((text, number, flag, maybe, items, table, pair, word))


import enum
import typing
from dataclasses import dataclass


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


def rich(colour: Colour, mode: typing.Literal["a", "b"], point: Point, raw: typing.Annotated[int, "how many"] = 3) -> object:
    """Take rich values."""
    return [colour, mode, point, raw]


def untyped(a, b=1):
    return a, b


def with_star(*values: int, **more: str) -> int:
    """Sum."""
    return sum(values)


def with_run(text: str, context: Run | None = None) -> str:
    """Take a run."""
    return f"{text} {context and context.agent}"


class Callable_:
    def __call__(self, a: int) -> int:
        """Be called."""
        return a


def forward(a: "Unknown") -> int:
    """Name what is not there."""
    return 1


def positional(a: int, /, b: int) -> int:
    """Take one by place."""
    return a - b


def google(a: int) -> int:
    """Give it back.

    Returns:
        The number.

    Raises:
        ValueError: Never.
    """
    return a


functions = [add, later, broken, of_kinds, rich, untyped, with_star, with_run, Callable_(), forward, positional, google, lambda x: x, print, 1, Colour, Point]
each(lambda f: (lambda tool: (tool.name, tool.description, tool.parameters))(tool_from_function(f)), *functions)


def called(function, *all_arguments):
    tool = tool_from_function(function)
    box = Toolbox("box", (tool,))
    return [f"{arguments!r} -> {tried(box.call, tool.name, arguments, Run(agent='me'))!r}" for arguments in all_arguments]


called(add, {"a": 1}, {"a": "1"}, {"a": 1, "b": None}, {}, {"a": 1, "c": 2}, {"a": 1.5}, {"a": True}, None, [], "a", {"a": "x" * 300})
called(of_kinds, {"text": "t", "number": 1}, {"text": 1, "number": "2.5"}, {"text": "t", "number": 1, "items": "x"}, {"text": "t", "number": 1, "items": '["a"]', "table": '{"a": 1}', "flag": "true", "maybe": "null", "pair": [2, "b"], "word": None})
called(rich, {"colour": "red", "mode": "a", "point": {"x": 1}}, {"colour": "green", "mode": "c", "point": {"y": 1}}, {"colour": "blue", "mode": "b", "point": '{"x": 2, "y": 3}', "raw": "4"})
called(untyped, {"a": [1]}, {"b": 2})
called(with_run, {"text": "x"}, {"text": "x", "context": "y"})
called(broken, {}, {"a": 1})
called(Callable_(), {"a": 3})
await Toolbox("b", (tool_from_function(later),)).acall("later", {"text": "x"}, Run(agent="me"))
Toolbox("b", (tool_from_function(later),)).call("later", {"text": "x"}, Run(agent="me"))
tool_from_function(add, name="plus", description="Add.").call({"a": 3})


def nothing(x: int) -> None:
    """Do nothing."""


each(result_text, "text", 1, 1.5, True, None, {"b": 1, "a": [None]}, [1, "x"], b"bytes", Colour.RED, Point(1), {1, 2}, object, float("nan"), "", "\ud800", {"d": "é"})
Tool("", "x", {}, print)
each(lambda schema: Tool("t", "x", schema, nothing), {}, {"type": "object"}, {"type": "string"}, {"type": "object", "properties": []})
Toolbox("b", (tool_from_function(add), tool_from_function(add)))
Toolbox.of("b", [add, broken])
Toolbox.joined("all", [Toolbox.of("a", [add]), Toolbox.of("b", [add])])
[len(Toolbox("x", ())), bool(Toolbox("x", ())), [t.name for t in Toolbox.of("b", [add, broken])]]

# Skills in code in a library.
skills = Satchel(maths, Skill("plain", description="Use it.", instructions="Plain."), sinks=())
[entry.id for entry in skills.catalog]
skills.load("maths").text
skills.session(agent="a", style="lean").call("load_skill", {"name": "maths"})
chat = skills.session(agent="a", style="lean", always=["plain"])
[(t.name, t.description) for t in chat.tools()]
chat.instructions("Base.")
chat.call("add", {"a": 1})
chat.call("load_skill", {"name": "maths"})
[t.name for t in chat.tools()]
chat.call("add", {"a": 1})
Satchel(Skill("no-description"), sinks=())
Satchel(maths, maths, sinks=())
Satchel(1, sinks=())
Satchel(sinks=())
