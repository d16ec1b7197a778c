"""A release as a source: pinned, checked on every read, fetched from anywhere."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from satchel import Options, Satchel, sources
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
from satchel.release import publish
from satchel.sources import ReleaseSource, is_release, memory, released
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
    with Satchel(memory(PACKS)) as before, Satchel(at(built(PACKS))) as after:
        assert [entry.id for entry in after.catalog] == [
            entry.id for entry in before.catalog
        ]
        for old in before.catalog:
            new = after.catalog.get(old.id)
            assert new is not None
            assert new.description == old.description
            assert (new.name, new.resources) == (old.name, old.resources)
            assert (new.references, new.scripts) == (old.references, old.scripts)
            assert (new.assets, new.others) == (old.assets, old.others)
            assert (new.tools, new.allowed_tools) == (old.tools, old.allowed_tools)
            assert (new.digest, new.size, new.owner) == (
                old.digest,
                old.size,
                old.owner,
            )
            assert after.digest(old.id) == before.digest(old.id)
        assert [excluded.reason for excluded in after.catalog.excluded] == [
            excluded.reason for excluded in before.catalog.excluded
        ]
        assert after.prompt().text == before.prompt().text


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


def test_a_site_that_has_no_such_release_says_which_it_has() -> None:
    files = site_of(built(PACKS), current=ID)

    with pytest.raises(InvalidReleaseError, match=f"has no release {OTHER}; .* {ID}"):
        at(files, OTHER).open()


def test_a_site_that_lost_its_current_release_says_so() -> None:
    files = site_of(current=ID)

    with pytest.raises(InvalidReleaseError, match="which it says is current"):
        at(files).open()


def test_a_release_in_the_place_of_another_is_refused() -> None:
    """The name of its folder promises what it is."""
    files = site_of(built(PACKS), current=ID)
    other = built({"alone": PACKS["alone"]})
    files[f"releases/{ID[-64:]}/release.json"] = other["release.json"]

    for pin in (None, ID):
        with pytest.raises(DigestMismatchError):
            at(files, pin).open()


def test_a_site_in_the_place_of_a_release_is_refused() -> None:
    files = site_of(current=ID)
    files[f"releases/{ID[-64:]}/release.json"] = files["release.json"]

    with pytest.raises(InvalidReleaseError, match="it is that of a site"):
        at(files).open()


def test_a_place_without_a_release_is_reported() -> None:
    for pin in (None, ID):
        with pytest.raises(
            InvalidReleaseError, match=r"far/release\.json: there is no"
        ):
            at({}, pin).open()


def test_what_does_not_answer_is_not_taken_for_missing() -> None:
    place = Elsewhere({})
    place.away = True

    for pin in (None, ID):
        with pytest.raises(SourceUnavailableError):
            ReleaseSource(place, label="far", pin=pin).scan()


def test_a_pinned_release_is_fetched_once_and_another_looked_for_at_each_sync() -> None:
    pinned, free = Elsewhere(built(PACKS)), Elsewhere(built(PACKS))
    for place, pin, times in ((pinned, ID, 2), (free, None, 3)):
        with Satchel(ReleaseSource(place, label="far", pin=pin)) as skills:
            before = skills.catalog.entries
            for _ in range(2):
                assert len(skills.sync().unchanged) == len(before)
            assert skills.catalog.entries[0] is before[0]
        assert len(place.fetched) == times


def test_a_site_that_stays_as_it_is_costs_one_small_file_a_sync() -> None:
    place = Elsewhere(site_of(built(PACKS), current=ID))
    with Satchel(ReleaseSource(place, label="far")) as skills:
        skills.sync()

    home = f"releases/{ID[-64:]}/release.json"
    assert place.fetched == ["release.json", home, "release.json"]


def test_a_new_release_is_taken_in_and_what_was_known_before_is_refused() -> None:
    place = Elsewhere(built(PACKS))
    later = {"alone": {"SKILL.md": PACKS["alone"]["SKILL.md"] + b"More.\n"}}
    source = ReleaseSource(place, label="far")
    with Satchel(source) as skills:
        place.files = built(later)
        source.open()
        with pytest.raises(ChangedSinceSyncError):
            skills.load("alone")

        report = skills.sync()

        assert report.updated == ("alone",)
        assert skills.load("alone").text.endswith("More.\n")


def test_an_away_place_keeps_what_it_last_gave() -> None:
    place = Elsewhere(built(PACKS))
    with Satchel(ReleaseSource(place, label="far")) as skills:
        place.away = True
        skills.sync()

        assert skills.catalog.release == ID
        assert not skills.health().ok


def test_bytes_that_are_not_the_release_s_are_never_handed_out() -> None:
    good = built(PACKS)
    path = "skills/files/references/guide.md"
    for bad in (good[path][:-1] + b"!", good[path] + b"!", good[path][:-1], b""):
        source = at({**good, path: bad})
        with pytest.raises(DigestMismatchError) as caught:
            source.read("files", "references/guide.md", 1_000)
        assert (caught.value.name, caught.value.file) == (
            "files",
            "references/guide.md",
        )
        with Satchel(source) as skills, pytest.raises(DigestMismatchError):
            skills.load("files", "guide.md")


def test_more_bytes_than_announced_are_not_even_fetched() -> None:
    good = built(PACKS)

    class Lying(Elsewhere):
        def __call__(self, path: str, limit_bytes: int) -> bytes:
            limits.append(limit_bytes)
            return super().__call__(path, limit_bytes)

    limits: list[int] = []
    source = ReleaseSource(Lying(good), label="far")
    source.read("alone", "SKILL.md", 1_000_000)

    assert limits == [Limits().release_bytes, len(PACKS["alone"]["SKILL.md"])]
    with pytest.raises(LimitExceededError):
        source.read("alone", "SKILL.md", 10)
    assert len(limits) == 2


def test_a_file_that_the_place_has_lost_is_missing() -> None:
    good = built(PACKS)
    del good["skills/files/notes.txt"]

    with pytest.raises(ReferenceNotFoundError) as caught:
        at(good).read("files", "notes.txt", 10)

    assert (caught.value.name, caught.value.file) == ("files", "notes.txt")


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
    results: list[bytes] = []

    def read() -> None:
        barrier.wait()
        results.append(source.manifest("alone"))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert results == [PACKS["alone"]["SKILL.md"]] * 8
    assert place.fetched.count("release.json") == 1


def test_other_ids_can_be_given_to_its_skills() -> None:
    source = at(built(PACKS))
    chosen = sources.only(sources.prefixed(source, "team-"), ["team-a*", "team-f*"])
    with Satchel(chosen) as skills:
        assert [(e.id, e.name) for e in skills.catalog] == [
            ("team-alone", "alone"),
            ("team-files", "files"),
        ]
        assert skills.load("team-alone").data == PACKS["alone"]["SKILL.md"]
        assert "filtered" in [excluded.reason for excluded in skills.catalog.excluded]


def test_a_pack_over_the_limits_is_refused_alone() -> None:
    with Satchel(
        at(built(PACKS)), options=Options(limits=Limits(pack_files=4))
    ) as skills:
        assert "files" not in skills.catalog
        assert "alone" in skills.catalog
        assert [
            finding.code for finding in skills.findings if finding.severity == "error"
        ] == [
            "limit-exceeded",
            "tool-not-offered",
            "tool-not-offered",
        ]


def test_a_release_json_over_the_limit_is_not_read() -> None:
    with pytest.raises(LimitExceededError, match="release_bytes"):
        at(built(PACKS), limits=Limits(release_bytes=100)).open()


# A folder of this machine.


def test_a_folder_is_read_without_leaving_it(tmp_path: Path) -> None:
    build(PACKS, tmp_path / "dist")
    secret = tmp_path / "secret"
    secret.write_bytes(PACKS["alone"]["SKILL.md"])
    inside = tmp_path / "dist/skills/alone/SKILL.md"
    inside.unlink()
    inside.symlink_to(secret)

    with pytest.raises(ReferenceEscapesError, match="a link is not followed"):
        released(tmp_path / "dist", pin=ID).manifest("alone")


def test_a_folder_that_went_away_is_a_source_that_does_not_answer(
    tmp_path: Path,
) -> None:
    with pytest.raises(SourceUnavailableError, match="no such folder"):
        released(tmp_path / "dist", label="dist").scan()


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


def test_a_project_with_a_release_json_of_its_own_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text('{"branches": ["main"]}')
    (tmp_path / "skills").mkdir()

    assert not is_release(str(tmp_path))


def test_a_release_json_over_every_limit_is_judged_by_its_neighbours(
    tmp_path: Path,
) -> None:
    with (tmp_path / "release.json").open("wb") as sparse:
        sparse.truncate(Limits().release_bytes + 1)
    assert not is_release(str(tmp_path))

    (tmp_path / ".well-known").mkdir()
    (tmp_path / "skills").mkdir()

    assert is_release(str(tmp_path))
