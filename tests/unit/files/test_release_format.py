"""release.json of any publisher: checked, and errors say exactly what is wrong."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest

from satchel import Satchel
from satchel.errors import InvalidReleaseError
from satchel.files import tree_digest
from satchel.model import Resource
from satchel_store.release import (
    canonical_json,
    parse_release,
    parse_release_file,
    render_release,
)
from satchel_store.release._release import Release
from tests.unit.release.packs import PACKS, built, files_in

TESTS: Final = Path(__file__).parents[2]
GOOD: Final[dict[str, Any]] = json.loads(built(PACKS)["release.json"])
WHOLE: Final = TESTS / "cases" / "releases"
IDS: Final = (WHOLE / "ids.txt").read_text().split()


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a good release.json with one change."""
    document = deepcopy(GOOD)
    change(document)
    return canonical_json(document)


def refusal(data: bytes) -> str:
    with pytest.raises(InvalidReleaseError) as caught:
        parse_release_file(data, "dist/release.json")
    assert caught.value.path == "dist/release.json"
    return caught.value.detail


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    "path",
    sorted((TESTS / "formats").glob("release-*.json")),
    ids=lambda path: path.stem,
)
def test_every_version_of_a_release_is_read(path: Path) -> None:
    release = parse_release(path.read_bytes(), path.name)

    assert [skill.id for skill in release.skills] == sorted(PACKS)
    assert release.id == IDS[int(path.stem.rpartition("-")[2]) - 1]


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    "path", sorted((TESTS / "formats").glob("site-*.json")), ids=lambda path: path.stem
)
def test_every_version_of_a_site_is_read(path: Path) -> None:
    assert parse_release_file(path.read_bytes(), path.name) in IDS
    with pytest.raises(InvalidReleaseError, match="of a site, not of a release"):
        parse_release(path.read_bytes(), "x")


@pytest.mark.row("R37", "R25")
@pytest.mark.parametrize("version", [1])
def test_a_release_of_every_version_is_used_and_built_again_to_the_byte(
    version: int,
) -> None:
    """An id that is in a deployment's settings goes on meaning the same bytes."""
    folder = WHOLE / str(version)
    with Satchel(str(folder), pin=IDS[version - 1]) as skills:
        data = skills.load("files", "guide.md").data
        assert data == PACKS["files"]["references/guide.md"]

    assert files_in(folder) == built(PACKS)
    assert (folder / "release.json").read_bytes() == (
        TESTS / "formats" / f"release-{version}.json"
    ).read_bytes()


def test_unknown_keys_are_passed_over() -> None:
    """And what was rendered is read and rendered again to the byte."""
    data = canonical_json(GOOD)
    release = parse_release(data, "x")
    assert render_release(release.skills, release.others) == data
    assert release.document.size == len(data)

    def add(document: dict[str, Any]) -> None:
        document["more"] = document["skills"][0]["more"] = 1
        document["skills"][0]["resources"][0]["more"] = document["files"][0]["more"] = 1

    assert parse_release(changed(add), "x").skills == release.skills


def test_a_later_format_asks_for_a_later_satchel() -> None:
    data = changed(lambda document: document.update(schema_version=2))

    assert refusal(data) == "schema_version: 2 is of a later Satchel; upgrade this one"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is not JSON"),
        (b"{", "it is not JSON"),
        (b"\xff\xfe{}", "it is not JSON"),
        (b"1" * 5_000, "it is not JSON"),
        (b'{"format": "a", "format": "b"}', "an object has the member 'format' twice"),
        (b"[" * 200_000, "it is nested too deeply"),
        (b"[]", "the document: expected an object"),
        (b"null", "the document: expected an object"),
        (b"{}", "format: expected 'satchel-release'"),
        (b'{"format": ["satchel-release"]}', "format: expected 'satchel-release'"),
        (b'{"format": "satchel-site"}', "schema_version: expected a number from 1"),
        (
            b'{"format": "satchel-site", "schema_version": 1, "release": "x"}',
            "expected sha256-tree-v1: and 64 hex digits, got 'x'",
        ),
        (
            b'{"format": "satchel-site", "schema_version": 1}',
            "release: expected a text",
        ),
        (
            b'{"format": "satchel-release", "schema_version": 1}',
            "skills: expected a list",
        ),
    ],
    ids=lambda value: repr(value[:20]) if isinstance(value, bytes) else None,
)
def test_what_is_no_release_is_refused(data: bytes, reason: str) -> None:
    assert refusal(data).startswith(reason)


ONE = ("skills", 1)
FILES = ("skills", 3, "resources")
UPPER = "sha256:" + "A" * 64


@pytest.mark.parametrize(
    ("where", "value", "reason"),
    [
        (("schema_version",), True, "schema_version: expected a number"),
        (("schema_version",), 0, "schema_version: expected a number"),
        (("schema_version",), "1", "schema_version: expected a number"),
        (("skills",), {}, "skills: expected a list"),
        (("files",), None, "files: expected a list"),
        (ONE, 1, "skills[1]: expected an object"),
        ((*ONE, "id"), None, "skills[1].id: expected a text"),
        ((*ONE, "id"), " ", "skills[1].id: it is empty"),
        ((*ONE, "id"), "a" * 256, "skills[1].id: it has more than 255 characters"),
        ((*ONE, "id"), "..", "skills[1].id: it begins with a dot"),
        ((*ONE, "id"), "a/b", "skills[1].id: it has a slash"),
        ((*ONE, "id"), "nul", "skills[1].id: it names a device on Windows"),
        ((*ONE, "id"), "zzz", "skills: they are not sorted"),
        ((*ONE, "id"), "odd_name", "skills: they are not sorted"),
        ((*ONE, "id"), "\ud800", "skills[1].id: it is not valid Unicode"),
        ((*ONE, "name"), "", "skills[1].name: it is empty"),
        ((*ONE, "description"), None, "skills[1].description: expected a text"),
        ((*ONE, "description"), "\udfff", "skills[1].description: it is not valid"),
        ((*ONE, "digest"), "sha256:0", "skills[1].digest: it is not that of"),
        ((*ONE, "owner"), 1, "skills[1].owner: expected a text"),
        ((*ONE, "tools"), "a b", "skills[1].tools: expected a list"),
        ((*ONE, "tools"), ["a", 1], "skills[1].tools: expected a list of texts"),
        ((*ONE, "allowed_tools"), ["\ud800"], "skills[1].allowed_tools: it is not"),
        ((*ONE, "user_invocable"), "no", "skills[1].user_invocable: expected true or"),
        ((*ONE, "category"), "rare", "skills[1].category: expected standard or raw"),
        ((*ONE, "category"), [], "skills[1].category: expected standard or raw"),
        ((*ONE, "resources"), [], "skills[1].resources: there is no SKILL.md"),
        ((*FILES, 1), [], "skills[3].resources[1]: expected an object"),
        ((*FILES, 1, "path"), None, "skills[3].resources[1].path: expected a text"),
        ((*FILES, 1, "path"), "../x", "skills[3].resources[1].path: it has a part"),
        ((*FILES, 1, "path"), "a\nb", "skills[3].resources[1].path: it holds a con"),
        ((*FILES, 1, "path"), "/x", "skills[3].resources[1].path: it has a part"),
        ((*FILES, 1, "path"), "c:x", "skills[3].resources[1].path: it holds a back"),
        ((*FILES, 1, "path"), ".env", "skills[3].resources[1].path: no pack hands out"),
        ((*FILES, 1, "path"), "\ud800", "skills[3].resources[1].path: it is not valid"),
        ((*FILES, 1, "path"), "zz", "skills[3].resources: they are not sorted"),
        ((*FILES, 1, "path"), "SKILL.MD", "skills[3].resources: they are not sorted"),
        ((*FILES, 1, "digest"), "abc", "skills[3].resources[1].digest: expected sha"),
        ((*FILES, 1, "digest"), UPPER, "skills[3].resources[1].digest: expected sha"),
        ((*FILES, 1, "digest"), UPPER.lower(), "skills[3].digest: it is not that of"),
        ((*FILES, 1, "size"), -1, "skills[3].resources[1].size: expected a count"),
        ((*FILES, 1, "size"), 2**53, "skills[3].resources[1].size: expected a count"),
        ((*FILES, 1, "size"), 1.0, "skills[3].resources[1].size: expected a count"),
        ((*FILES, 1, "size"), True, "skills[3].resources[1].size: expected a count"),
        ((*FILES, 1, "bucket"), "x", "skills[3].resources[1].bucket: there is none"),
        ((*FILES, 1, "bucket"), [], "skills[3].resources[1].bucket: there is none"),
        (("files", 0), None, "files[0]: expected an object"),
        (("files", 0, "path"), "skills/x", "files[0].path: it is among the skills'"),
        (("files", 0, "path"), "release.json", "files[0].path: it is among the"),
        (("files", 0, "path"), "../x", "files[0].path: it has a part"),
        (("files", 0, "path"), "zz", "files: they are not sorted"),
        (("files", 0, "path"), "ARCHIVES/files.tar.gz", "files: two of them are one"),
    ],
    ids=repr,
)
def test_every_value_is_checked(
    where: tuple[str | int, ...], value: object, reason: str
) -> None:
    def put(document: Any) -> None:  # noqa: ANN401 - JSON
        *path, last = where
        for key in path:
            document = document[key]
        document[last] = value

    assert refusal(changed(put)).startswith(reason)


def test_ids_that_are_one_folder_on_some_systems_are_refused() -> None:
    def put(document: dict[str, Any]) -> None:
        first = document["skills"][0]
        document["skills"].insert(1, {**first, "id": "ODD_NAMe"})
        document["skills"].sort(key=lambda skill: skill["id"])

    assert refusal(changed(put)) == "skills: two of them are one on some systems"


def test_the_id_covers_every_byte_of_the_document() -> None:
    """A blank more is another release."""
    one = parse_release(canonical_json(GOOD), "x")
    two = parse_release(canonical_json(GOOD) + b"\n", "x")

    assert isinstance(one, Release)
    assert one.id != two.id
    assert one.id == tree_digest(
        [*(file for file in two.files if file != two.document), one.document]
    )
    assert Resource("release.json", one.document.digest, len(canonical_json(GOOD))) in (
        one.files
    )
