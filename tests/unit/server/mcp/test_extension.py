"""The skills extension, asked by a real client in both eras."""

import hashlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp_types import TextResourceContents

from satchel import Policy, Skill, deny, sources
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import Caller, ServedLibrary
from satchel_server._mcp._skills import ExtensionCatalog
from tests.unit.server.mcp.clients import (
    ERAS,
    ask,
    connected,
    library,
    refused,
    run,
    write_skills,
)

IDENTIFIER = "io.modelcontextprotocol/skills"


async def all_pages(client: Client, method: str, key: str, **params: object) -> Any:  # noqa: ANN401
    actual: list[Any] = []
    cursor: dict[str, object] = {}
    for _ in range(50):
        result = await ask(client, method, **params, **cursor)
        actual += result[key]
        if "nextCursor" not in result:
            return actual
        cursor = {"cursor": result["nextCursor"]}
    raise AssertionError("no end of pages")


async def read(client: Client, uri: str) -> bytes:
    """Return a resource's bytes."""
    (contents,) = (await client.read_resource(uri)).contents
    if isinstance(contents, TextResourceContents):
        return contents.text.encode()
    return b64decode(contents.blob)


def names(entries: list[Any]) -> list[str]:
    return [entry["frontmatter"]["name"] for entry in entries]


@pytest.mark.parametrize("era", ERAS)
async def test_an_entry_holds_what_a_host_compares(
    client: Client, tmp_path: Path, era: str
) -> None:
    """Frontmatter field by field, digest and size of every file, byte by byte."""
    offered = client.server_capabilities
    declared = {IDENTIFIER: {"directoryRead": True}}
    assert offered.extensions == (declared if era == "auto" else None)
    assert offered.resources is not None
    assert offered.resources.list_changed
    result = await ask(client, "skills/list")
    assert result["ttlMs"] == 60_000
    assert result["cacheScope"] == "public"
    alpha, beta = result["skills"]
    assert alpha["frontmatter"] == {"name": "alpha", "description": "Use for alpha."}
    assert beta["frontmatter"] == {
        "name": "beta",
        "description": "Use for beta.",
        "arguments": ["file", "kind"],
        "argument-hint": "<file> [pdf|docx]",
    }
    uris = [item["uri"] for item in alpha["resources"]]
    assert uris == sorted(set(uris))
    assert uris[0] == alpha["uri"] == "skill://alpha/SKILL.md"
    assert len(uris) == 6
    for answer in alpha["resources"]:
        data = await read(client, answer["uri"])
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert (digest, len(data)) == (answer["digest"], answer["size"])
        path = answer["uri"].removeprefix("skill://alpha/")
        assert data == (tmp_path / "alpha" / path).read_bytes()


async def test_frontmatter_goes_out_as_it_was_written(tmp_path: Path) -> None:
    """All fields, with the values of YAML 1.2: not those of 1.1; it is in no list."""
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "SKILL.md").write_bytes(
        b"\xef\xbb\xbf---\r\nname: odd\r\ndescription: >\r\n  Use it\r\n  now.\r\n"
        b"flag: yes\r\nnumber: 012\r\nfloat: 1e3\r\ndate: 2026-01-01\r\non: off\r\n"
        b"metadata:\r\n  version: 1.10\r\n  deep: [1, null, {a: true}]\r\n---\r\nGo\r\n"
    )

    async with connected(library(tmp_path)) as client:
        entry = (await ask(client, "skills/get", uri="skill://odd/SKILL.md"))["skill"]
        assert entry["frontmatter"] == {
            "name": "odd",
            "description": "Use it now.\n",
            "flag": "yes",
            "number": 12,
            "float": 1000.0,
            "date": "2026-01-01",
            "on": "off",
            "metadata": {"version": 1.1, "deep": [1, None, {"a": True}]},
        }
        data = await read(client, entry["uri"])
        assert data == (tmp_path / "odd" / "SKILL.md").read_bytes()
        (listed,) = (await client.list_resources()).resources
        assert listed.description == "Use it now.\n"


@pytest.mark.parametrize("era", ERAS)
async def test_a_listed_file_that_is_not_there_is_no_resource(
    tmp_path: Path, era: str
) -> None:
    """It stays a finding, and an error for a client that asks for it by its name."""
    (tmp_path / "gone" / "references").mkdir(parents=True)
    (tmp_path / "gone" / "references" / "here.md").write_text("Here.")
    (tmp_path / "gone" / "SKILL.md").write_text(
        "---\nname: gone\ndescription: Use it.\nreferences: [here.md, away.md]\n---\n"
    )
    root = "skill://gone"

    served = library(tmp_path, compat=True)
    actual = served.skills.findings
    assert [item.code for item in actual] == ["listed-file-missing"]
    async with connected(served, era) as client:
        (entry,) = (await ask(client, "skills/list"))["skills"]
        uris = [item["uri"] for item in entry["resources"]]
        assert uris == [f"{root}/SKILL.md", f"{root}/references/here.md"]
        folder = f"{root}/references"
        result = await ask(client, "resources/directory/read", uri=folder)
        assert [item["uri"] for item in result["resources"]] == uris[1:]
        assert await read(client, uris[1]) == b"Here."
        error = await refused(client.read_resource(f"{folder}/away.md"))
        assert (error.code, error.data) == (-32602, {"code": "reference-not-found"})


@pytest.mark.parametrize("era", ERAS)
async def test_a_list_hides_nothing_in_a_description(tmp_path: Path, era: str) -> None:
    """A client may show it in a terminal; the entry's frontmatter stays as it is.

    A character that is escaped in two halves goes out whole.
    """
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "SKILL.md").write_text(
        '---\nname: odd\ndescription: "\\ud83d\\udc8a \\x1b[31m\\u202E it\\n now"\n'
        "plain: \\ud83d\\udc8a\n---\nGo\n"
    )

    async with connected(library(tmp_path), era) as client:
        (listed,) = (await client.list_resources()).resources
        assert listed.description == "\U0001f48a <U+001B>[31m<U+202E> it\n now"
        (entry,) = (await ask(client, "skills/list"))["skills"]
        assert entry["frontmatter"] == {
            "name": "odd",
            "description": "\U0001f48a \x1b[31m\u202e it\n now",
            "plain": r"\ud83d\udc8a",
        }


@pytest.mark.parametrize("era", ERAS)
async def test_pages_are_whole_entries_and_cursors_are_no_secrets(
    tmp_path: Path, era: str
) -> None:
    for n in range(7):
        write_pack(tmp_path, f"skill-{n}")

    async with connected(library(tmp_path, page_size=3), era) as client:
        entries = await all_pages(client, "skills/list", "skills")
        assert names(entries) == [f"skill-{n}" for n in range(7)]
        for method in ("skills/list", "resources/list", "prompts/list"):
            error = await refused(ask(client, method, cursor="bm9uc2Vuc2U"))
            assert error.code == -32602


@pytest.mark.parametrize("era", ERAS)
async def test_a_skill_is_had_by_its_uri_listed_or_not(client: Client) -> None:
    """A hidden one is in no list; a host may have it, and its frontmatter says why."""
    listed = await ask(client, "skills/list")
    for entry in listed["skills"]:
        result = await ask(client, "skills/get", uri=entry["uri"])
        assert result["skill"] == entry
        assert (result["ttlMs"], result["cacheScope"]) == (60_000, "public")
    assert names(listed["skills"]) == ["alpha", "beta"]
    uri = "skill://handshake/SKILL.md"
    hidden = (await ask(client, "skills/get", uri=uri))["skill"]
    assert hidden["frontmatter"]["disable-model-invocation"] is True
    assert await read(client, uri)


async def test_what_is_no_skill_is_an_invalid_parameter(client: Client) -> None:
    """So is a parameter that is not there."""
    for uri in (
        *("skill://gamma/SKILL.md", "skill://alpha", "skill://alpha/", ""),
        *("skill://alpha/references/guide.md", "skill://alpha/alpha/SKILL.md"),
        *("https://alpha/SKILL.md", "skill://%ff/SKILL.md"),
    ):
        error = await refused(ask(client, "skills/get", uri=uri))
        assert (error.code, error.data) == (-32602, {"uri": uri})
    for method, params in (
        ("skills/get", {}),
        ("skills/get", {"uri": 5}),
        ("skills/list", {"cursor": 5}),
        ("resources/directory/read", {}),
    ):
        error = await refused(ask(client, method, **params))
        assert error.code == -32602
    assert await read(client, "skill://alpha/SKILL.md")


async def test_a_folder_tells_what_lies_directly_in_it(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path), page_size=2)
    async with connected(served) as client:
        method = "resources/directory/read"
        answer = await all_pages(client, method, "resources", uri="skill://alpha")
        assert [(item["name"], item.get("mimeType")) for item in answer] == [
            ("alpha", "text/markdown"),
            ("assets", "inode/directory"),
            ("references", "inode/directory"),
            ("scripts", "inode/directory"),
        ]
        assert answer[0]["description"] == "Use for alpha."
        result = await ask(client, method, uri=answer[1]["uri"])
        assert (result["ttlMs"], result["cacheScope"]) == (60_000, "public")
        assert [(e["name"], e["mimeType"], e["size"]) for e in result["resources"]] == [
            ("dot.png", "image/png", 6),
            ("latin.txt", "text/plain", 5),
        ]
        (deep,) = (await ask(client, method, uri=answer[2]["uri"]))["resources"][:1]
        assert deep["uri"] == "skill://alpha/references/deep"
        for uri in (
            *("skill://alpha/SKILL.md", "skill://alpha/nowhere"),
            *("skill://gamma", "skill://alpha/ref", "x"),
        ):
            error = await refused(ask(client, method, uri=uri))
            assert error.code == -32602


PLAIN = "---\nname: inner\ndescription: Use it.\n---\n# Inner\n"


@pytest.mark.row("F95")
async def test_an_empty_folder_is_one_and_a_skill_inside_is_a_skill(
    tmp_path: Path,
) -> None:
    write_pack(tmp_path, "outer", files={"refs/a.md": "A", "inner/SKILL.md": PLAIN})
    write_pack(tmp_path / "outer/skills", "own", files={"b.md": "B"})
    for name in ("empty/deeper", "refs/none", ".git/hooks", "hidden"):
        (tmp_path / "outer" / name).mkdir(parents=True)
    (tmp_path / "outer/hidden/.keep").write_text("")
    (tmp_path / "outer/away").symlink_to(tmp_path)
    (tmp_path / "outer/file").write_text("")
    method = "resources/directory/read"
    async with connected(library(tmp_path)) as client:

        async def inside(uri: str) -> dict[str, str]:
            found = (await ask(client, method, uri=uri))["resources"]
            folders = [e for e in found if e.get("mimeType") == "inode/directory"]
            return {entry["name"]: entry["uri"] for entry in folders}

        root = "skill://outer"
        below = ("empty", "hidden", "inner", "refs", "skills")
        assert await inside(root) == {name: f"{root}/{name}" for name in below}
        assert await inside(f"{root}/empty") == {"deeper": f"{root}/empty/deeper"}
        assert await inside(f"{root}/refs") == {"none": f"{root}/refs/none"}
        for path in ("empty/deeper", "hidden", "refs/none"):
            result = await ask(client, method, uri=f"{root}/{path}")
            assert (result["resources"], result["resultType"]) == ([], "complete")
        # Listed as a skill of its own, and found from the one around it.
        skills = (await ask(client, "skills/list"))["skills"]
        assert names(skills) == ["outer", "own"]
        assert await inside(f"{root}/skills") == {"own": "skill://own"}
        assert b"own" in await read(client, "skill://own/SKILL.md")
        # Not in a place for skills: text of the skill around it.
        assert await read(client, f"{root}/inner/SKILL.md") == PLAIN.encode()
        for path in ("away", "file", ".git", "nowhere", "empty/..", "..", "%2e%2e/x"):
            error = await refused(ask(client, method, uri=f"{root}/{path}"))
            assert error.code == -32602


async def test_equal_names_stand_behind_their_ids(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write_pack(one, "pdf", "Use one.")
    write_pack(two, "pdf", "Use two.")
    prefixed = sources.prefixed(sources.folder(two), "acme/")

    async with connected(library(one, prefixed)) as client:
        entries = (await ask(client, "skills/list"))["skills"]
        assert [entry["uri"] for entry in entries] == [
            "skill://acme%2Fpdf/pdf/SKILL.md",
            "skill://pdf/SKILL.md",
        ]
        assert names(entries) == ["pdf", "pdf"]
        assert b"Use two." in await read(client, entries[0]["uri"])
        above = await ask(client, "resources/directory/read", uri="skill://acme%2Fpdf")
        (item,) = above["resources"]
        assert item["uri"] == "skill://acme%2Fpdf/pdf"
        for uri in ("skill://acme%2Fpdf/x/SKILL.md", "skill://acme%2Fpdf"):
            assert (await refused(client.read_resource(uri))).code == -32602


async def test_what_the_extension_cannot_carry_is_not_half_served(
    tmp_path: Path,
) -> None:
    write_pack(tmp_path, "many", files={f"{n}.txt": "" for n in range(4)})
    write_pack(tmp_path, "fine")
    (tmp_path / "2024").mkdir()
    (tmp_path / "2024" / "SKILL.md").write_text(
        "---\nname: 2024\ndescription: Use it.\n---\n"
    )

    served = library(tmp_path, max_resources=4)
    async with connected(served) as client:
        assert names((await ask(client, "skills/list"))["skills"]) == ["fine"]
        listed = (await client.list_resources()).resources
        assert [item.name for item in listed] == ["fine"]
        for name in ("many", "2024"):
            uri = f"skill://{name}/SKILL.md"
            assert (await refused(ask(client, "skills/get", uri=uri))).code == -32602
        folder = ask(client, "resources/directory/read", uri="skill://2024")
        assert (await refused(folder)).code == -32602
        result = await client.call_tool("load_skill", {"name": "many"})
        assert not result.is_error


async def test_one_pack_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))
    (tmp_path / "alpha" / "references" / "guide.md").unlink()

    async with connected(served) as client:
        assert names((await ask(client, "skills/list"))["skills"]) == ["beta"]
        error = await refused(ask(client, "skills/get", uri="skill://alpha/SKILL.md"))
        assert error.code in (-32602, -32603)
        assert str(tmp_path) not in str(error.error)


async def test_skills_written_in_code_are_served_like_others(tmp_path: Path) -> None:
    refunds = Skill("refunds", instructions="Refund.", description="Use for refunds.")

    async with connected(library(write_skills(tmp_path), refunds)) as client:
        entries = (await ask(client, "skills/list"))["skills"]
        assert names(entries) == ["alpha", "beta", "refunds"]
        data = await read(client, entries[2]["uri"])
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert entries[2]["resources"][0]["digest"] == digest
        assert b"Refund." in data


async def test_a_caller_sees_what_is_its(tmp_path: Path) -> None:
    served = library(
        write_skills(tmp_path),
        policy=Policy(deny("beta", unless=lambda who: who.get("client") == "desk")),
    )

    def listed(caller: Caller) -> list[str]:
        view = served.view(caller)
        return [entry.id for entry in ExtensionCatalog(served).listed(view)]

    assert listed(Caller()) == ["alpha"]
    assert listed(Caller("desk")) == ["alpha", "beta"]
    assert listed(Caller("desk", ("b*",))) == ["beta"]

    async with connected(served) as client:
        assert names((await ask(client, "skills/list"))["skills"]) == ["alpha"]
        error = await refused(client.read_resource("skill://beta/SKILL.md"))
        assert error.message == "resource: not served here"


@pytest.mark.row("U02", "F65")
@pytest.mark.parametrize(
    "spelled",
    [
        *("./references/rates.md", "rates.md", "RATES.md", "references/rates.md:3"),
        *("references/x/../rates.md", "alpha/references/rates.md"),
    ],
)
async def test_a_file_is_read_as_texts_spell_it(tmp_path: Path, spelled: str) -> None:
    folder = write_skills(tmp_path)
    (folder / "alpha/references").mkdir(exist_ok=True)
    (folder / "alpha/references/rates.md").write_text("fee 5", "utf-8")

    async with connected(library(folder)) as client:
        assert await read(client, f"skill://alpha/{spelled}") == b"fee 5"
        error = await refused(client.read_resource("skill://alpha/rate.txt"))
        assert error.message == "resource: not served here"


class _Counting(sources.LocalSource):
    """A folder that counts how often it is looked through."""

    scans = 0

    def scan(self) -> Any:  # noqa: ANN401
        """Count, and look."""
        self.scans += 1
        return super().scan()


async def _use_everything(served: ServedLibrary) -> None:
    async with connected(served) as client:
        for _ in range(5):
            await ask(client, "skills/list")
            await client.list_tools()
            await client.list_prompts()
            await client.call_tool("load_skill", {"name": "alpha"})
            await client.get_prompt("alpha")
            await client.read_resource("skill://alpha/references/guide.md")


@pytest.mark.row("G13")
@pytest.mark.parametrize("era", ERAS)
def test_the_registry_is_synced_once_not_for_each_call(
    tmp_path: Path, era: str
) -> None:
    source, sink = _Counting(write_skills(tmp_path)), ListSink()
    served = library(source, sink=sink)

    run(_use_everything(served))

    assert source.scans == 1
    loads = [event for event in sink.events if event.event == "skill_loaded"]
    assert len(loads) == 15
    assert {event.via for event in loads} == {"mcp"}
