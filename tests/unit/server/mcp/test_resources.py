"""Resources for readers of earlier drafts."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp_types import TextResourceContents

from satchel.testing import write_pack
from tests.unit.server.mcp.clients import (
    ERAS,
    connected,
    library,
    refused,
    write_skills,
)

URIS = ["skill://index.json", "skill://alpha/_manifest"]


async def read(client: Client, uri: str) -> Any:  # noqa: ANN401
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    assert contents.mime_type == "application/json"
    return json.loads(contents.text)


@pytest.mark.parametrize("era", ERAS)
async def test_an_index_and_a_manifest_where_they_are_wanted(
    tmp_path: Path, era: str
) -> None:
    served = library(write_skills(tmp_path), compat=True)
    async with connected(served, era) as client:
        index = await read(client, URIS[0])
        assert index["$schema"].endswith("/discovery/0.2.0/schema.json")
        alpha, beta = index["skills"]
        assert {key: alpha[key] for key in ("name", "type", "url")} == {
            "name": "alpha",
            "type": "skill-md",
            "url": "skill://alpha/SKILL.md",
        }
        assert beta["description"] == "Use for beta."
        manifest = await read(client, URIS[1])
        assert manifest["skill"] == "alpha"
        assert [item["path"] for item in manifest["files"]][:2] == [
            "SKILL.md",
            "assets/dot.png",
        ]
        assert manifest["files"][0]["hash"] == alpha["digest"]
        assert manifest["files"][1]["size"] == 6
        nobody = client.read_resource("skill://gamma/_manifest")
        assert (await refused(nobody)).code == -32602


@pytest.mark.parametrize("uri", URIS)
async def test_nothing_of_it_where_it_is_not_wanted(client: Client, uri: str) -> None:
    assert (await refused(client.read_resource(uri))).code == -32602


async def test_a_file_of_that_name_goes_first(tmp_path: Path) -> None:
    write_pack(tmp_path, "alpha", files={"_manifest": "Mine."})

    async with connected(library(tmp_path, compat=True)) as client:
        (contents,) = (await client.read_resource(URIS[1])).contents
        assert isinstance(contents, TextResourceContents)
        assert contents.text == "Mine."
