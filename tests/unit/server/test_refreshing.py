"""Staying current while a server runs."""

import logging
import threading
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import ExtraMissingError
from satchel.model import SyncReport
from satchel.testing import write_pack
from satchel_server import LibraryRefresher, ServedLibrary, _refresh as refreshing
from tests.fakes import FakeSource, pack

WAIT_S = 20


@pytest.fixture
def changed() -> threading.Event:
    return threading.Event()


def _listening(skills: Satchel, changed: threading.Event) -> ServedLibrary:
    library = ServedLibrary(skills)

    def tell(report: SyncReport) -> None:
        changed.set()

    library.listen(tell)
    return library


def test_a_folder_is_watched(tmp_path: Path, changed: threading.Event) -> None:
    write_pack(tmp_path, "alpha")
    library = _listening(Satchel(tmp_path), changed)

    with LibraryRefresher(library, every_s=0, settle_s=0) as refresher:
        refresher.begin()
        assert refresher.begun.wait(WAIT_S)
        assert (refresher.watches, refresher.polls) == (True, False)
        write_pack(tmp_path, "beta")

        while "beta" not in library.catalog:  # it may be seen half-written first
            assert changed.wait(WAIT_S)
            changed.clear()


def test_what_cannot_be_watched_is_asked_or_never(changed: threading.Event) -> None:
    source = FakeSource("s", {"alpha": {"SKILL.md": pack("alpha")}})
    library = _listening(Satchel(source), changed)
    source.packs["beta"] = {"SKILL.md": pack("beta")}

    with LibraryRefresher(library, every_s=0.01, settle_s=0) as refresher:
        refresher.begin()
        assert refresher.begun.wait(WAIT_S)
        assert (refresher.watches, refresher.polls) == (False, True)
        assert changed.wait(WAIT_S)

    assert "beta" in library.catalog
    with LibraryRefresher(library, every_s=0, settle_s=0) as refresher:
        refresher.begin()
        assert refresher.begun.wait(WAIT_S)
        assert not refresher.polls
    refresher.stop()


@pytest.mark.parametrize(
    "error", [ExtraMissingError("hot reload", "watch"), OSError(28, "No space left")]
)
def test_without_a_watch_folders_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    write_pack(tmp_path, "alpha")
    monkeypatch.setattr(refreshing, "FolderWatch", fail)

    with LibraryRefresher(
        ServedLibrary(Satchel(tmp_path)), every_s=60, settle_s=0
    ) as refresher:
        refresher.begin()
        assert refresher.begun.wait(WAIT_S)
        assert (refresher.watches, refresher.polls) == (False, True)


def test_a_listener_that_fails_stops_nothing(
    changed: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    source = FakeSource("s", {"alpha": {"SKILL.md": pack("alpha")}})
    library = ServedLibrary(Satchel(source))
    calls: list[SyncReport] = []

    def fail(report: SyncReport) -> None:
        calls.append(report)
        source.packs[f"skill-{len(calls)}"] = {"SKILL.md": pack(f"skill-{len(calls)}")}
        if len(calls) > 1:
            changed.set()
        raise RuntimeError("/srv/secret")

    library.listen(fail)
    source.packs["beta"] = {"SKILL.md": pack("beta")}

    with (
        caplog.at_level(logging.ERROR),
        LibraryRefresher(library, every_s=0.01, settle_s=0) as refresher,
    ):
        refresher.begin()
        assert changed.wait(WAIT_S)

    assert "refreshing failed: RuntimeError" in caplog.text
    assert "/srv" not in caplog.text


@pytest.mark.row("C51")
def test_the_sinks_are_told_from_time_to_time_what_is_on_offer() -> None:
    seen = threading.Semaphore(0)

    class Sink:
        def record(self, event: object) -> None:
            """No load happens here."""

        def synced(self, event: object) -> None:  # noqa: ARG002
            seen.release()

    skills = Satchel(
        FakeSource("s", {"alpha": {"SKILL.md": pack("alpha")}}), sinks=[Sink()]
    )
    assert seen.acquire(timeout=WAIT_S)  # that of the first sync

    with LibraryRefresher(
        ServedLibrary(skills), every_s=0, observe_s=0.01, settle_s=0
    ) as refresher:
        refresher.begin()
        assert seen.acquire(timeout=WAIT_S)
