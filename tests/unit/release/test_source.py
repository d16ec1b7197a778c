"""The front door: a folder, or an address, that is a release is opened as one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel import Options, Satchel
from satchel.errors import ConfigError, DigestMismatchError, InvalidReleaseError
from satchel.runtime import open_inputs
from satchel.runtime._config_inputs import open_config
from satchel.sources import http, released
from satchel_store.http import PinnedSource
from satchel_store.release import ReleaseSource, publish
from satchel_store.release._release import Release
from tests.unit.release.packs import PACKS, build, write
from tests.unit.sources.http.site import Site, serving

OTHER = "sha256-tree-v1:" + "0" * 64
URL = "https://skills.example.org/team"


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    """A release in ``dist``, the same on a site in ``site``, packs in ``skills``."""
    monkeypatch.chdir(tmp_path)
    write({"other": {"SKILL.md": PACKS["alone"]["SKILL.md"]}}, tmp_path / "skills")
    made = build(PACKS, tmp_path / "dist")
    publish(released("dist"), tmp_path / "site")
    return made


@pytest.mark.parametrize("place", ["dist", "site"])
def test_a_folder_that_is_a_release_is_opened_as_one(
    place: str, release: Release
) -> None:
    for pin in (None, release.id):
        with Satchel(place, pin=pin) as skills:
            assert skills.catalog.release == release.id
            assert skills.load("files", "guide.md").file == "references/guide.md"


def test_a_release_next_to_other_skills_is_pinned_alone(release: Release) -> None:
    with Satchel(
        "skills", "dist", pin=release.id, options=Options(on_conflict="precedence")
    ) as skills:
        assert skills.catalog.release_of("dist") == release.id
        assert skills.catalog.release_of("skills") == ""
        assert skills.catalog.release == ""
    with Satchel("skills") as skills:
        assert skills.catalog.release == ""


@pytest.mark.parametrize("place", ["dist", "site"])
@pytest.mark.usefixtures("release")
def test_another_release_than_the_pinned_one_is_an_error_at_once(place: str) -> None:
    """An empty catalog would be found out by the users of the agent."""
    with pytest.raises((DigestMismatchError, InvalidReleaseError), match=OTHER):
        Satchel(place, pin=OTHER)


@pytest.mark.usefixtures("release")
def test_a_damaged_release_is_an_error_and_no_plain_folder(tmp_path: Path) -> None:
    (tmp_path / "dist" / "release.json").write_text("x")

    with pytest.raises(
        InvalidReleaseError, match=r"dist/release\.json: it is not JSON"
    ):
        Satchel("dist")


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (("skills",), "nothing that was named is a release"),
        (("dist", "site"), "for which of dist, site is it"),
        (("dist", URL), f"for which of dist, {URL} is it"),
        ((), "name the release that it is for"),
    ],
)
def test_a_pin_that_nothing_checks_is_an_error(
    what: tuple[str, ...], reason: str, release: Release
) -> None:
    with pytest.raises(ConfigError, match=reason):
        Satchel(*what, pin=release.id)


def test_an_address_is_opened_as_a_site() -> None:
    """Nothing is asked of it before the first sync."""
    own = Path.home() / ".config" / "satchel" / "satchel.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f'skills = ["{URL}#{OTHER}"]\n')
    free = open_inputs([URL]).sources[0]
    pinned = open_inputs([URL], pin=OTHER).sources[0]
    in_the_address = open_inputs([f"{URL}#{OTHER}"]).sources[0]
    [in_a_file] = open_config(own).sources

    assert not isinstance(free, ReleaseSource)
    assert isinstance(pinned, PinnedSource)
    for source in (pinned, in_the_address, in_a_file):
        assert isinstance(source, PinnedSource)
        assert (source.pin, source.label) == (OTHER, pinned.label)
    with pytest.raises(ConfigError, match="two pins"):
        open_inputs([f"{URL}#{OTHER}"], pin=OTHER.replace("0", "1"))


@pytest.mark.parametrize(
    "pin",
    [
        f"SHA256-TREE-V1:{'0' * 64}",
        f"sha256:{'0' * 64}",
        f"sha256-tree-v2:{'0' * 64}",
        f"sha256-tree-v1:{'0' * 63}",
        f"sha256-tree-v1:{'A' * 64}",
        "0" * 64,
        "latest",
        "",
    ],
)
@pytest.mark.usefixtures("release")
def test_a_pin_in_the_address_that_is_no_id_is_an_error(pin: str) -> None:
    """It must not be passed over, as a browser does with what it does not know."""
    with pytest.raises(InvalidReleaseError, match="sha256-tree-v1: and 64 hex digits"):
        Satchel(f"https://example.com#{pin}")
    with pytest.raises(ConfigError, match="pin="):
        http(f"https://example.com#{pin}")
    with pytest.raises(InvalidReleaseError, match="sha256-tree-v1: and 64 hex digits"):
        Satchel("dist", pin=pin)


@pytest.fixture
def served(release: Release, tmp_path: Path) -> Iterator[str]:
    """The address of the site."""
    del release  # it is on the site
    for site in serving(Site(root=tmp_path / "site")):
        yield site.url


@pytest.mark.row("R25")
def test_a_published_release_is_used_by_its_address_and_digest(
    served: str, release: Release, tmp_path: Path
) -> None:
    """And the one before it is the way back."""
    later = {"alone": {"SKILL.md": PACKS["alone"]["SKILL.md"] + b"More.\n"}}
    second = build(later, tmp_path / "dist")
    publish(released("dist"), tmp_path / "site")

    for made, body in ((second, "# Do\nMore.\n"), (release, "# Do\n")):
        source = http(served, pin=made.id, allow_private=True)
        with Satchel(source) as skills:
            assert skills.health().problems == ()
            assert skills.catalog.release == made.id
            assert skills.load("alone").body == body


def test_a_site_that_has_no_such_release_is_a_source_that_does_not_answer(
    served: str,
) -> None:
    source = http(served, pin=OTHER, allow_private=True)
    with Satchel(source) as skills:
        assert len(skills.catalog) == 0
        assert "the site has no release" in skills.health().problems[0]
