"""Tools for clients that know no skills."""

import json
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.client import Client
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from satchel import Policy, Satchel, Session, ask, deny
from satchel.model import Style
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import ServedLibrary
from tests.unit.server.mcp.clients import (
    ERAS,
    connected,
    library,
    refused,
    write_skills,
)

SEVEN = [
    "name",
    "body",
    "available_references",
    "available_scripts",
    "reference_content",
    "script_content",
    "error",
]


def data(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content; the text next to it says the same."""
    assert result.structured_content is not None
    (content,) = result.content
    assert isinstance(content, TextContent)
    answer = cast("dict[str, Any]", result.structured_content)
    if set(answer) == {"result"}:
        assert content.text == answer["result"]
    else:
        assert json.loads(content.text) == answer
    return answer


def said(result: CallToolResult) -> str:
    """Return the text of a result that has no other form."""
    assert result.structured_content is None
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def tools_of(client: Client) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await client.list_tools()).tools}


async def call(client: Client, tool: str, /, **arguments: object) -> dict[str, Any]:
    """Call a tool; what it gives fits the schema that it was announced with."""
    result = await client.call_tool(tool, arguments)
    answer = data(result)
    schema = (await tools_of(client))[tool].output_schema
    assert schema is not None
    Draft202012Validator(schema).validate(answer)
    assert result.is_error == bool(answer.get("error"))
    return answer


@pytest.mark.row("C25", "C26", "C27", "C28", "C29", "X22", "R10")
@pytest.mark.parametrize("era", ERAS)
async def test_load_skill_gives_the_seven_keys_as_data_and_as_text(
    client: Client,
) -> None:
    schema = (await tools_of(client))["load_skill"].input_schema
    assert [*schema["properties"]] == ["name", "reference", "script"]
    assert schema["required"] == ["name"]
    result = await call(client, "load_skill", name="alpha")
    assert [*result][:7] == SEVEN
    assert {key: result[key] for key in SEVEN} == {
        **dict.fromkeys(SEVEN),
        "name": "alpha",
        "body": "\nDo alpha.\n",
        "available_references": ["deep/more.md", "guide.md"],
        "available_scripts": ["run.py"],
    }
    assert await call(client, "load_skill", name="alpha") == result
    beta = await call(client, "load_skill", name="beta")
    assert beta["available_references"] == beta["available_scripts"] == []


@pytest.mark.row("C30", "C31", "R14")
async def test_files_come_raw_and_each_by_one_tool(client: Client) -> None:
    result = await call(
        client, "load_skill", name="alpha", reference="guide.md", script="run.py"
    )
    assert result["body"] == ""
    assert result["reference_content"] == "# Guide\r\n"
    assert result["script_content"] == "print(1)\n"
    other = await call(client, "read_skill_file", name="alpha", path="latin.txt")
    assert other["content"] == "café\n"
    image = await call(client, "read_skill_file", name="alpha", path="assets/dot.png")
    assert (image["content"], image["size_bytes"]) == (None, 6)
    path = "references/guide.md"
    own = await call(client, "read_skill_file", name="alpha", path=path)
    assert "load_skill gives it" in own["error"]["message"]


@pytest.mark.row("C32", "R24")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "gamma"}, "skill 'gamma' not found"),
        ({"name": "handshake"}, "is hidden and cannot be loaded"),
        ({"name": "alpha", "reference": "nope.md"}, "is not a listed file"),
        ({"name": "alpha", "reference": "../../etc/passwd"}, "does not stay inside"),
        ({"name": "secret"}, "is not allowed here"),
        ({"name": "asked"}, "needs an approval"),
    ],
)
async def test_what_could_not_be_loaded_is_a_result(
    tmp_path: Path, arguments: dict[str, object], message: str
) -> None:
    write_skills(tmp_path)
    for name in ("secret", "asked"):
        write_pack(tmp_path, name)
    policy = Policy(deny("secret"), ask("asked"))

    async with connected(library(tmp_path, policy=policy)) as client:
        result = await call(client, "load_skill", **arguments)
        assert message in result["error"]
        assert [*result] == SEVEN
        assert str(tmp_path) not in json.dumps(result)


@pytest.mark.row("E14")
@pytest.mark.parametrize("style", get_args(Style))
async def test_arguments_are_held_against_the_schema_before_anything_else(
    tmp_path: Path, style: str
) -> None:
    sink = ListSink()
    served = library(write_skills(tmp_path), sink=sink, style=style)

    async with connected(served) as client:
        for tool in (await client.list_tools()).tools:
            if not tool.input_schema["required"]:
                continue
            key = tool.input_schema["required"][0]
            for arguments, message in (
                ({}, f"missing argument '{key}'"),
                ({key: 5}, f"argument '{key}' has to be of type string"),
                ({key: "x" * 5_000}, "has more than 4,096 characters"),
                ({key: "alpha", "more": 1}, "unknown argument 'more'"),
            ):
                result = await client.call_tool(tool.name, arguments)
                assert result.is_error
                if style == "lean":
                    text = said(result)
                    assert text.startswith(f"Error: {tool.name}: ")
                else:
                    error = data(result)["error"]
                    text = error if isinstance(error, str) else error["message"]
                if "path" in tool.input_schema["required"] and "more" in arguments:
                    continue
                assert message in text or len(text) < 400, text
                if style == "lean":
                    continue
                assert tool.output_schema is not None
                Draft202012Validator(tool.output_schema).validate(data(result))
        error = await refused(client.call_tool("rm", {}))
        assert (error.code, error.message) == (-32602, "there is no such tool")
    assert {e.code for e in sink.events} == {"bad-tool-call"}


@pytest.mark.row("D05", "D11", "U08", "F98")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("style", "tool", "key", "expected"),
    [
        ("lean", "load_skill", "skill_id", "skill 'nope' was not found"),
        ("agent-skills", "load_skill", "skill_id", '<skill_context id="nope">'),
        ("packs", "load_skill", "name", "skill 'nope' not found"),
        ("references", "load_skill_instructions", "skill_name", "unknown_skill"),
    ],
)
async def test_an_empty_library_offers_nothing_and_answers(  # noqa: PLR0913, PLR0917
    style: Style, tool: str, key: str, expected: str, era: str, tmp_path: Path
) -> None:
    served = library(tmp_path, style=style)
    async with connected(served, era) as client:
        assert await tools_of(client) == {}
        result = await client.call_tool(tool, {key: "nope"})
        error = await refused(client.call_tool("rm", {}))

    (content,) = result.content
    assert isinstance(content, TextContent)
    assert expected in content.text
    assert error.message == "there is no such tool"
    session = served_session(style, tmp_path)
    assert not list(session.tools())
    assert expected in str(session.call(tool, {key: "nope"}))
    assert "there is no such tool" in str(session.call("rm", {}))


def served_session(style: Style, folder: Path) -> Session:
    return Satchel(folder).session(style=style)


@pytest.mark.row("X10")
@pytest.mark.parametrize(
    ("style", "names"),
    [
        ("lean", "load_skill read_skill_file"),
        ("packs", "load_skill read_skill_file"),
        ("agent-skills", "load_skill read_skill_file"),
        ("references", "list_skills search_skills load_skill_instructions"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_the_style_decides_and_no_two_do_one_thing(
    tmp_path: Path, era: str, style: str, names: str
) -> None:
    served = library(write_skills(tmp_path), style=style)
    async with connected(served, era) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == names.split()
        for tool in tools:
            assert tool.annotations == ToolAnnotations(
                title=tool.title,
                read_only_hint=True,
                idempotent_hint=True,
                destructive_hint=False,
                open_world_hint=False,
            )


@pytest.mark.row("T01")
async def test_the_default_is_lean_lines_and_a_name_is_understood(
    tmp_path: Path,
) -> None:
    skills = Satchel(write_skills(tmp_path), sinks=())
    async with connected(ServedLibrary(skills)) as client:
        tools = await tools_of(client)
        assert "\n- alpha: Use for alpha." in (tools["load_skill"].description or "")
        for tool in tools.values():
            assert tool.output_schema is None
            assert "maxLength" not in str(tool.input_schema)
        for arguments in ({"skill_id": "alpha"}, {"name": "alpha"}):
            answer = said(await client.call_tool("load_skill", arguments))
            assert answer.startswith("Skill: alpha\nFiles (read_skill_file): ")
            assert answer.endswith("\n\nDo alpha.")
        path = {"name": "alpha", "path": "guide.md"}
        file = said(await client.call_tool("read_skill_file", path))
        assert file == "File: references/guide.md of alpha\n\n# Guide\r\n"
        for arguments in (
            {"skill_id": "gamma"},
            {"skill_id": "gamma", "name": "alpha"},
        ):
            result = await client.call_tool("load_skill", arguments)
            assert result.is_error
            assert said(result).startswith("Error: ")


@pytest.mark.row("R18")
async def test_the_style_agent_skills_gives_its_envelope(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path), style="agent-skills")
    async with connected(served) as client:
        answer = await call(client, "load_skill", skill_id="alpha")
        assert answer["result"].startswith('<skill_context id="alpha">\n')
        assert "<active_resources>" in answer["result"]
        assert str(tmp_path) not in answer["result"]
        result = await client.call_tool("load_skill", {"skill_id": "gamma"})
        assert result.is_error
        assert "was not found" in data(result)["result"]
        file = await call(client, "read_skill_file", skill_id="alpha", path="guide.md")
        assert file["content"] == "# Guide\r\n"
        gone = await call(client, "read_skill_file", skill_id="alpha", path="x")
        assert gone["error"]["code"] == "reference-not-allowed"


async def test_the_style_references_gives_descriptors(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path), style="references")
    async with connected(served) as client:
        listed = await call(client, "list_skills")
        assert [entry["name"] for entry in listed["skills"]] == ["alpha", "beta"]
        actual = await call(client, "search_skills", query="BETA")
        assert [entry["name"] for entry in actual["matches"]] == ["beta"]
        name = "load_skill_instructions"
        result = await call(client, name, skill_name="alpha")
        assert result["instructions"] == "\nDo alpha.\n"
        text = await call(client, name, skill_name="alpha", reference="guide.md")
        assert text == {"result": "# Guide\r\n"}
        unknown = await call(client, name, skill_name="gamma")
        assert unknown["error"] == "unknown_skill"


@pytest.mark.parametrize("era", ERAS)
async def test_the_catalog_stands_where_these_clients_look(
    tmp_path: Path, era: str
) -> None:
    """With the load tool, after every sync; the instructions point there, once."""
    served = library(write_skills(tmp_path))

    async with connected(served, era) as client:
        assert (client.instructions or "").startswith("This server has skills")
        assert "its tool load_skill lists them" in (client.instructions or "")
        tools = await tools_of(client)
        sent = str(client.instructions) + "".join(
            str(tools[t].description) for t in tools
        )
        assert sent.count("Use for alpha.") == 1
        assert "Use for alpha." in (tools["load_skill"].description or "")
        assert "Only people." not in sent
        assert [*await tools_of(client)] == [*tools]
        write_pack(tmp_path, "gamma", "Use for gamma.")
        served.refresh()
        later = (await tools_of(client))["load_skill"].description
        assert "Use for gamma." in (later or "")


@pytest.mark.parametrize("era", ERAS)
async def test_a_large_library_says_first_where_to_search(
    tmp_path: Path, era: str
) -> None:
    for number in range(60):
        write_pack(tmp_path, f"skill-{number}", "Use it. " * 100)
    skills = Satchel(tmp_path, sinks=(), budget_tokens=200)

    async with connected(ServedLibrary(skills), era) as client:
        assert "Call find_skills with a few words" in (client.instructions or "")
        assert "skill-59" not in (client.instructions or "")


async def test_no_skill_no_tool_and_nothing_to_say(tmp_path: Path) -> None:
    for era in ERAS:
        async with connected(library(tmp_path), era) as client:
            assert client.instructions is None
            assert (await client.list_tools()).tools == []
            assert (await client.list_prompts()).prompts == []
            assert (await client.list_resources()).resources == []


async def test_many_skills_are_found_by_a_tool(tmp_path: Path) -> None:
    for n in range(31):
        write_pack(tmp_path, f"skill-{n:02}", f"Use for forms of kind {n}.")

    async with connected(library(tmp_path)) as client:
        assert [*await tools_of(client)] == ["load_skill", "find_skills"]
        result = await call(client, "find_skills", query="forms kind 7", k=2)
        assert len(result["skills"]) == 2
        bad = await client.call_tool("find_skills", {"query": "x", "k": 0})
        assert bad.is_error
        error = data(bad)["error"]
        assert error["message"].endswith("argument 'k' has to be from 1 to 50")


@pytest.mark.row("C33", "T10", "F31")
async def test_a_call_that_is_refused_for_its_form_is_an_event(tmp_path: Path) -> None:
    sink = ListSink()
    served = library(write_skills(tmp_path), sink=sink)

    async with connected(served) as client:
        for arguments in ({}, {"name": "alpha", "file": "x"}, {"name": ["alpha"]}):
            result = await client.call_tool("load_skill", arguments)
            assert result.is_error
        both = {"name": "alpha", "reference": "guide.md", "script": "run.py"}
        assert not (await client.call_tool("load_skill", both)).is_error
    assert [(e.name, e.reference, e.script, e.code, e.via) for e in sink.events] == [
        *(("<invalid>", None, None, "bad-tool-call", "mcp"),),
        *(("alpha", None, None, "bad-tool-call", "mcp"),),
        *(("<invalid>", None, None, "bad-tool-call", "mcp"),),
        *(("alpha", "references/guide.md", "scripts/run.py", None, "mcp"),),
    ]
