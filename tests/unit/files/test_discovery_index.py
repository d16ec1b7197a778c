"""What publishers write is read leniently, and said precisely."""

import json
import re

import pytest

from satchel.model import Limits
from satchel_store.release import NotAnIndexError, parse_index
from tests.unit.sources.http.site import SCHEMA, entry

GOOD = entry("good", "good/SKILL.md", b"x")
DIGEST = GOOD["digest"]


def index(*skills: object, schema: object = SCHEMA, **more: object) -> bytes:
    document: dict[str, object] = {"skills": list(skills), **more}
    if schema is not None:
        document["$schema"] = schema
    return json.dumps(document).encode()


def but(**changes: object) -> dict[str, object]:
    """Return the good entry with some fields changed; those that are None taken out."""
    changed = {**GOOD, "name": "bad", **changes}
    return {key: value for key, value in changed.items() if value is not None}


WRONG: dict[str, tuple[object, str, str]] = {
    "not an object": (7, "error", "not an object"),
    "no name": (but(name=None), "error", "no name"),
    "a name of another kind": (but(name=7), "error", "name is not a text"),
    "id for name": (but(name=None, id="bad"), "error", "field 'id'"),
    "upper case": (but(name="Bad"), "error", "breaks the rules"),
    "a name that climbs": (but(name="../bad"), "error", "breaks the rules"),
    "an empty name": (but(name=""), "error", "breaks the rules"),
    "a long name": (but(name="x" * 65), "error", "breaks the rules"),
    "two hyphens": (but(name="a--b"), "error", "breaks the rules"),
    "a line in the name": (but(name="bad\n"), "error", "breaks the rules"),
    "no type": (but(type=None), "error", "no type"),
    "another type": (but(type="task"), "warning", "type 'task' is unknown"),
    "no url": (but(url=None), "error", "no url"),
    "uri for url": (but(url=None, uri="x"), "error", "field 'uri'"),
    "a url of another kind": (but(url=["x"]), "error", "url is not a text"),
    "no digest": (but(digest=None), "error", "no digest"),
    "sha256 for digest": (but(digest=None, sha256="x"), "error", "field 'sha256'"),
    "hash for digest": (but(digest=None, hash="x"), "error", "field 'hash'"),
    "a bare digest": (but(digest=str(DIGEST)[7:]), "error", "is not a digest"),
    "upper case digest": (but(digest=str(DIGEST).upper()), "error", "is not a digest"),
    "another hash": (but(digest="md5:0"), "error", "'md5:0' is not a digest"),
    "a name that is taken": (but(name="good"), "error", "is there twice"),
}


@pytest.mark.parametrize(("given", "severity", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_entry_costs_itself_alone(
    given: object, severity: str, says: str
) -> None:
    parsed = parse_index(index(GOOD, given), "https://a.com/i", Limits())
    (finding,) = parsed.findings

    assert [entry.name for entry in parsed.entries] == ["good"]
    assert parsed.entries[0].digest == DIGEST
    assert finding.code == "index-entry"
    assert finding.severity == severity
    assert finding.path == "https://a.com/i"
    assert finding.fix
    assert finding.message.startswith("skills[1]: ")
    assert re.search(says, finding.message)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (but(description=None), "no description"),
        (but(description=None, summary="x"), "field 'summary'"),
        (but(description=" "), "empty"),
        (but(description="x" * 1_025), "1,024"),
        (but(description=5), "not a text"),
    ],
)
def test_a_description_is_not_needed(given: object, says: str) -> None:
    """That of SKILL.md is the one used; other clients drop the entry."""
    parsed = parse_index(index(given), "i", Limits())

    assert [entry.name for entry in parsed.entries] == ["bad"]
    assert [finding.severity for finding in parsed.findings] == ["warning"]
    assert says in parsed.findings[0].message


def test_unknown_fields_are_passed_over() -> None:
    """A byte order mark, too."""
    data = b"\xef\xbb\xbf" + index({**GOOD, "x": {"y": [1]}}, more=1)
    parsed = parse_index(data, "i", Limits())

    assert len(parsed.entries) == 1
    assert parsed.findings == ()
    assert parsed.has_digests


@pytest.mark.parametrize("schema", ["https://x.com/0.3.0.json", "", 7, [], False])
def test_an_unknown_schema_is_not_processed(schema: object) -> None:
    parsed = parse_index(index(GOOD, schema=schema), "i", Limits())

    assert parsed.entries == ()
    assert not parsed.is_known
    assert [finding.code for finding in parsed.findings] == ["index-schema"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"<!doctype html>", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"skills": [' + b"9" * 10_000 + b"]}", "not JSON"),
        (b"\xff\xfe{", "UTF-8"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"{}", "no list of skills"),
        (b'{"skills": {}}', "no list of skills"),
        (b'{"skills": [], "skills": []}', "'skills' twice"),
        (b'{"skills": [{"digest": "a", "digest": "b"}]}', "'digest' twice"),
    ],
)
def test_no_index(data: bytes, says: str) -> None:
    with pytest.raises(NotAnIndexError, match=says):
        parse_index(data, "i", Limits())


def test_a_huge_object_costs_no_more_than_its_size() -> None:
    """A look at all members for each of them would take minutes here."""
    members = b",".join(b'"%d":0' % number for number in range(200_000))
    with pytest.raises(NotAnIndexError, match="'7' twice"):
        parse_index(b"{" + members + b',"7":0}', "i", Limits())


def test_no_more_skills_than_agreed() -> None:
    given = index(GOOD, but(name="b"), but(name="c"))
    parsed = parse_index(given, "i", Limits(index_skills=2))

    assert [entry.name for entry in parsed.entries] == ["b", "good"]
    assert [finding.code for finding in parsed.findings] == ["limit-exceeded"]
    parsed = parse_index(index(*range(5_000)), "i", Limits())
    assert len(parsed.findings) == 101
    assert parsed.findings[-1].message.startswith("4,900 more")


def old(**changes: object) -> dict[str, object]:
    fields = {"name": "old", "description": "Use it.", "files": ["SKILL.md"], **changes}
    return {key: value for key, value in fields.items() if value is not None}


def test_the_older_index() -> None:
    """It has no ``$schema``, and lists files; a misspelled one is reported."""
    files = ["references/a b.md", "SKILL.md"]
    data = index(old(files=files), schema=None, schema_version=2)
    parsed = parse_index(data, "i", Limits())

    assert [entry.type for entry in parsed.entries] == ["files"]
    assert parsed.entries[0].files == ("SKILL.md", "references/a b.md")
    assert not parsed.has_digests
    assert "'schema_version'" in parsed.findings[0].message


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (old(files=None), "no files"),
        (old(files="SKILL.md"), "not a list of paths"),
        (old(files=["SKILL.md", 7]), "not a list of paths"),
        (old(files=["SKILL.md"] * 513), "more than archive_files = 512"),
        (old(files=["README.md"]), r"not list SKILL\.md"),
        (old(files=["SKILL.md", "../../x"]), "not fetched"),
        (old(files=["SKILL.md", "/etc/passwd"]), "absolute"),
        (old(files=["SKILL.md", "http://x.com/a"]), "colon"),
        (but(), r"entry of v0\.2\.0"),
    ],
)
def test_wrong_entries_of_the_older_index(given: object, says: str) -> None:
    parsed = parse_index(index(given, schema=None), "i", Limits())

    assert parsed.entries == ()
    assert re.search(says, parsed.findings[0].message)
