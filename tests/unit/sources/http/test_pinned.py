"""One release of a site, however the site changes."""

from pathlib import Path

import pytest

from satchel import Satchel, sources
from satchel.errors import (
    DigestMismatchError,
    InvalidReleaseError,
    LimitExceededError,
    ReferenceNotFoundError,
    SourceUnavailableError,
)
from satchel.sources import released
from satchel_store.http import PinnedSource, _source as pinned
from satchel_store.release import publish
from tests.unit.release.packs import PACKS, Packs, build
from tests.unit.sources.http.site import Reply, Site
from tests.unit.sources.scans import found_in

LATER = {**PACKS, "alone": {"SKILL.md": PACKS["alone"]["SKILL.md"] + b"More.\n"}}


def put(packs: Packs, site: Site, tmp_path: Path) -> str:
    """Publish packs on the site; return the id of the release."""
    site.root = tmp_path / "site"
    build(packs, tmp_path / "dist")
    return publish(released(tmp_path / "dist"), site.root, v1=True).release.id


def of(site: Site, pin: str, path: str = "", **more: object) -> PinnedSource:
    made = sources.http(site.url + path, pin=pin, allow_private=True, **more)  # type: ignore[arg-type]
    assert isinstance(made, PinnedSource)
    return made


@pytest.mark.parametrize("path", ["", "/", "/release.json"])
def test_a_pin_holds(site: Site, tmp_path: Path, path: str) -> None:
    """An older one is the way back."""
    old = put(PACKS, site, tmp_path)
    new = put(LATER, site, tmp_path)
    with Satchel(of(site, old, path)) as before, Satchel(of(site, new, path)) as after:
        assert before.catalog.release == old
        assert after.catalog.release == new
        assert "More." not in before.load("alone").text
        assert "More." in after.load("alone").text
        assert before.load("files", "guide.md").text.endswith("Über alles\r\n")
        assert before.catalog.sources[0].label.startswith(site.url)


def test_only_what_is_loaded_is_fetched(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = put(PACKS, site, tmp_path)
    cache = tmp_path / "cache"
    made = of(site, pin, cache=cache)
    folder = f"/releases/{pin.rpartition(':')[2]}"
    found_in(made)
    assert site.paths() == [f"{folder}/release.json"]

    for _ in range(3):
        assert made.read("files", "scripts/run.py", 99) == b"print(1)\n"
        assert made.manifest("alone") == PACKS["alone"]["SKILL.md"]
    assert site.paths()[1:] == [
        f"{folder}/skills/files/scripts/run.py",
        f"{folder}/skills/alone/SKILL.md",
    ]
    monkeypatch.setattr(pinned, "CACHED_PACKS_BYTES", 0)  # so that only the disk has it
    again = of(site, pin, cache=cache)
    assert again.manifest("alone") == PACKS["alone"]["SKILL.md"]
    assert site.paths()[3:] == [f"{folder}/release.json"]
    site.root = None
    made.close()
    assert made.read("files", "scripts/run.py", 99) == b"print(1)\n"


def test_other_bytes_are_not_used(site: Site, tmp_path: Path) -> None:
    pin = put(PACKS, site, tmp_path)
    folder = f"/releases/{pin.rpartition(':')[2]}"
    made = of(site, pin)
    found_in(made)
    site.put(f"{folder}/skills/alone/SKILL.md", b"tampered")
    with pytest.raises(DigestMismatchError, match="alone"):
        made.manifest("alone")

    site.put(f"{folder}/skills/alone/SKILL.md", Reply(status=404))
    with pytest.raises(ReferenceNotFoundError, match="alone"):
        made.manifest("alone")
    site.put(f"{folder}/skills/alone/SKILL.md", Reply(status=403))
    with pytest.raises(SourceUnavailableError, match="403"):
        made.manifest("alone")
    with pytest.raises(LimitExceededError):
        made.read("files", "assets/logo.png", 255)
    with pytest.raises(ReferenceNotFoundError):
        made.read("files", "none.md", 255)


def test_a_release_that_is_not_there(site: Site, tmp_path: Path) -> None:
    put(PACKS, site, tmp_path)
    with pytest.raises(InvalidReleaseError, match="has no release"):
        found_in(of(site, f"sha256-tree-v1:{'0' * 64}"))
    with pytest.raises(InvalidReleaseError, match="pin"):
        of(site, "sha256:0")


def test_a_site_that_is_away(site: Site, tmp_path: Path) -> None:
    """The catalog stays, and is stale; so does what was read."""
    pin = put(PACKS, site, tmp_path)
    with Satchel(of(site, pin)) as skills:
        listed = [item.id for item in skills.catalog]
        skills.load("alone")
        site.root = None
        skills.sync()

        assert [item.id for item in skills.catalog] == listed
        assert skills.load("alone").text


def test_without_a_pin_the_index_is_read(site: Site, tmp_path: Path) -> None:
    """What we publish, we read, in either format."""
    put(PACKS, site, tmp_path)
    names = ["alone", "declared", "files", "hidden"]
    assert set(names) <= set(found_in(sources.http(site.url, allow_private=True)))

    site.put("/.well-known/agent-skills/index.json", Reply(status=404))
    older = sources.http(site.url, allow_private=True)
    assert set(names) <= set(found_in(older))
    assert older.read("files", "notes.txt", 9) == b""
