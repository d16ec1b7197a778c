"""What is fetched to be kept elsewhere is a sync: no load, and it revives nothing."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn
from starlette.testclient import TestClient

from satchel import Satchel, sources
from satchel.release.folder import build_folder
from satchel.serve.app import create_app
from satchel.serve.http.settings import HttpSettings
from satchel.serve.library import Library
from satchel.serve.mcp import build_server
from satchel.testing import write_pack
from satchel.usage import ListSink

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("alpha", "beta", "gamma")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    files = {"references/more.md": "More.\n"}
    for name in NAMES:
        write_pack(tmp_path / "skills", name, f"Use for {name}.", files=files)
    return tmp_path / "skills"


@contextmanager
def listening(skills: Satchel) -> Iterator[str]:
    app = create_app(Library(skills), HttpSettings(old_index=True))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.mark.row("F40", "T10", "C51")
@pytest.mark.parametrize("path", ["", "/.well-known/skills/index.json"])
def test_a_site_that_is_opened_has_loaded_nothing(shelf: Path, path: str) -> None:
    sink = ListSink()
    with (
        Satchel(shelf, sinks=[sink]) as skills,
        listening(skills) as url,
        Satchel(f"{url}{path}", allow_private=True) as there,
    ):
        assert [entry.id for entry in there.catalog] == [*NAMES]
        there.sync()
        assert sink.events == []
        assert {event.name for event in sink.skill_syncs} == {*NAMES}
        assert {event.event for event in sink.skill_syncs} == {"skill_synced"}

        there.load("alpha")
        there.load("alpha", "more.md")
        assert sink.events == []


@pytest.mark.row("F40", "T10")
def test_a_release_that_is_opened_has_loaded_nothing(
    shelf: Path, tmp_path: Path
) -> None:
    build_folder(Satchel(shelf), tmp_path / "dist")
    sink = ListSink()
    with (
        Satchel(tmp_path / "dist", sinks=[sink]) as skills,
        listening(skills) as url,
        Satchel(url, pin=skills.catalog.release, allow_private=True) as there,
    ):
        assert len(there.catalog) == len(NAMES)
        there.load("alpha")
        assert sink.events == []
        assert [event.name for event in sink.skill_syncs] == ["alpha"]


@pytest.mark.row("F40", "T10")
def test_over_mcp_only_the_consumers_loads_are_loads(shelf: Path) -> None:
    sink = ListSink()
    own = ListSink()
    with (
        Satchel(shelf, sinks=[sink]) as skills,
        Satchel(
            sources.mcp(build_server(Library(skills)), label="far"), sinks=[own]
        ) as there,
    ):
        assert [entry.id for entry in there.catalog] == [*NAMES]
        there.find("alpha")
        there.prompt()
        there.manifest("beta")
        there.digest("beta")
        session = there.session(always=["gamma"])
        assert "gamma" in session.instructions()
        assert own.events == []
        assert sink.events == []
        assert "beta" in {event.name for event in sink.skill_syncs}

        there.load("alpha", "more.md")
        session.call("load_skill", {"skill_id": "alpha"})
        assert [(e.name, e.file, e.via) for e in sink.events] == [
            ("alpha", "references/more.md", "mcp"),
            ("alpha", "SKILL.md", "mcp"),
        ]


@pytest.mark.row("F40", "T10")
@pytest.mark.parametrize(
    ("header", "value", "is_load"),
    [
        ("Satchel-Purpose", "sync", False),
        ("satchel-purpose", "SYNC", False),
        ("Sec-Purpose", "prefetch;anonymous-client-ip", False),
        ("Purpose", "prefetch", False),
        ("Satchel-Purpose", "load", True),
        ("X-Nothing", "sync", True),
    ],
)
def test_a_mirror_marks_its_requests(
    shelf: Path, header: str, value: str, *, is_load: bool
) -> None:
    sink = ListSink()
    skills = Satchel(shelf, sinks=[sink])
    client = TestClient(create_app(Library(skills)))
    for path in ("/v1/skills/alpha", "/v1/skills/alpha/files/more.md", "/v1/skills/no"):
        client.get(path, headers={header: value, "User-Agent": "copier/1"})

    told = [(e.name, e.file, e.code) for e in sink.events or sink.skill_syncs]
    assert bool(sink.events) == is_load
    assert bool(sink.skill_syncs) != is_load
    assert told == [
        ("alpha", "SKILL.md", None),
        ("alpha", "references/more.md", None),
        ("no", None, "skill-not-found"),
    ]
    if not is_load:
        assert {(e.via, e.client) for e in sink.skill_syncs} == {("http", "copier")}
