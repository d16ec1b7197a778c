"""Servers from before the extension was final: an index, and no list of files."""

import hashlib
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


def test_the_extension_goes_first() -> None:
    server = indexed(item(name="other"))
    server.extension = True
    with reading(server) as source:
        assert found_in(source) == ["skill://refunds"]

    assert server.reads == []


def test_its_digest_is_verified() -> None:
    server = indexed(item())
    server.files[MD] = skill_md("refunds", "Use for refunds.", "more: x\n")
    with reading(server) as source, pytest.raises(DigestMismatchError, match="came"):
        source.read("skill://refunds", "SKILL.md", 1_000)


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


@pytest.mark.parametrize("skills", [None, {}, "x"], ids=str)
def test_an_index_without_a_list(skills: object) -> None:
    with reading(indexed(skills=skills)) as source:
        (finding,) = findings_of(source)

    assert "no list of skills" in finding.message


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, "[]"], ids=["cut", "deep", "list"]
)
def test_an_invalid_index(text: str) -> None:
    server = indexed()
    server.files[INDEX] = text
    with reading(server) as source:
        if text == "[]":
            assert found_in(source) == []
        else:
            with pytest.raises(SourceUnavailableError, match="is not JSON"):
                source.scan()


def test_many_items_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"s{n}" for n in range(4)]
    items = [item(name=name, url=f"skill://{name}/SKILL.md") for name in names]
    with reading(indexed(*items)) as source:
        assert len(found_in(source)) == 4
        monkeypatch.setattr(source, "_limits", type(source._limits)(scan_entries=4))
        assert len(found_in(source)) == 2
        assert findings_of(source)[0].code == "endless-listing"


def archive(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        for name, data in files.items():
            zipped.writestr(name.replace("_", "."), data)
    return packed.getvalue()


def test_a_skill_in_an_archive() -> None:
    packed = archive(SKILL_md=REFUNDS["SKILL.md"], notes_md=b"notes")
    sha = f"sha256:{hashlib.sha256(packed).hexdigest()}"
    server = indexed(item(type="archive", url="skill://refunds.zip", digest=sha))
    server.files["skill://refunds.zip"] = packed
    with reading(server) as source, Satchel(source) as skills:
        assert [entry.id for entry in skills.catalog] == ["refunds"]
        assert server.reads == [INDEX]
        assert skills.load("refunds").data == REFUNDS["SKILL.md"]

        server.files["skill://refunds.zip"] = archive(SKILL_md=b"other")
        with pytest.raises(DigestMismatchError, match="was announced"):
            skills.load("refunds")


def test_an_archive_that_is_none() -> None:
    server = indexed(item(type="archive", url="skill://refunds.zip", digest=""))
    server.files["skill://refunds.zip"] = b"PK, and then nothing"
    with reading(server) as source, pytest.raises(ArchiveError):
        source.read("skill://refunds.zip/refunds", "SKILL.md", 1_000)
