"""What is OpenAI's SDK's own; and the whole suite over Chat Completions.

The suite itself drives Responses, see `tests.adapters.openai`.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import BaseModel

from satchel import Satchel, Skill
from satchel.adapters.openai import Chat, attach
from tests.adapters import test_contract
from tests.adapters.desk import BASE, REFUNDS, carried, load
from tests.adapters.driver import Call
from tests.adapters.openai import (
    COMPLETIONS,
    LIMITS,
    Completions,
    Responses,
    clients,
    transport,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adapters import driver as suite

HI = {"role": "user", "content": "hi"}


# Every row once more, with the driver below.
rows = {name for name in vars(test_contract) if name.startswith("test_")}
globals().update({name: getattr(test_contract, name) for name in rows - {*LIMITS}})


@pytest.fixture
def driver() -> suite.Driver:
    return COMPLETIONS


def carrying(folder: Path, native: Any) -> Chat:
    """Return a conversation with a skill that is always on and has one tool."""
    return attach(carried(folder, "bills", {"pay": native}), always=["bills"])


def spoken(*calls: suite.Call | str) -> Response:
    """Return a model's response."""
    step = calls[0] if isinstance(calls[0], str) else calls
    return Response.model_validate(Responses().reply(step, 0))  # type: ignore[arg-type]


def completed(*calls: suite.Call) -> ChatCompletion:
    return ChatCompletion.model_validate(Completions().reply(calls, 0))


# What is sent


def test_both_apis_get_the_same_in_their_own_form(skills: Satchel) -> None:
    chat = attach(skills)

    of_responses, of_chat = chat.responses([HI]), chat.completions([HI])

    first, *rest = of_chat["messages"]
    assert first == {"role": "system", "content": of_responses["instructions"]}
    assert rest == [HI]
    named = [{**tool["function"], "type": "function"} for tool in of_chat["tools"]]
    assert [{**tool, "strict": False} for tool in named] == of_responses["tools"]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_skills_stand_behind_your_leading_messages(skills: Satchel, role: str) -> None:
    mine = [{"role": role, "content": "One."}, {"role": role, "content": "Two."}]
    given = [*mine, HI, {"role": role, "content": "Later."}]

    messages = attach(skills).completions(given)["messages"]

    assert messages[0] == mine[0]
    assert messages[1]["role"] == role
    assert messages[1]["content"].startswith("Two.\n\nIf a skill fits")
    assert messages[2:] == given[2:]
    assert given[1] == {"role": role, "content": "Two."}


def test_parts_of_a_leading_message_are_kept(skills: Satchel, tmp_path: Path) -> None:
    part = {"type": "text", "text": BASE}
    given = [{"role": "system", "content": [part]}, HI]

    [first, _] = attach(skills).completions(given)["messages"]
    (tmp_path / "none").mkdir()
    [same, _] = attach(Satchel(tmp_path / "none")).completions(given)["messages"]

    assert first["content"][0] is part
    assert first["content"][1]["text"].startswith("If a skill fits")
    assert same is given[0]


def test_a_tool_that_the_provider_runs_is_handed_on(tmp_path: Path) -> None:
    search = {"type": "web_search"}
    chat = carrying(tmp_path, search)

    assert chat.responses([HI])["tools"][0] is search
    assert chat.completions([HI])["tools"][0] is search


# Answers


def test_a_response_a_completion_or_the_messages_are_answered(skills: Satchel) -> None:
    response, completion = spoken(load("refunds")), completed(load("refunds"))
    message = completion.choices[0].message.to_dict()

    [first] = attach(skills).run(response)
    [second] = attach(skills).run([HI, *response.output])
    [third] = attach(skills).run(completion)
    [fourth] = attach(skills).run([HI, message])

    assert first == second
    assert third == fourth
    assert (first["type"], first["call_id"]) == ("function_call_output", "c0-0")
    assert (third["role"], third["tool_call_id"]) == ("tool", "c0-0")
    assert first["output"] == third["content"]


def test_what_is_answered_is_not_made_again(skills: Satchel) -> None:
    chat = attach(skills)
    items = [HI, *spoken(load("refunds")).output]

    items += chat.run(items)

    assert chat.run(items) == []
    assert chat.run(spoken("done")) == []


def test_calls_of_your_own_tools_are_left_to_you(skills: Satchel) -> None:
    own = {"type": "function", "name": "weather", "parameters": {}}
    chat = attach(skills, tools=[own])
    response = spoken(Call("weather", {"city": "Bern"}), load("refunds"))

    [call] = chat.yours(response)
    results = chat.run(response)

    assert (call.name, call.arguments) == ("weather", {"city": "Bern"})
    assert call.result({"sun": True})["output"] == '{"sun": true}'
    assert [result["call_id"] for result in results] == ["c0-1"]


@pytest.mark.parametrize("arguments", ["[1]", "{"])
async def test_arguments_that_are_no_object_are_a_result(
    skills: Satchel, arguments: str
) -> None:
    chat = attach(skills)
    response = spoken(load("refunds"))
    response.output[0].arguments = arguments  # type: ignore[union-attr]

    for result in (*chat.run(response), *await chat.arun(response)):
        assert "no JSON object" in result["output"]


def test_parts_are_a_result_of_responses() -> None:
    part = {"type": "input_image", "image_url": "https://example.org/a.png"}

    def photo() -> object:
        """Take a photo."""
        return [part]

    skill = Skill("cam", description="Use for photos.", instructions="", tools=[photo])
    chat = attach(Satchel(skill), always=["cam"])

    [of_responses] = chat.run(spoken(Call("photo")))
    [of_chat] = chat.run(completed(Call("photo")))

    assert of_responses["output"] == [part]
    assert json.loads(of_chat["content"]) == [part]


# State


def test_where_the_provider_keeps_the_messages_what_is_new_is_enough(
    skills: Satchel,
) -> None:
    chat = attach(skills)
    request = chat.responses([HI])
    results = chat.run(spoken(load("refunds")))

    later: Any = chat.responses(results, previous_response_id="resp")
    last: Any = chat.responses([HI], conversation="conv")
    again = attach(skills, resume=json.dumps(chat.dump()))
    resumed: Any = again.responses([HI], previous_response_id="resp")

    assert later["previous_response_id"] == "resp"
    assert last["conversation"] == "conv"
    assert later["instructions"] == last["instructions"] == request["instructions"]
    assert "refund" in [tool["name"] for tool in last["tools"]]
    assert REFUNDS in resumed["instructions"]


# Native functions


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"cents": {"type": "integer"}},
    "required": ["cents"],
}
FUNCTION: Any = {
    "type": "function",
    "name": "pay",
    "parameters": SCHEMA,
    "strict": True,
}


def registered(execute: Any) -> Any:
    """Return what the SDK's tool runner takes, or the like before there is one."""
    try:
        from openai.lib.responses_tool_runner import RegisteredFunction
    except ImportError:
        return SimpleNamespace(tool=FUNCTION, execute=execute)
    return RegisteredFunction(FUNCTION, execute)


PAY = Call("pay", {"cents": 5})


def test_a_function_of_the_tool_runner_has_both_forms(tmp_path: Path) -> None:
    chat = carrying(tmp_path, registered(str))

    of_responses = chat.responses([HI])["tools"]
    of_chat = chat.completions([HI])["tools"]

    assert of_responses[0]["name"] == of_chat[0]["function"]["name"] == "pay"
    assert of_responses[0]["strict"] is True
    assert "type" not in of_chat[0]["function"]


class Pay(BaseModel):
    """Pay a bill."""

    cents: int


def test_a_typed_one_gets_its_model(tmp_path: Path) -> None:
    runner = pytest.importorskip("openai.lib.responses_tool_runner")
    from openai import pydantic_responses_function_tool

    native = runner.RegisteredFunction.from_tool(
        pydantic_responses_function_tool(Pay, name="pay"),
        execute=lambda pay: f"paid {pay.cents}",
    )
    chat = carrying(tmp_path, native)

    assert chat.run(spoken(PAY))[0]["output"] == "paid 5"


def test_one_that_raises_is_a_result(tmp_path: Path) -> None:
    def execute(_: object) -> str:
        raise RuntimeError("/secret")

    [result] = carrying(tmp_path, registered(execute)).run(spoken(PAY))

    assert "internal-error" in result["output"]
    assert "secret" not in result["output"]


async def test_an_asynchronous_one_is_awaited(tmp_path: Path) -> None:
    async def execute(given: Any) -> str:
        return f"paid {given['cents']}"

    chat = carrying(tmp_path, registered(execute))

    assert (await chat.arun(spoken(PAY)))[0]["output"] == "paid 5"
    assert "acall" in chat.run(spoken(PAY))[0]["output"]


# The SDK's own streams


def test_the_sdks_stream_of_completions_can_be_answered(skills: Satchel) -> None:
    client, _ = clients(transport(Completions(), lambda _: [load("refunds")], []))
    chat = attach(skills)

    request: Any = chat.completions([HI])
    completions: Any = client.chat.completions
    if not hasattr(completions, "stream"):  # before 1.92
        completions = client.beta.chat.completions
    with completions.stream(model="fake", **request) as stream:
        completion = stream.get_final_completion()

    assert REFUNDS in chat.run(completion)[0]["content"]
