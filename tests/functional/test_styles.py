"""One word chooses what a model reads, and everywhere it chooses the same bytes.

``tests/cases/styles/STYLE.json`` holds, for each style, the section of the prompt, the
tools, and what they give for the packs below. The three older styles are a contract.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent
from starlette.testclient import TestClient

from satchel import Satchel
from satchel.adapters._base import SessionFactory
from satchel.model import Style
from satchel.prompt import Format, render
from satchel.testing import write_pack
from satchel.tools import result_text
from satchel_server import ServedLibrary, ServerSettings, create_app
from tests.fakes import LOADERS
from tests.unit.server.mcp.clients import connected

pytestmark = pytest.mark.row("T01", "R18", "X10", "X20")

CASES = Path(__file__).parent.parent / "cases" / "styles"
STYLES: tuple[Style, ...] = get_args(Style)
Given = dict[str, Any]


@pytest.fixture(name="packs")
def write_packs(tmp_path: Path) -> Path:
    home = tmp_path / "skills"
    write_pack(
        home,
        "pdf-forms",
        'Fill in <PDF> forms & check them: "by field".',
        "# PDF forms\n\nSee ${SKILL_DIR}/references/fields.md.\n",
        files={
            "references/fields.md": "# Fields\n",
            "scripts/fill.py": "print(1)\n",
            "assets/logo.png": b"\x89PNG\x00",
            "NOTICE.txt": "Free.\n",
        },
    )
    write_pack(home, "refunds", "Pay back an order.", "# Refunds\n")
    return home


def calls(style: Style) -> list[tuple[str, dict[str, str]]]:
    """Return calls of every tool of a style, with good arguments and bad ones."""
    load, key = LOADERS[style]
    files: dict[str, tuple[str, list[str]]] = {
        "packs": ("load_skill", ["reference", "script"]),
        "references": (load, ["reference"]),
    }
    reader, parameters = files.get(style, ("read_skill_file", ["path"]))
    paths = {"reference": "fields.md", "script": "fill.py", "path": "fields.md"}
    found = [(load, {key: id}) for id in ("pdf-forms", "refunds", "nope")]
    found += [(reader, {key: "pdf-forms", p: paths[p]}) for p in parameters]
    found += [(reader, {key: "pdf-forms", p: "nope.md"}) for p in parameters]
    if style == "references":
        return [*found, ("list_skills", {}), ("search_skills", {"query": "PDF"})]
    for path in ("NOTICE.txt", "logo.png", "SKILL.md"):
        found.append(("read_skill_file", {key: "pdf-forms", "path": path}))
    return found


def given_by(toolbox: Any, style: Style, section: str) -> Given:  # noqa: ANN401
    """Return what a model reads: the section, each tool, each result by its call."""
    return {
        "section": section,
        "tools": [
            {"name": t.name, "description": t.description, "parameters": t.parameters}
            for t in toolbox
        ],
        "results": {
            f"{name} {json.dumps(arguments)}": result_text(
                toolbox.call(name, arguments)
            )
            for name, arguments in calls(style)
        },
    }


def expected(style: Style) -> Given:
    return dict(json.loads((CASES / f"{style}.json").read_text("utf-8")))


# --- Every way to choose one ----------------------------------------------------------


def by_satchel(packs: Path, style: Style) -> Given:
    skills = Satchel(packs, style=style)
    return given_by(skills.view().tools(), style, str(skills.prompt()))


def by_session(packs: Path, style: Style) -> Given:
    skills = Satchel(packs)
    section = skills.session(style=style).instructions()
    assert section == str(skills.prompt(style=style))
    return given_by(skills.view(style=style).tools(), style, section)


def by_config(packs: Path, style: Style) -> Given:
    config = packs.parent / "satchel.toml"
    config.write_text(f'style = "{style}"\nskills = ["skills"]\n', "utf-8")
    with chdir(packs.parent):
        skills = Satchel()
    return given_by(skills.view().tools(), style, str(skills.prompt()))


def by_adapter(packs: Path, style: Style) -> Given:
    """As every adapter opens its sessions; each call in a turn of its own."""
    skills = Satchel(packs)

    class Fresh:
        def __iter__(self) -> Any:  # noqa: ANN401
            return iter(self.opened().tools())

        def opened(self) -> Any:  # noqa: ANN401
            options: Any = {"style": style}
            return (
                SessionFactory[object](skills, None, None, options).open(None).session
            )

        def call(self, name: str, arguments: Mapping[str, object]) -> object:
            return self.opened().call(name, arguments)

    fresh = Fresh()
    return given_by(fresh, style, fresh.opened().instructions())


IN_PROCESS: dict[str, Callable[[Path, Style], Given]] = {
    "Satchel": by_satchel,
    "session": by_session,
    "satchel.toml": by_config,
    "adapters": by_adapter,
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("how", IN_PROCESS)
def test_one_word_gives_these_bytes(packs: Path, how: str, style: Style) -> None:
    assert IN_PROCESS[how](packs, style) == expected(style)


async def served(client: Client, style: Style) -> Given:
    listed = (await client.list_tools()).tools
    results: dict[str, str] = {}
    for name, arguments in calls(style):
        (content,) = (await client.call_tool(name, arguments)).content
        assert isinstance(content, TextContent)
        results[f"{name} {json.dumps(arguments)}"] = content.text
    tools = [
        {"name": tool.name, "description": tool.description.partition("\n\n")[0]}
        for tool in listed
        if tool.description
    ]
    parts = [str(tool.description).partition("\n\n")[2] for tool in listed]
    section = next(part for part in parts if part)
    return {"section": section, "tools": tools, "results": results}


def as_served(style: Style) -> Given:
    """Return the same without the schemas, which have bounds for callers elsewhere."""
    wanted = expected(style)
    for tool in wanted["tools"]:
        del tool["parameters"]
    return wanted


@pytest.mark.parametrize("style", STYLES)
def test_a_server_gives_these_bytes(packs: Path, style: Style) -> None:
    library = ServedLibrary(Satchel(packs), ServerSettings(style=style))

    async def compare() -> None:
        async with connected(library) as client:
            assert await served(client, style) == as_served(style)

    asyncio.run(compare())
    with TestClient(create_app(library)) as http:
        for query in ("", f"?style={style}"):
            text = http.get(f"/v1/prompt{query}").json()["text"]
            assert text == expected(style)["section"]


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_satchel_serve_gives_these_bytes(packs: Path, style: Style) -> None:
    command = [*("-m", "satchel", "serve", "--stdio", "--style", style), str(packs)]

    async def compare() -> None:
        server = StdioServerParameters(command=sys.executable, args=command)
        async with Client(server, cache=None) as client:
            assert await served(client, style) == as_served(style)

    asyncio.run(compare())


# --- Without a word, and with another -------------------------------------------------


def test_without_a_word_it_is_lean(packs: Path) -> None:
    skills = Satchel(packs)
    lean = expected("lean")

    assert given_by(skills.view().tools(), "lean", str(skills.prompt())) == lean
    assert str(render(skills.catalog)) == lean["section"]
    with TestClient(create_app(ServedLibrary(skills))) as http:
        assert http.get("/v1/prompt").json()["text"] == lean["section"]


@pytest.mark.parametrize("shape", get_args(Format))
@pytest.mark.parametrize("style", STYLES)
def test_a_format_is_one_word_wherever_a_prompt_is_made(
    packs: Path, style: Style, shape: Format
) -> None:
    skills = Satchel(packs, style=style)
    text = str(skills.prompt(format=shape))

    assert str(skills.view().prompt(format=shape)) == text
    assert str(Satchel(packs).prompt(format=shape, style=style)) == text
    assert (text == expected(style)["section"]) is (
        shape == ("lean" if style == "lean" else "xml-id")
    )
    if shape == "xml-spec":  # shows places on this machine, so no server has it
        return
    assert str(render(skills.catalog, format=shape, style=style)) == text
    with TestClient(create_app(ServedLibrary(Satchel(packs)))) as http:
        query = {"style": style, "format": shape}
        assert http.get("/v1/prompt", params=query).json()["text"] == text
