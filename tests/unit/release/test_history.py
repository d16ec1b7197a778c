"""The releases of a place: those of a site, the latest first; else the one in use."""

import os
from pathlib import Path

from satchel import Satchel
from satchel.sources import released
from satchel.testing import write_pack
from satchel_store.release import ReleaseSource, build_folder, publish


def opened(path: Path) -> ReleaseSource:
    source = released(path)
    assert isinstance(source, ReleaseSource)
    source.open()
    return source


def test_a_site_has_its_releases_the_latest_first(tmp_path: Path) -> None:
    """What else lies there is none, and each is read by its own digest."""
    site, ids = tmp_path / "site", list[str]()
    for number, body in enumerate(("One.\n", "Two.\n", "Three.\n")):
        write_pack(tmp_path / "packs", "alpha", "Use for alpha.", body)
        build_folder(Satchel(tmp_path / "packs", sinks=()), tmp_path / "dist")
        release = publish(released(tmp_path / "dist"), site).release
        ids.insert(0, release.id)
        os.utime(site / "releases" / release.hex, (number, number))
    (site / "releases" / "notes").mkdir()

    history = opened(site).history()

    assert [source.pin for source in history] == ids
    bodies = [source.read("alpha", "SKILL.md", 1_000) for source in history]
    assert [b"Two." in body for body in bodies] == [False, True, False]


def test_a_plain_release_is_its_own_history(tmp_path: Path) -> None:
    write_pack(tmp_path / "packs", "alpha", "Use for alpha.", "One.\n")
    build_folder(Satchel(tmp_path / "packs", sinks=()), tmp_path / "dist")
    source = opened(tmp_path / "dist")

    assert source.history() == (source,)
