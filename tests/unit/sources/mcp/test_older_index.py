"""Servers from before the extension was final: an index, and no list of files."""

import io
import json
import zipfile
from typing import Any

import pytest

from satchel import Satchel
from satchel.errors import (
    ArchiveError,
    DigestMismatchError,
    ReferenceNotAllowedError,
    SourceUnavailableError,
)
from tests.unit.sources.mcp.packs import REFUNDS, reading, skill_md
from tests.unit.sources.mcp.serving import FakeServer, digest
from tests.unit.sources.scans import codes_of, findings_of, found_in

INDEX = "skill://index.json"
MD = "skill://refunds/SKILL.md"


def item(**changes: object) -> dict[str, object]:
    given = {
        "name": "refunds",
        "type": "skill-md",
        "description": "Use for refunds.",
        "url": MD,
        "digest": digest(REFUNDS["SKILL.md"]),
    }
    return {key: value for key, value in {**given, **changes}.items() if value != ""}


def indexed(*items: object, **more: Any) -> FakeServer:  # noqa: ANN401
    server = FakeServer({"refunds": REFUNDS}, extension=False)
    server.files[INDEX] = json.dumps({"$schema": "...", "skills": items, **more})
    return server


@pytest.mark.parametrize("legacy", [True, False], ids=["2025", "2026"])
def test_an_index_is_read_and_nothing_else(legacy: bool) -> None:
    server = indexed(item())
    target = server.legacy() if legacy else server.server()
    with reading(target) as source, Satchel(source) as skills:
        assert [(e.id, e.resources) for e in skills.catalog] == [("refunds", ())]
        assert server.reads == [INDEX]
        assert skills.load("refunds").data == REFUNDS["SKILL.md"]
        assert [f.code for f in skills.findings] == ["older-index"]
        with pytest.raises(ReferenceNotAllowedError):
            skills.load("refunds", "rules.md")
        assert server.reads == [INDEX, MD]
        server.files[MD] = skill_md("refunds", "Use for refunds.", "more: x\n")
        with pytest.raises(DigestMismatchError, match="came"):
            source.read("skill://refunds", "SKILL.md", 1_000)

    server.extension = True  # it goes first
    server.asked.clear()
    with reading(server) as source:
        assert found_in(source) == ["skill://refunds"]
    assert server.reads == []


def test_without_a_digest_it_is_marked_and_its_two_fields_are_compared() -> None:
    server = indexed(item(digest=""))
    server.files[MD] = skill_md("refunds", "Use for refunds.", "license: MIT\n")
    with reading(server) as source:
        assert codes_of(source) == ["unverified-skill"]
        assert b"MIT" in source.read("skill://refunds", "SKILL.md", 1_000)

        server.files[MD] = skill_md("refunds", "Something else.")
        with pytest.raises(DigestMismatchError, match="'description'"):
            source.read("skill://refunds", "SKILL.md", 1_000)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("x", "not an object"),
        (item(type="task"), "unknown type, 'task'"),
        (item(type=None), "unknown type, 'NoneType'"),
        (item(url="https://x/../SKILL.md"), "part that is ."),
        (item(url="skill://refunds/README.md"), "does not end"),
        (item(digest="sha1:x"), "is not a digest"),
        (item(description=None), "no description"),
        (item(type="archive", url=5), "not a text"),
        (item(type="archive", url="skill://a.zip", name="a/b"), "last part"),
    ],
    ids=range(9),
)
def test_a_bad_item_costs_the_others_nothing(bad: object, why: str) -> None:
    with reading(indexed(bad, item())) as source:
        assert found_in(source) == ["skill://refunds"]
        finding = findings_of(source)[0]

    assert why in finding.message
    assert finding.path == f"docs: {INDEX}, entry 1"


@pytest.mark.parametrize("text", ["{", "[" * 100_000], ids=["cut", "deep"])
def test_an_invalid_index(text: str) -> None:
    server = indexed()
    server.files[INDEX] = text
    with reading(server) as source:
        with pytest.raises(SourceUnavailableError, match="is not JSON"):
            source.scan()
        for other in ("[]", '{"skills": null}', '{"skills": {}}', '{"skills": 7}'):
            server.files[INDEX] = other
            (finding,) = findings_of(source)
            assert "no list of skills" in finding.message


def test_many_items_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"s{n}" for n in range(4)]
    items = [item(name=name, url=f"skill://{name}/SKILL.md") for name in names]
    with reading(indexed(*items)) as source:
        assert len(found_in(source)) == 4
        monkeypatch.setattr(source, "_limits", type(source._limits)(scan_entries=4))
        assert len(found_in(source)) == 2
        assert findings_of(source)[0].code == "endless-listing"


def archive(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        zipped.writestr("SKILL.md", data)
        zipped.writestr("notes.md", b"notes")
    return packed.getvalue()


def test_a_skill_in_an_archive() -> None:
    uri, packed = "skill://refunds.zip", archive(REFUNDS["SKILL.md"])
    server = indexed(item(type="archive", url=uri, digest=digest(packed)))
    server.files[uri] = packed
    with reading(server) as source, Satchel(source) as skills:
        assert [entry.id for entry in skills.catalog] == ["refunds"]
        assert server.reads == [INDEX]
        assert skills.load("refunds").data == REFUNDS["SKILL.md"]

        server.files[uri] = archive(b"other")
        with pytest.raises(DigestMismatchError, match="was announced"):
            skills.load("refunds")

    server = indexed(item(type="archive", url=uri, digest=""))
    server.files[uri] = b"PK, and then nothing"
    with reading(server) as source, pytest.raises(ArchiveError):
        source.read(f"{uri}/refunds", "SKILL.md", 1_000)
