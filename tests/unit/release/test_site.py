"""A static site: releases side by side, one of them current, nothing ever deleted."""

import json
import os
from pathlib import Path
from urllib.parse import urljoin

import pytest

from satchel import Satchel
from satchel.errors import ConfigError, DigestMismatchError
from satchel.files import digest_bytes
from satchel.sources import released
from satchel_store.release import PublishedRelease, publish
from tests.unit.release.packs import PACKS, build, built, files_in

LATER = {**PACKS, "alone": {"SKILL.md": PACKS["alone"]["SKILL.md"] + b"More.\n"}}
V1 = ".well-known/skills/index.json"
V2 = ".well-known/agent-skills/index.json"


def put(dist: Path, site: Path, *, v1: bool = False) -> PublishedRelease:
    return publish(released(dist), site, v1=v1)


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    build(PACKS, tmp_path / "dist")
    return tmp_path / "dist"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


def test_a_site_has_the_release_byte_for_byte(dist: Path, site: Path) -> None:
    published = put(dist, site)

    home = site / "releases" / published.release.hex
    assert files_in(home) == built(PACKS)
    assert {path for path in files_in(site) if not path.startswith("releases/")} == {
        *(V2, "release.json")
    }
    assert len(files_in(site)) == len(built(PACKS)) + 2
    assert published.written == len(files_in(site))
    assert [finding.code for finding in published.findings] == ["not-publishable"]


@pytest.mark.parametrize("base", ["https://e.org/", "https://e.org/deep/site/"])
def test_the_index_leads_to_every_artifact(base: str, dist: Path, site: Path) -> None:
    """As a client resolves addresses, wherever the site is served."""
    put(dist, site)
    files = files_in(site)
    index = json.loads(files[V2])

    names = [item["name"] for item in index["skills"]]
    assert names == ["alone", "declared", "files", "hidden"]
    for item in index["skills"]:
        url = urljoin(base + V2, item["url"])
        assert url.startswith(base)
        assert digest_bytes(files[url.removeprefix(base)]) == item["digest"]


def test_the_old_index_and_its_files_are_written_on_request(
    dist: Path, site: Path
) -> None:
    put(dist, site)
    assert not (site / V1).exists()

    put(dist, site, v1=True)

    files = files_in(site)
    for skill in json.loads(files[V1])["skills"]:
        assert skill["files"][0] == "SKILL.md"
        for path in skill["files"]:
            data = PACKS[skill["name"]][path]
            assert files[f".well-known/skills/{skill['name']}/{path}"] == data
    assert not any("Odd_Name" in path for path in files if path.startswith(".well"))
    build({"alone": PACKS["alone"]}, dist)
    put(dist, site)
    (left,) = json.loads((site / V1).read_text())["skills"]
    assert left["name"] == "alone", "an old index is never left as it was"


def test_a_second_time_no_byte_and_no_time_changes(dist: Path, site: Path) -> None:
    put(dist, site, v1=True)
    for path in site.rglob("*"):
        os.utime(path, (1, 1))
    before = files_in(site)

    again = put(dist, site)

    assert (again.written, again.unchanged) == (0, len(before))
    assert files_in(site) == before
    assert {path.stat().st_mtime for path in site.rglob("*")} == {1.0}


def test_an_earlier_release_stays_and_is_the_way_back(dist: Path, site: Path) -> None:
    first = put(dist, site)
    build(LATER, dist)
    second = put(dist, site)
    with Satchel(site) as now, Satchel(site, pin=first.release.id) as then:
        assert now.catalog.release == second.release.id
        assert then.catalog.release == first.release.id
        assert now.load("alone").data == LATER["alone"]["SKILL.md"]
        assert then.load("alone").data == PACKS["alone"]["SKILL.md"]

    back = put(site / "releases" / first.release.hex, site)

    assert back.release == first.release
    with Satchel(site) as skills:
        assert skills.catalog.release == first.release.id
    assert (site / "releases" / second.release.hex / "release.json").exists()


def test_files_of_others_are_left_alone(dist: Path, site: Path) -> None:
    mine = site / ".well-known" / "security.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    (site / "index.html").write_text("mine")

    put(dist, site)
    build({"alone": PACKS["alone"]}, dist)
    put(dist, site)

    assert mine.read_text() == (site / "index.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("path", "v1", "reason"),
    [
        (V2, False, "satchel has not written it"),
        (V1, True, "satchel has not written it"),
        ("release.json", False, "is not that of a site"),
    ],
)
def test_what_satchel_has_not_written_is_not_replaced(
    path: str, v1: bool, reason: str, dist: Path, site: Path
) -> None:
    (site / path).parent.mkdir(parents=True)
    (site / path).write_text('{"skills": []}')

    with pytest.raises(ConfigError, match=reason):
        put(dist, site, v1=v1)

    assert list(files_in(site)) == [path]


def test_a_site_is_a_folder_of_its_own(dist: Path, site: Path) -> None:
    """A release in it would not be what its digest says any more."""
    before = files_in(dist)
    site.write_text("")

    for place, reason in (
        (dist, "a site needs a folder of its own"),
        (dist / "public" / "site", "it is in the release"),
        (site, "is not a folder"),
    ):
        with pytest.raises(ConfigError, match=reason):
            put(dist, place)
    assert files_in(dist) == before


def test_a_damaged_release_changes_nothing_that_is_served(
    dist: Path, site: Path
) -> None:
    first = put(dist, site)
    build(LATER, dist)
    (dist / "skills/files/notes.txt").write_text("not what was built")

    with pytest.raises(DigestMismatchError):
        put(dist, site)

    with Satchel(site) as skills:
        assert skills.catalog.release == first.release.id


def test_the_index_is_the_last_file(
    dist: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it names is there before it, and the release is complete."""
    order: list[str] = []
    replace = os.replace

    def noted(old: str, new: str) -> None:
        order.append(Path(new).relative_to(site).as_posix())
        replace(old, new)

    monkeypatch.setattr(os, "replace", noted)
    published = put(dist, site, v1=True)

    home = f"releases/{published.release.hex}"
    assert order[-3:] == [V1, "release.json", V2]
    assert order.index(f"{home}/release.json") == len(built(PACKS)) - 1


def test_what_cannot_be_written_leaves_nothing_half(
    dist: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(old: str, new: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        put(dist, site)

    assert files_in(site) == {}
