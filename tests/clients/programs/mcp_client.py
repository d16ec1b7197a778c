"""The client of the package `mcp`, in both eras: ``mcp_client.py ADDRESS LIBRARY``."""

import asyncio
import sys
from base64 import b64decode
from typing import Any, Literal
from urllib.parse import unquote

from mcp.client import Client, advertise
from mcp_types import BlobResourceContents, Request, RequestParams, Result
from pydantic import ConfigDict

from tests.clients.programs.steps import digest, files_of, same, step

EXTENSION = "io.modelcontextprotocol/skills"


class Asked(RequestParams):
    """What the skills extension's methods take."""

    uri: str | None = None
    cursor: str | None = None


class Answer(Result):
    """What they answer, as it came."""

    model_config = ConfigDict(extra="allow")


async def ask(client: Client, method: str, **params: str) -> dict[str, Any]:
    """Call a method of the extension."""
    request = Request[Asked, str](method=method, params=Asked.model_validate(params))
    answer = await client.session.send_request(request, Answer)
    return answer.model_dump(by_alias=True)


async def read(client: Client, uri: str) -> bytes:
    """Read a resource, as bytes."""
    (content,) = (await client.read_resource(uri)).contents
    if isinstance(content, BlobResourceContents):
        return b64decode(content.blob)
    return content.text.encode()


async def main(address: str, library: str, era: Literal["auto", "legacy"]) -> None:
    """Do what a client does, once."""
    files = files_of(library)
    extensions = [advertise(EXTENSION)]
    async with Client(f"{address}/mcp", mode=era, extensions=extensions) as client:
        with step(f"connects, {era}") as said:
            said.append(f"protocol {client.protocol_version}")
            same(client.protocol_version >= "2026-07-28", era == "auto")
        with step(f"skills/list, {era}") as said:
            listed = (await ask(client, "skills/list"))["skills"]
            entries = {each["uri"]: each for each in listed}
            assert len(entries) > 1, "there are several skills"
            for uri, each in entries.items():
                one = await ask(client, "skills/get", uri=uri)
                same(one["skill"], each)
            said.append(f"{len(entries)} skills, and skills/get says the same of each")
        with step(f"resources/read, {era}") as said:
            read_files = 0
            for entry in entries.values():
                for resource in entry["resources"]:
                    data = await read(client, resource["uri"])
                    same(
                        (len(data), digest(data)),
                        (resource["size"], resource["digest"]),
                    )
                    path = unquote(resource["uri"].removeprefix("skill://"))
                    same(data, files[path])
                    read_files += 1
            said.append(f"{read_files} files, byte for byte")
        with step(f"tools, {era}") as said:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            said.append(", ".join(tools))
            result = await client.call_tool("load_skill", {"name": "a-nested"})
            same(result.is_error, False)
            assert "# Nested" in str(result.content), "the text is in the result"
        with step(f"prompts, {era}") as said:
            prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
            said.append(", ".join(prompts))
            given = await client.get_prompt(
                "d-arguments", {"name": "Ana", "place": "Rome"}
            )
            assert "Greet Ana in Rome." in str(given.messages), "arguments are put in"


if __name__ == "__main__":
    for mode in ("auto", "legacy"):
        asyncio.run(main(sys.argv[1], sys.argv[2], mode))
