"""URIs of skills, and which skills the extension excludes."""

from dataclasses import replace
from pathlib import Path

import pytest

from satchel import Options, Satchel
from satchel.model import Catalog, Descriptor, Limits
from satchel.skill_md import YamlTree, read_tree
from satchel.testing import write_pack
from satchel_server import ServedLibrary, excluded_from_mcp
from satchel_server._mcp._portability import has_unindented_text
from satchel_server._mcp._skills import (
    MAX_URI_CHARS,
    ExtensionCatalog,
    NotPortableError,
    parts_of,
    skill_path,
    uri_of,
)
from tests.unit.server.mcp.clients import ask, connected, library, refused, write_skills


def skill(id: str, name: str = "") -> Descriptor:
    return Descriptor(id, "Use it.", name or id)


@pytest.mark.parametrize(
    ("entry", "path", "uri"),
    [
        (skill("pdf"), "SKILL.md", "skill://pdf/SKILL.md"),
        (skill("pdf"), "references/a b.md", "skill://pdf/references/a%20b.md"),
        (skill("pdf"), "", "skill://pdf"),
        (skill("acme-pdf", "pdf"), "SKILL.md", "skill://acme-pdf/pdf/SKILL.md"),
        (skill("acme/pdf", "pdf"), "", "skill://acme%2Fpdf/pdf"),
        (
            skill("Ünï:x", "pdf"),
            "é?#.md",
            "skill://%C3%9Cn%C3%AF%3Ax/pdf/%C3%A9%3F%23.md",
        ),
    ],
)
def test_a_uri_ends_its_path_in_the_name(
    entry: Descriptor, path: str, uri: str
) -> None:
    assert uri_of(entry, path) == uri
    first, *rest = parts_of(uri) or ()
    assert first == entry.id
    assert rest[bool(entry.id != entry.name) :] == (path.split("/") if path else [])


def test_ids_with_slashes_meet_no_file_of_another_skill() -> None:
    """And what is no URI of a file has no parts."""
    assert uri_of(skill("a"), "b/n/SKILL.md") != uri_of(skill("a/b", "n"))
    assert skill_path(skill("a/b", "n")).count("/") == 1
    for uri in (
        *("", "skill://", "file:///etc/passwd", "SKILL://pdf/SKILL.md", "skill://pdf/"),
        *("skill://pdf//SKILL.md", "skill:///SKILL.md", "skill://pdf/%ff"),
        "skill://" + "a" * MAX_URI_CHARS,
    ):
        assert parts_of(uri) is None, uri[:40]


INDENTED = 'name: x\ndescription: "One.\n  Two: three.\n\n  # Four."\n'
LISTS = "name: x\ntags:\n- a\n- b\n# note\nother: [\n  c,\n]\nmore: {\n  d: e\n}\n"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (INDENTED, False),
        (LISTS, False),
        ("name: x\ndescription: |\n  # One\n  two\n\nlicense: MIT\n", False),
        ("'name': x\n\"description\": y\n", False),
        ("# a: b\nname: x\n", False),
        ('name: x\ndescription: "One.\nTwo."\n', True),
        ("name: x\ndescription: 'One.\n\nTwo: three.'\n", True),
        ('name: x\ndescription: "One.\n# Two"\nlicense: MIT\n', True),
        ('name: x\ndescription: "One.\n- Two"\n', True),
    ],
)
def test_the_margin_belongs_to_fields(head: str, expected: bool) -> None:
    tree = read_tree(head.encode(), Limits())
    assert isinstance(tree, YamlTree), tree

    assert has_unindented_text(head, tree.root) is expected


def raw(folder: Path, name: str, data: str | bytes) -> None:
    (folder / name).mkdir()
    text = data.encode() if isinstance(data, str) else data
    (folder / name / "SKILL.md").write_bytes(text)


def codes(served: ServedLibrary, *, read: bool = False) -> list[tuple[str, str]]:
    actual = excluded_from_mcp(served, read=read)
    assert all(entry.severity == "warning" and entry.fix for entry in actual)
    return [(Path(entry.path).parent.name, entry.code) for entry in actual]


def test_a_file_that_no_load_gives_is_a_reason(tmp_path: Path) -> None:
    """Else the skill would be missing from the list without a reason."""
    write_pack(tmp_path, "big", files={"a.bin": b"\0" * 3_000})
    options = Options(environ={}, limits=Limits(file_bytes=2_999))

    served = ServedLibrary(Satchel(tmp_path, options=options))

    assert codes(served) == [("big", "mcp-file-size")]


async def test_a_client_that_asks_for_it_is_told_why(tmp_path: Path) -> None:
    write_pack(tmp_path, "many", files={f"{n}.txt": "" for n in range(4)})
    raw(tmp_path, "year", "---\nname: 2024\ndescription: Use it.\n---\n")
    served = library(tmp_path, max_resources=4)

    async with connected(served) as client:
        uri = "skill://many/SKILL.md"
        for request in (ask(client, "skills/get", uri=uri), client.read_resource(uri)):
            error = await refused(request)
            assert error.code == -32602
            assert error.message.endswith("it has 5 files, clients take 4")
        error = await refused(ask(client, "skills/get", uri="skill://2024/SKILL.md"))
        assert "no text in YAML" in error.message
        error = await refused(ask(client, "skills/get", uri="skill://x/SKILL.md"))
        assert error.message == "skill: not served here"


def test_each_reason_is_a_finding_with_its_place(tmp_path: Path) -> None:
    write_pack(tmp_path, "big", files={"a.bin": b"\0" * 3_000})
    write_pack(tmp_path, "fine")
    write_pack(tmp_path, "many", files={f"{n}.txt": "" for n in range(4)})
    write_pack(tmp_path, "long", "x" * 1_025)
    raw(tmp_path, "colon", "---\nname: colon\ndescription: Use: now\n---\n")
    raw(tmp_path, "Upper", "---\nname: Upper\ndescription: Use it.\n---\n")
    raw(tmp_path, "twice", "---\nname: twice\nname: twice\ndescription: Use.\n---\n")
    fields = "name: gone\ndescription: Use it.\nreferences: [a.md]"
    raw(tmp_path, "gone", f"---\n{fields}\n---\n")
    write_pack(tmp_path, "shy", disable_model_invocation=True, files={"a": "b" * 3_000})

    served = library(tmp_path, max_resources=4, max_skill_bytes=2_000)

    assert codes(served) == [
        ("Upper", "mcp-name"),
        ("big", "mcp-size"),
        ("colon", "mcp-frontmatter"),
        ("long", "mcp-description"),
        ("many", "mcp-files"),
        ("shy", "mcp-size"),
        ("twice", "mcp-frontmatter"),
    ]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("2024", "---\nname: 2024\ndescription: Use it.\n---\n"),
        ("num", "---\nname: num\ndescription: 12\n---\n"),
        ("dots", "---\nname: dots\ndescription: Use it.\n...\nBody.\n"),
        ("latin", b"---\nname: latin\ndescription: Use it.\n---\ncaf\xe9\n"),
        ("margin", '---\nname: margin\ndescription: "Use\nit."\n---\n'),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 9 else "",
)
def test_a_reader_of_the_file_tells_the_rest(
    tmp_path: Path, name: str, data: str | bytes
) -> None:
    raw(tmp_path, name, data)
    served = library(tmp_path)

    assert codes(served) == []
    assert codes(served, read=True) == [(name, "mcp-frontmatter")]


ODD = {
    "number": "metadata:\n  version: 1.0\n",
    "truth": "metadata:\n  beta: true\n  kind: x\n",
    "list": "metadata:\n  tags: [a, b]\n",
    "nested": "metadata:\n  a:\n    b: c\n",
    "nothing": "metadata:\n  a:\n",
    "no-mapping": "metadata: x\n",
    "tools": "allowed-tools: [Read, Grep]\n",
    "licence": "license: 2\n",
    "compat": "compatibility: [x]\n",
    "long": f"compatibility: {'x' * 501}\n",
}


@pytest.mark.row("F43")
async def test_what_clients_refuse_a_whole_list_for_is_not_listed(
    tmp_path: Path,
) -> None:
    """It is reported at the start, and a client that knows its URI gets it."""
    write_pack(tmp_path, "fine", metadata={"version": "1.0"})
    for name, field in ODD.items():
        raw(tmp_path, name, f"---\nname: {name}\ndescription: Use it.\n{field}---\n")
    served = library(tmp_path)

    assert codes(served) == codes(served, read=True)
    assert codes(served) == [(name, "mcp-fields") for name in sorted(ODD)]

    async with connected(served) as client:
        answer = await ask(client, "skills/list")
        names = [item["frontmatter"]["name"] for item in answer["skills"]]
        assert names == ["fine"]
        uri = "skill://number/SKILL.md"
        answer = await ask(client, "skills/get", uri=uri)
        assert answer["skill"]["frontmatter"]["metadata"] == {"version": 1.0}
        assert (await client.read_resource(uri)).contents
        listed = (await client.list_resources()).resources
        assert len(listed) == 1 + len(ODD)


@pytest.mark.row("F43")
def test_what_only_the_file_tells_is_not_listed_either(tmp_path: Path) -> None:
    """A release, for one, says nothing of a skill's fields."""
    field = ODD["number"]
    raw(tmp_path, "number", f"---\nname: number\ndescription: Use it.\n{field}---\n")
    skills = Satchel(tmp_path, options=Options(environ={}))
    catalog = skills.registry.latest
    entries = tuple(replace(entry, odd_fields=()) for entry in catalog.entries)

    class Blind(ServedLibrary):
        @property
        def catalog(self) -> Catalog:
            return replace(catalog, entries=entries)

    served = ExtensionCatalog(Blind(skills))
    with pytest.raises(NotPortableError, match="version"):
        served.listed_entry(served.library.view(), entries[0])


def test_a_listed_file_that_is_not_there_is_no_file_of_it(tmp_path: Path) -> None:
    manifest = "---\nname: gone\ndescription: Use it.\nreferences: [a.md, b.md]\n---\n"
    raw(tmp_path, "gone", manifest)
    (tmp_path / "gone" / "b.md").write_text("B")

    few, fits = (library(tmp_path, max_resources=most) for most in (1, 2))

    assert codes(few, read=True) == [("gone", "mcp-files")]
    assert codes(fits, read=True) == []


@pytest.mark.slow
def test_what_cannot_be_read_now_is_no_matter_of_its_author(tmp_path: Path) -> None:
    """Nor what fits; and without `read` no file is read to say so."""
    served = library(write_skills(tmp_path))
    assert codes(served, read=True) == []
    (tmp_path / "alpha" / "SKILL.md").unlink()

    assert codes(served) == codes(served, read=True) == []
