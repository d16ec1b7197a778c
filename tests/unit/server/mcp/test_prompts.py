"""Prompts: the skills that people call themselves."""

from pathlib import Path

import pytest
from mcp.client import Client
from mcp_types import PromptReference, ResourceTemplateReference, TextContent

from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server._mcp._extension import TEMPLATE
from tests.unit.server.mcp.clients import (
    ERAS,
    connected,
    library,
    refused,
    write_skills,
)


async def text(client: Client, name: str, arguments: dict[str, str]) -> str:
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


@pytest.mark.parametrize("era", ERAS)
async def test_each_skill_that_a_user_may_call_is_a_prompt(
    tmp_path: Path, era: str
) -> None:
    write_pack(write_skills(tmp_path), "model-only", user_invocable=False)
    write_pack(tmp_path, "odd", "Use\u202e it.", argument_hint="<a\u200bb>")

    async with connected(library(tmp_path, page_size=2), era) as client:
        first = await client.list_prompts()
        second = await client.list_prompts(cursor=first.next_cursor)
        assert second.next_cursor is None
        prompts = {p.name: p for p in first.prompts + second.prompts}
        assert [*prompts] == ["alpha", "beta", "handshake", "odd"]
        assert [a.name for a in prompts["beta"].arguments or ()] == ["file", "kind"]
        assert prompts["odd"].arguments
        (free,) = prompts["odd"].arguments
        assert (free.name, free.description) == ("arguments", "<ab>")
        assert free.required is False
        assert prompts["odd"].description == "Use it."
        assert prompts["odd"].title == "odd"


@pytest.mark.parametrize("era", ERAS)
async def test_arguments_stand_in_their_places(tmp_path: Path, era: str) -> None:
    sink = ListSink()

    async with connected(library(write_skills(tmp_path), sink=sink), era) as client:
        for arguments, expected in (
            ({"file": "a b.pdf", "kind": "docx"}, "Turn a b.pdf into docx."),
            ({"kind": "docx"}, "Turn  into docx."),
            ({"file": "it's"}, "Turn it's into ."),
            ({}, "Turn  into ."),
            ({"arguments": "x y"}, "Turn x into y."),
        ):
            assert expected in await text(client, "beta", arguments)
        hands = {"arguments": "both hands"}
        assert "Shake both hands." in await text(client, "handshake", hands)
    assert {(e.name, e.via) for e in sink.events if e.event == "skill_loaded"} == {
        ("beta", "mcp"),
        ("handshake", "mcp"),
    }


async def test_the_files_are_read_with_the_tools_that_there_are(
    client: Client, tmp_path: Path
) -> None:
    result = await text(client, "alpha", {})
    assert "with load_skill and read_skill_file" in result
    assert str(tmp_path) not in result


async def test_what_is_no_prompt_is_an_invalid_parameter(tmp_path: Path) -> None:
    """And a name that is not there an event: authors want to know what is wanted."""
    write_pack(write_skills(tmp_path), "model-only", user_invocable=False)
    sink = ListSink()

    async with connected(library(tmp_path, sink=sink)) as client:
        for name, arguments in (
            ("gamma", {}),
            ("model-only", {}),
            ("beta", {"colour": "red"}),
            ("alpha", {"file": "x"}),
        ):
            error = await refused(client.get_prompt(name, arguments))
            assert error.code == -32602
    missed = [(event.name, event.code) for event in sink.events]
    assert ("gamma", "skill-not-found") in missed


async def test_a_skill_that_cannot_be_read_now_hides_no_other(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))
    (tmp_path / "beta" / "SKILL.md").unlink()

    async with connected(served) as client:
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["alpha", "beta", "handshake"]
        assert [a.name for a in prompts[1].arguments or ()] == ["arguments"]


async def test_a_hint_offers_words(client: Client) -> None:
    for prompt, argument, typed, values in (
        ("beta", "file", "", ["pdf", "docx"]),
        ("beta", "file", "d", ["docx"]),
        ("beta", "kind", "", []),
        ("alpha", "arguments", "", []),
    ):
        ref = PromptReference(name=prompt)
        result = await client.complete(ref, {"name": argument, "value": typed})
        assert result.completion.values == values
        assert result.completion.total == len(values)
        assert result.completion.has_more is False


@pytest.mark.row("F45")
async def test_a_template_offers_nothing_that_the_list_leaves_out(
    tmp_path: Path,
) -> None:
    """For some only their SKILL.md shows that the extension cannot carry them."""
    write_skills(tmp_path)
    for name in ("2024", "gone", "s-fine"):
        write_pack(tmp_path, name, files={"references/a.md": "a\n"})
    (tmp_path / "2024" / "SKILL.md").write_text(
        "---\nname: 2024\ndescription: Use it.\n---\n"
    )
    served = library(tmp_path)
    (tmp_path / "gone" / "SKILL.md").unlink()

    async with connected(served) as client:
        ref = ResourceTemplateReference(uri=TEMPLATE)
        result = await client.complete(ref, {"name": "skill", "value": ""})
        listed = (await client.list_resources()).resources
        skills = [str(item.uri).split("/")[2] for item in listed]
        assert result.completion.values == skills
        assert {"s-fine", "alpha"} <= {*skills}
        assert not {"2024", "gone"} & {*skills}
        for skill in ("2024", "gone"):
            path = {"name": "path", "value": ""}
            paths = await client.complete(ref, path, {"skill": skill})
            assert paths.completion.values == []


async def test_a_template_offers_skills_and_their_files(tmp_path: Path) -> None:
    write_skills(tmp_path)
    for n in range(105):
        write_pack(tmp_path, f"skill-{n:03}")

    async with connected(library(tmp_path)) as client:
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == TEMPLATE
        ref = ResourceTemplateReference(uri=TEMPLATE)
        many = (await client.complete(ref, {"name": "skill", "value": "s"})).completion
        assert (len(many.values), many.total, many.has_more) == (100, None, True)
        for skill, typed, expected in (
            ("alpha", "ref", ["references/deep/more.md", "references/guide.md"]),
            ("alpha", "S", ["SKILL.md"]),
            ("gamma", "", []),
            ("alpha/SKILL.md", "", []),
            ("", "", []),
        ):
            path = {"name": "path", "value": typed}
            result = await client.complete(ref, path, {"skill": skill})
            assert result.completion.values == expected
        bare = await client.complete(ref, {"name": "path", "value": ""})
        assert bare.completion.values == []
        for wrong in (
            ref,
            ResourceTemplateReference(uri="x://{y}"),
            PromptReference(name="x"),
            PromptReference(name="alpha"),
        ):
            bad = client.complete(wrong, {"name": "y", "value": ""})
            assert (await refused(bad)).code == -32602
