"""Alive, ready, and the figures of a catalog."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from satchel import Satchel
from satchel.testing import write_pack
from satchel_server import Caller, ServedLibrary, ServerSettings, create_app, readiness
from satchel_server._http._health import catalog_metrics
from satchel_server.usage._background import Background
from tests.fakes import FakeSource, away, pack
from tests.unit.server.http.conftest import client_for


def test_the_first_page_says_what_is_here_for_this_caller(
    client: TestClient, client_of: Callable[[Caller], TestClient]
) -> None:
    answer = client.get("/")
    few = client_of(Caller("desk", ("b*",))).get("/")

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("satchel: 3 skills served")
    assert few.text.startswith("satchel: 1 skill served")
    for path in ("/mcp", "/v1/openapi.json", "/.well-known/agent-skills/index.json"):
        assert path in answer.text


def test_a_name_brings_nothing_into_the_first_page(skills: Satchel) -> None:
    library = ServedLibrary(skills, ServerSettings(name="evil\x1b[31m\nname"))

    text = TestClient(create_app(library)).get("/").text

    assert text.splitlines()[0] == (
        "evil<U+001B>[31m<U+000A>name: 3 skills served by Satchel"
    )


def test_a_sound_library_is_ready(client: TestClient) -> None:
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "release": "",
        "skills": 3,
        "withheld": 0,
        "sources": 1,
        "degraded": [],
        "degraded_count": 0,
        "usage": {"lost": 0, "waiting": 0, "failures": 0, "kept": True},
    }
    assert client.head("/readyz").status_code == 200
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.row("F16")
def test_a_source_that_is_away_is_told_and_costs_nothing_else() -> None:
    source = FakeSource("/srv/secret", {"a": {"SKILL.md": pack("a")}})
    library = ServedLibrary(Satchel(source))
    client = TestClient(create_app(library))
    source.failure = away("/srv/secret")
    library.refresh()

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["degraded"] == [
        {
            "code": "source-unavailable",
            "message": "source 'secret' does not answer; what it last had is served",
        }
    ]
    assert "/srv" in readiness(library).degraded[0].detail
    assert client.get("/healthz").status_code == 200
    assert client.get("/v1/catalog").json()["total"] == 1


@pytest.mark.row("F16")
def test_an_undecided_conflict_is_told_and_costs_nothing_else(tmp_path: Path) -> None:
    write_pack(tmp_path / "one", "alpha")
    write_pack(tmp_path / "one", "beta")
    write_pack(tmp_path / "two", "alpha", "Use for something else.")
    client = client_for(tmp_path / "one", tmp_path / "two")

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert {
        "code": "duplicate-skill",
        "message": "skill 'alpha' is claimed by 2 packs",
    } in (answer.json()["degraded"])
    assert str(tmp_path) not in answer.text
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/").status_code == 200


@pytest.mark.row("F16")
def test_one_bad_pack_is_told_and_the_others_are_ready(tmp_path: Path) -> None:
    write_pack(tmp_path, "alpha")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/SKILL.md").write_text("---\nname: broken\n---\n")
    client = client_for(tmp_path)

    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    (reason,) = answer.json()["degraded"]
    assert reason["message"].endswith(" in broken/SKILL.md")
    assert str(tmp_path) not in answer.text
    assert {"satchel_ready 1", "satchel_degraded 1"} <= {
        *client.get("/metrics").text.splitlines()
    }


@pytest.mark.row("F16")
@pytest.mark.parametrize("kind", ["empty", "all-faulty", "all-disabled", "source-away"])
def test_a_library_without_a_skill_is_not_ready(tmp_path: Path, kind: str) -> None:
    source = FakeSource("/srv/secret", {})
    if kind == "all-faulty":
        source.packs["a"] = {"SKILL.md": "no frontmatter"}
    elif kind == "all-disabled":
        source.packs["a"] = {"SKILL.md": pack("a")}
    elif kind == "source-away":
        source.failure = away("/srv/secret")
    skills = Satchel(source, disabled=["*"])
    client = TestClient(create_app(ServedLibrary(skills)))

    answer = client.get("/readyz")
    allowing = ServedLibrary(skills, ServerSettings(allow_empty=True))
    allowed = TestClient(create_app(allowing)).get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "not-ready"
    assert [item["code"] for item in answer.json()["reasons"]] == ["empty-library"]
    assert "/srv" not in answer.text
    assert "satchel_ready 0" in client.get("/metrics").text.splitlines()
    assert (allowed.status_code, allowed.json()["status"]) == (200, "ready")


def test_only_the_first_reasons_are_told(tmp_path: Path) -> None:
    """A skill that only users invoke is something to serve."""
    write_pack(tmp_path, "alpha", more={"disable-model-invocation": True})
    for number in range(25):
        broken = tmp_path / f"broken-{number}"
        broken.mkdir()
        (broken / "SKILL.md").write_text("no frontmatter")
    client = client_for(tmp_path)

    answer = client.get("/readyz").json()

    assert answer["status"] == "ready"
    assert answer["degraded_count"] == 25
    assert len(answer["degraded"]) == 20


class FullDisk:
    """A store on a disk that is full until it is emptied."""

    def __init__(self) -> None:
        self.full = True

    def open(self, writer: object) -> None:
        """Open; nothing is written yet."""

    def write(self, rows: object, dropped: int, now: float) -> None:
        del rows, dropped, now
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")

    def close(self, dropped: int, now: float) -> None:
        """Close."""


@pytest.mark.row("F17", "T10")
def test_a_full_disk_is_counted_and_told_of(
    pack_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = FullDisk()
    sink = Background(lambda: disk, bound=4, patience_s=0)
    with Satchel(pack_folder, sinks=[sink]) as skills:
        client = TestClient(create_app(ServedLibrary(skills)))
        for _ in range(9):
            skills.load("alpha")
        sink.flush()
        answer = client.get("/readyz")
        figures = client.get("/metrics").text.splitlines()
        disk.full = False
        sink.flush()
        skills.load("alpha")
        sink.flush()
        after = client.get("/readyz").json()
    sink.close()

    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    result = answer.json()["usage"]
    assert (result["lost"], result["waiting"], result["kept"]) == (6, 4, False)
    (reason,) = answer.json()["degraded"]
    assert reason["code"] == "usage-not-kept"
    assert "No space left on device" in reason["message"]
    assert {
        "satchel_usage_events_lost_total 6",
        "satchel_usage_events_waiting 4",
        "satchel_usage_kept 0",
        "satchel_ready 1",
    } <= {*figures}
    assert (after["usage"]["lost"], after["usage"]["waiting"]) == (6, 0)
    assert after["usage"]["kept"]
    messages = [record.getMessage() for record in caplog.records]
    for text in ("cannot be stored now", "lost from now on", "stored again; 6 were"):
        assert sum(text in message for message in messages) == 1


def test_metrics_are_those_of_use_and_of_the_catalog(library: ServedLibrary) -> None:
    used = b'skill_load_total{name="a"} 1\n', "text/plain; version=0.0.4"

    answer = TestClient(create_app(library, used=lambda: used)).get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert lines[0] == 'skill_load_total{name="a"} 1'
    assert "satchel_ready 1" in lines
    assert 'satchel_source_up{source="skills"} 1' in lines
    assert "# TYPE satchel_source_packs gauge" in lines
    assert "# TYPE satchel_usage_failures_total counter" in lines


def test_figures_tell_two_folders_of_one_name_apart(tmp_path: Path) -> None:
    write_pack(tmp_path / "one/skills", "alpha")
    write_pack(tmp_path / "two/skills", "beta")
    odd = FakeSource('a"b\\c\nd', {"a": {"SKILL.md": pack("a")}})
    skills = Satchel(tmp_path / "one/skills", tmp_path / "two/skills", odd)

    text = "".join(catalog_metrics(ServedLibrary(skills)))

    assert 'satchel_source_up{source="a\\"b\\\\c\\nd"} 1\n' in text
    assert 'satchel_source_packs{source="skills"} 1\n' in text
    assert 'satchel_source_packs{source="skills#2"} 1\n' in text
