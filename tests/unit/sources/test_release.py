"""A release as a source: pinned, checked on every read, fetched from anywhere."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from satchel import Options, Satchel
from satchel.errors import (
    ChangedSinceSyncError,
    DigestMismatchError,
    InvalidReleaseError,
    LimitExceededError,
    ReferenceEscapesError,
    ReferenceNotFoundError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.model import Limits, Resource
from satchel.sources import memory, released
from satchel_store.release import ReleaseSource, is_release, publish
from tests.unit.release.packs import PACKS, build, built, release_of

ID = release_of(PACKS).id
OTHER = "sha256-tree-v1:" + "0" * 64


class Elsewhere:
    """Files by path, as a server has them; says what was fetched."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.fetched: list[str] = []
        self.away = False

    def __call__(self, path: str, limit_bytes: int) -> bytes:
        self.fetched.append(path)
        if self.away:
            raise SourceUnavailableError("far", "timed out")
        data = self.files.get(path)
        if data is None:
            raise ReferenceNotFoundError("", path)
        if len(data) > limit_bytes:
            raise LimitExceededError(
                "file_bytes", limit_bytes, len(data), "bytes", path
            )
        return data


def at(files: dict[str, bytes], pin: str | None = None, **more: Any) -> ReleaseSource:  # noqa: ANN401
    return ReleaseSource(Elsewhere(files), label="far", pin=pin, **more)


def site_of(*releases: dict[str, bytes], current: str) -> dict[str, bytes]:
    """Return the files of a site with these releases."""
    files: dict[str, bytes] = {}
    for release in releases:
        found = at(release).open()
        home = f"releases/{found.hex}/"
        files |= {home + path: data for path, data in release.items()}
    head = {"format": "satchel-site", "schema_version": 1, "release": current}
    return {**files, "release.json": json.dumps(head).encode()}


def test_the_catalog_is_that_of_the_packs() -> None:
    """Nothing is lost on the way but where they lay."""
    fields = (
        *("id", "name", "description", "resources", "references", "scripts", "assets"),
        *("others", "tools", "allowed_tools", "digest", "size", "owner"),
    )
    seen: list[object] = []
    for source in (memory(PACKS), at(built(PACKS))):
        with Satchel(source) as skills:
            entries = [[getattr(e, field) for field in fields] for e in skills.catalog]
            digests = [skills.digest(entry.id) for entry in skills.catalog]
            reasons = [excluded.reason for excluded in skills.catalog.excluded]
            seen.append((entries, digests, reasons, skills.prompt().text))

    assert seen[0] == seen[1]


def test_nothing_but_release_json_is_fetched_before_a_load() -> None:
    """Digests and sizes of all files are known from it."""
    place = Elsewhere(built(PACKS))
    with Satchel(ReleaseSource(place, label="far", pin=ID)) as skills:
        skills.sync()
        assert skills.resources("files")[0].path == "SKILL.md"
        skills.prompt()
        assert place.fetched == [f"releases/{ID[-64:]}/release.json", "release.json"]

        skills.load("files", "guide.md")

    assert place.fetched[2:] == ["skills/files/references/guide.md"]


def test_the_source_and_the_catalog_name_the_release() -> None:
    source = at(built(PACKS))
    assert source.release == ""
    assert source.owner_of("files") == ""

    with Satchel(source) as skills:
        assert skills.catalog.release == source.release == ID
        assert skills.catalog.release_of("far") == ID
        assert source.owner_of("files") == "docs-team"
        assert source.owner_of("alone") == source.owner_of("x") == ""


@pytest.mark.row("R25")
def test_a_pin_is_checked_before_anything_is_used() -> None:
    with pytest.raises(
        DigestMismatchError, match=f"it is release {ID}, expected {OTHER}"
    ):
        at(built(PACKS), OTHER).scan()

    with Satchel(at(built(PACKS), OTHER)) as skills:
        assert len(skills.catalog) == 0
        assert "is not what was announced" in skills.health().problems[0]


@pytest.mark.parametrize(
    "pin", ["", "abc", ID.upper(), ID + "0", f"{ID}\n", ID[:-1], ID[-64:]]
)
def test_a_pin_that_is_no_id_is_refused_at_once(pin: str) -> None:
    with pytest.raises(InvalidReleaseError, match="64 hex digits"):
        at({}, pin)


def test_of_a_site_the_current_release_is_used_or_the_one_pinned() -> None:
    first, second = built(PACKS), built({"alone": PACKS["alone"]})
    second_id = at(second).open().id
    files = site_of(first, second, current=second_id)
    assert at(files).open().id == second_id
    assert at(files, ID).open().id == ID
    assert (
        at(files, ID).read("hidden", "SKILL.md", 1_000) == (PACKS["hidden"]["SKILL.md"])
    )
    location = next(iter(at(files, ID).scan())).location
    assert location == f"far/releases/{ID[-64:]}/skills/Odd_Name"


AT_HOME = f"releases/{ID[-64:]}/release.json"


SITE = site_of(built(PACKS), current=ID)
EMPTY_SITE = site_of(current=ID)
WRONG_PLACES: dict[str, tuple[dict[str, bytes], tuple[str | None, ...], str]] = {
    "no such release": (SITE, (OTHER,), f"has no release {OTHER}; .* {ID}"),
    "lost its current one": (EMPTY_SITE, (None,), "which it says is current"),
    # The name of its folder promises what it is.
    "another release": (
        {**SITE, AT_HOME: built({"alone": PACKS["alone"]})["release.json"]},
        (None, ID),
        f"expected {ID}",
    ),
    "a site in a release's place": (
        {**EMPTY_SITE, AT_HOME: EMPTY_SITE["release.json"]},
        (None, ID),
        "it is that of a site",
    ),
    "nothing": ({}, (None, ID), r"far/release\.json: there is no"),
}


@pytest.mark.parametrize(
    ("files", "pins", "says"), WRONG_PLACES.values(), ids=WRONG_PLACES
)
def test_a_place_without_the_release_is_refused(
    files: dict[str, bytes], pins: tuple[str | None, ...], says: str
) -> None:
    for pin in pins:
        with pytest.raises((InvalidReleaseError, DigestMismatchError), match=says):
            at(files, pin).open()


def test_what_does_not_answer_is_not_taken_for_missing() -> None:
    """And keeps what it last gave."""
    place = Elsewhere(built(PACKS))
    with Satchel(ReleaseSource(place, label="far")) as skills:
        place.away = True
        skills.sync()
        assert skills.catalog.release == ID
        assert not skills.health().ok
    for pin in (None, ID):
        with pytest.raises(SourceUnavailableError):
            ReleaseSource(place, label="far", pin=pin).scan()


@pytest.mark.parametrize(
    ("files", "pin", "fetched"),
    [
        (built(PACKS), ID, [AT_HOME, "release.json"]),
        (built(PACKS), None, ["release.json"] * 3),
        (SITE, None, ["release.json", AT_HOME, *["release.json"] * 2]),
    ],
    ids=["pinned", "free", "site"],
)
def test_what_each_sync_fetches(
    files: dict[str, bytes], pin: str | None, fetched: list[str]
) -> None:
    place = Elsewhere(files)
    with Satchel(ReleaseSource(place, label="far", pin=pin)) as skills:
        before = skills.catalog.entries
        for _ in range(2):
            assert len(skills.sync().unchanged) == len(before)
        assert skills.catalog.entries[0] is before[0]

    assert place.fetched == fetched


def test_a_new_release_is_taken_in_and_what_was_known_before_is_refused() -> None:
    place = Elsewhere(built(PACKS))
    later = {"alone": {"SKILL.md": PACKS["alone"]["SKILL.md"] + b"More.\n"}}
    source = ReleaseSource(place, label="far")
    with Satchel(source) as skills:
        place.files = built(later)
        source.open()
        with pytest.raises(ChangedSinceSyncError):
            skills.load("alone")

        # The refusal has asked for a sync in the background, which may be the first.
        skills.sync()

        assert skills.load("alone").text.endswith("More.\n")


def test_bytes_that_are_not_the_release_s_are_never_handed_out() -> None:
    good = built(PACKS)
    file = "references/guide.md"
    path = f"skills/files/{file}"
    for bad in (good[path][:-1] + b"!", good[path] + b"!", good[path][:-1], b""):
        source = at({**good, path: bad})
        with pytest.raises(DigestMismatchError) as caught:
            source.read("files", file, 1_000)
        assert (caught.value.name, caught.value.file) == ("files", file)
        with Satchel(source) as skills, pytest.raises(DigestMismatchError):
            skills.load("files", "guide.md")
    del good[path]
    with pytest.raises(ReferenceNotFoundError) as lost:
        at(good).read("files", file, 1_000)
    assert (lost.value.name, lost.value.file) == ("files", file)


def test_more_bytes_than_announced_are_not_even_fetched() -> None:
    place = Elsewhere(built(PACKS))
    limits: list[int] = []

    def fetch(path: str, limit_bytes: int) -> bytes:
        limits.append(limit_bytes)
        return place(path, limit_bytes)

    source = ReleaseSource(fetch, label="far")
    source.read("alone", "SKILL.md", 1_000_000)

    assert limits == [Limits().release_bytes, len(PACKS["alone"]["SKILL.md"])]
    with pytest.raises(LimitExceededError):
        source.read("alone", "SKILL.md", 10)
    assert len(limits) == 2
    with pytest.raises(LimitExceededError, match="release_bytes"):
        at(built(PACKS), limits=Limits(release_bytes=100)).open()


def test_only_what_the_release_lists_is_read() -> None:
    source = at({**built(PACKS), "skills/files/more.md": b"planted"})

    with pytest.raises(ReferenceNotFoundError):
        source.read("files", "more.md", 100)
    with pytest.raises(SkillNotFoundError):
        source.read("more", "SKILL.md", 100)
    with pytest.raises(SkillNotFoundError):
        source.files("more")
    with pytest.raises(ReferenceEscapesError):
        source.read("files", "../alone/SKILL.md", 100)


def test_any_file_of_it_can_be_read_with_its_digest() -> None:
    good = built(PACKS)
    source = at(good)

    for file in source.open().files:
        assert source.read_file(file) == good[file.path]
    with pytest.raises(DigestMismatchError):
        source.read_file(Resource("archives/files.tar.gz", "sha256:0", 1))


def test_reading_first_opens_it() -> None:
    source = at(built(PACKS), ID)

    assert source.manifest("alone") == PACKS["alone"]["SKILL.md"]
    assert repr(source) == f"ReleaseSource('far', pin={ID!r})"
    source.close()


def test_many_threads_may_open_it_at_once() -> None:
    place = Elsewhere(built(PACKS))
    source = ReleaseSource(place, label="far")
    barrier = threading.Barrier(8, timeout=10)

    def read(_: int) -> bytes:
        barrier.wait()
        return source.manifest("alone")

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(read, range(8)))

    assert results == [PACKS["alone"]["SKILL.md"]] * 8
    assert place.fetched.count("release.json") == 1


def test_a_pack_over_the_limits_is_refused_alone() -> None:
    options = Options(limits=Limits(pack_files=4))
    with Satchel(at(built(PACKS)), options=options) as skills:
        assert "files" not in skills.catalog
        assert "alone" in skills.catalog
        errors = [item.code for item in skills.findings if item.severity == "error"]
        assert errors == ["limit-exceeded", "tool-not-offered", "tool-not-offered"]


# A folder of this machine.


def test_a_folder_is_read_without_leaving_it(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailableError, match="no such folder"):
        released(tmp_path / "dist", label="dist").scan()
    build(PACKS, tmp_path / "dist")
    secret = tmp_path / "secret"
    secret.write_bytes(PACKS["alone"]["SKILL.md"])
    inside = tmp_path / "dist/skills/alone/SKILL.md"
    inside.unlink()
    inside.symlink_to(secret)

    with pytest.raises(ReferenceEscapesError, match="a link is not followed"):
        released(tmp_path / "dist", pin=ID).manifest("alone")


def test_what_is_taken_for_a_release(tmp_path: Path) -> None:
    """One that is damaged is one: its skills are not to be read unchecked."""
    dist, site = tmp_path / "dist", tmp_path / "site"
    build(PACKS, dist)
    publish(released(dist), site)
    assert is_release(str(dist))
    assert is_release(str(site))

    for place in (dist, site):
        (place / "release.json").write_bytes(b"\0" * 100)
        assert is_release(str(place))
    (dist / "release.json").unlink()
    assert not is_release(str(dist))


@pytest.mark.parametrize("whole", [True, False], ids=["other content", "too large"])
def test_what_is_judged_by_its_neighbours(tmp_path: Path, whole: bool) -> None:
    """A project may have a release.json and a folder of skills of its own."""
    with (tmp_path / "release.json").open("wb") as file:
        file.write(b'{"branches": ["main"]}')
        file.truncate(None if whole else Limits().release_bytes + 1)
    (tmp_path / "skills").mkdir()
    assert not is_release(str(tmp_path))

    (tmp_path / ".well-known").mkdir()
    assert is_release(str(tmp_path))
