"""Alive, ready, and the figures of a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from satchel import Satchel
from satchel.serve.app import create_app
from satchel.serve.caller import Caller
from satchel.serve.http.answers import Answers
from satchel.serve.http.figures import gauges
from satchel.serve.http.readiness import reasons
from satchel.serve.http.settings import HttpSettings
from satchel.serve.http.site import Site
from satchel.serve.library import Library
from satchel.serve.settings import ServeSettings
from satchel.testing import write_pack
from tests.fakes import FakeSource, away, pack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def client_for(*what: object) -> TestClient:
    return TestClient(create_app(Library(Satchel(*what))))  # type: ignore[arg-type]


def test_the_first_page_says_what_is_here(client: TestClient) -> None:
    answer = client.get("/")

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("satchel: 3 skills served")
    for path in ("/mcp", "/v1/openapi.json", "/.well-known/agent-skills/index.json"):
        assert path in answer.text


def test_the_first_page_counts_what_is_for_this_caller(
    client_of: Callable[[Caller], TestClient],
) -> None:
    answer = client_of(Caller("desk", ("b*",))).get("/")

    assert answer.text.startswith("satchel: 1 skill served")


def test_a_name_brings_nothing_into_the_first_page(skills: Satchel) -> None:
    library = Library(skills, ServeSettings(name="evil\x1b[31m\nname"))

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
    }
    assert client.head("/readyz").status_code == 200
    assert answer.headers["cache-control"] == "no-store"


def test_a_source_that_is_away_is_not_ready(tmp_path: Path) -> None:
    source = FakeSource("/srv/secret", {"a": {"SKILL.md": pack("a")}})
    library = Library(Satchel(source))
    client = TestClient(create_app(library))
    source.failure = away("/srv/secret")
    library.refresh()

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "not-ready"
    assert answer.json()["reasons"] == [
        {
            "code": "source-unavailable",
            "message": "source 'secret' does not answer; what it last had is served",
        }
    ]
    assert "/srv" in reasons(library.skills)[0].detail
    assert client.get("/healthz").status_code == 200
    assert client.get("/v1/catalog").json()["total"] == 1


def test_an_undecided_conflict_is_not_ready(tmp_path: Path) -> None:
    write_pack(tmp_path / "one", "alpha")
    write_pack(tmp_path / "two", "alpha", "Use for something else.")
    client = client_for(tmp_path / "one", tmp_path / "two")

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert {
        "code": "duplicate-skill",
        "message": "skill 'alpha' is claimed by 2 packs",
    } in (answer.json()["reasons"])
    assert str(tmp_path) not in answer.text
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/").status_code == 200


def test_an_error_finding_is_not_ready(tmp_path: Path) -> None:
    write_pack(tmp_path, "alpha")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "SKILL.md").write_text("---\nname: broken\n---\n")
    client = client_for(tmp_path)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    (reason,) = answer.json()["reasons"]
    assert reason["message"].endswith(" in broken/SKILL.md")
    assert str(tmp_path) not in answer.text


def test_only_the_first_reasons_are_told(tmp_path: Path) -> None:
    for number in range(25):
        broken = tmp_path / f"broken-{number}"
        broken.mkdir()
        (broken / "SKILL.md").write_text("no frontmatter")
    client = client_for(tmp_path)

    answer = client.get("/readyz").json()

    assert answer["error"]["message"] == "25 reasons not to use this server"
    assert len(answer["reasons"]) == 20


def test_metrics_are_those_of_use_and_of_the_catalog(library: Library) -> None:
    client = TestClient(
        create_app(
            library,
            used=lambda: (
                b'skill_load_total{name="a"} 1\n',
                "text/plain; version=0.0.4",
            ),
        )
    )

    answer = client.get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert lines[0] == 'skill_load_total{name="a"} 1'
    assert "satchel_ready 1" in lines
    assert 'satchel_source_up{source="skills"} 1' in lines
    assert "# TYPE satchel_source_packs gauge" in lines


def test_figures_tell_two_folders_of_one_name_apart(tmp_path: Path) -> None:
    write_pack(tmp_path / "one/skills", "alpha")
    write_pack(tmp_path / "two/skills", "beta")
    skills = Satchel(tmp_path / "one/skills", tmp_path / "two/skills")
    site = Site(Library(skills), HttpSettings(), Answers())

    text = "".join(gauges(site))

    assert 'satchel_source_packs{source="skills"} 1\n' in text
    assert 'satchel_source_packs{source="skills#2"} 1\n' in text


def test_figures_escape_what_a_label_may_hold() -> None:
    source = FakeSource('a"b\\c\nd', {"a": {"SKILL.md": pack("a")}})
    site = Site(Library(Satchel(source)), HttpSettings(), Answers())

    assert 'satchel_source_up{source="a\\"b\\\\c\\nd"} 1\n' in "".join(gauges(site))


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/"])
def test_nobody_posts_to_what_tells_of_health(client: TestClient, path: str) -> None:
    assert client.post(path).status_code == 405
