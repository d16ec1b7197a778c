"""What our own server serves comes back as the same bytes."""

from pathlib import Path

import pytest

from satchel import Satchel, sources
from satchel.testing import PACKS
from satchel_server import ServedLibrary, ServerSettings, build_server
from tests.unit.sources.mcp.packs import reading, skill_md
from tests.unit.sources.mcp.serving import older

MORE = {
    "odd-names": {
        "SKILL.md": skill_md(
            "odd-names", "Names of all kinds.", "n: 1.10\nd: 2020-01-01\n"
        ),
        "references/a b/100%.md": b"odd",
        "assets/ü@x.bin": b"\x00\xff",
        "empty.txt": b"",
    },
    "crlf": {"SKILL.md": skill_md("crlf").replace(b"\n", b"\r\n")},
}
EXAMPLES = {name: files for name, files in {**PACKS, **MORE}.items() if name != "beta"}


def test_every_byte_comes_back() -> None:
    with Satchel(sources.memory(EXAMPLES)) as served:
        server = build_server(ServedLibrary(served, ServerSettings(page_size=1)))
        with reading(server) as source, Satchel(source) as skills:
            assert [f"{f}" for f in skills.findings if f.severity == "error"] == []
            assert {entry.id for entry in skills.catalog} == set(EXAMPLES)
            for name, files in EXAMPLES.items():
                entry = skills.catalog.get(name)
                assert entry is not None
                assert set(entry.resources) == set(files) - {"SKILL.md"}
                for path, data in files.items():
                    assert skills.load(name, path).data == data
                ours, theirs = (
                    s.registry.digest(s.registry.descriptor(name))
                    for s in (served, skills)
                )
                assert ours == theirs


@pytest.mark.parametrize("compat", [True, False])
def test_in_the_era_of_2025(compat: bool, tmp_path: Path) -> None:
    """The handshake of that era tells no extensions: the index is what is left."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_bytes(skill_md(name))
    with Satchel(tmp_path) as served:
        server = build_server(ServedLibrary(served, ServerSettings(compat=compat)))
        with reading(older(server)) as source, Satchel(source) as skills:
            ids = [entry.id for entry in skills.catalog]
            assert ids == (["one", "two"] if compat else [])
            for name in ids:
                assert skills.load(name).data == skill_md(name)


def test_the_index_calls_a_skill_by_its_name_where_its_id_is_another() -> None:
    """Its URL ends in the name, and a reader compares the two."""
    both = {name: {"SKILL.md": skill_md(name)} for name in ("one", "two")}
    mine = {"one": {"SKILL.md": skill_md("one", "Mine.")}}
    served = Satchel(
        sources.prefixed(sources.memory(both, label="theirs"), "their-"),
        sources.memory(mine, label="mine"),
    )
    server = build_server(ServedLibrary(served, ServerSettings(compat=True)))

    with served, reading(older(server)) as source, Satchel(source) as skills:
        assert [f for f in skills.findings if f.severity == "error"] == []
        assert {entry.origin.key: entry.id for entry in skills.catalog} == {
            "skill://one": "one",
            "skill://their-one/one": "their-one/one",
            "skill://their-two/two": "two",
        }
        assert skills.load("one").data == mine["one"]["SKILL.md"]
        assert skills.load("their-one/one").data == both["one"]["SKILL.md"]
        assert skills.load("two").data == both["two"]["SKILL.md"]
