"""What is fetched to be kept elsewhere is a sync: no load, and it revives nothing."""

import json
import threading
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, cast

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp
import pytest
from mcp_types import PromptReference, ResourceTemplateReference
from starlette.testclient import TestClient

from satchel import Options, Policy, Satchel, deny, sources
from satchel.errors import ConfigError, SkillError
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import HttpSettings, ServedLibrary, build_server, create_app
from satchel_server._http._v1 import openapi
from satchel_server._mcp._extension import TEMPLATE
from satchel_server.usage import report_to
from satchel_store.release import build_folder
from tests.unit.server.conftest import listening
from tests.unit.server.mcp.clients import ask, connected, library

NAMES = ("alpha", "beta", "gamma")
LOCAL = Options(allow_private=True)


@pytest.fixture
def pack_folder(tmp_path: Path) -> Path:
    files = {"references/more.md": "More.\n"}
    for name in NAMES:
        write_pack(tmp_path / "skills", name, f"Use for {name}.", files=files)
    return tmp_path / "skills"


def serving(skills: Satchel) -> AbstractContextManager[str]:
    return listening(create_app(ServedLibrary(skills), HttpSettings(old_index=True)))


def client_of(folder: Path, sink: ListSink, **options: Any) -> TestClient:  # noqa: ANN401
    skills = Satchel(folder, sinks=[sink], **options)
    app = create_app(ServedLibrary(skills), HttpSettings(old_index=True))
    return TestClient(app)


@pytest.mark.row("F40", "T10", "C51")
@pytest.mark.parametrize("path", ["", "/.well-known/skills/index.json"])
def test_a_site_that_is_opened_has_loaded_nothing(pack_folder: Path, path: str) -> None:
    sink = ListSink()
    with (
        Satchel(pack_folder, sinks=[sink]) as skills,
        serving(skills) as url,
        Satchel(f"{url}{path}", options=LOCAL) as there,
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
    pack_folder: Path, tmp_path: Path
) -> None:
    build_folder(Satchel(pack_folder), tmp_path / "dist")
    sink = ListSink()
    with (
        Satchel(tmp_path / "dist", sinks=[sink]) as skills,
        serving(skills) as url,
        Satchel(url, pin=skills.catalog.release, options=LOCAL) as there,
    ):
        assert len(there.catalog) == len(NAMES)
        there.load("alpha")
        assert sink.events == []
        assert [event.name for event in sink.skill_syncs] == ["alpha"]


@pytest.mark.row("F40", "T10")
def test_over_mcp_only_the_consumers_loads_are_loads(pack_folder: Path) -> None:
    sink = ListSink()
    own = ListSink()
    far = sources.mcp(build_server(library(pack_folder, sink=sink)), label="far")
    with Satchel(far, sinks=[own]) as there:
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
    pack_folder: Path, header: str, value: str, *, is_load: bool
) -> None:
    sink = ListSink()
    client = client_of(pack_folder, sink)
    for path in ("/v1/skills/alpha", "/v1/skills/alpha/files/more.md", "/v1/skills/no"):
        client.get(path, headers={header: value, "User-Agent": "copier/1"})

    result = [(e.name, e.file, e.code) for e in sink.events or sink.skill_syncs]
    assert bool(sink.events) == is_load
    assert bool(sink.skill_syncs) != is_load
    assert result == [
        ("alpha", "SKILL.md", None),
        ("alpha", "references/more.md", None),
        ("no", None, "skill-not-found"),
    ]
    if not is_load:
        assert {(e.via, e.client) for e in sink.skill_syncs} == {("http", "copier")}


@pytest.mark.row("F40", "T10", "C50")
def test_what_is_loaded_from_a_copy_can_be_told_back(pack_folder: Path) -> None:
    sink = ListSink()
    with Satchel(pack_folder, sinks=[sink]) as skills, serving(skills) as url:
        back = report_to(url)
        with Satchel(url, sinks=[back], options=LOCAL) as there:
            there.load("alpha")
            there.load("beta", "more.md")
            there.load("beta", via="cli")
            with pytest.raises(SkillError):
                there.load("nobody")
        back.close()

    assert [(e.name, e.file, e.via, e.client, e.code) for e in sink.events] == [
        ("alpha", "SKILL.md", "report", "satchel", None),
        ("beta", "references/more.md", "report", "satchel", None),
    ]
    assert sink.events[0].digest == skills.catalog.get("alpha").digest  # type: ignore[union-attr]
    assert sink.events[1].reference == "references/more.md"
    assert all(e.tokens > 0 and e.size_bytes > 0 for e in sink.events)
    assert back.state.lost == 0


def told(**more: object) -> dict[str, object]:
    return {"writer": "w" * 8, "loads": [{"seq": 1, "id": "alpha"}], **more}


def test_the_description_names_it() -> None:
    post = cast("Any", openapi())["paths"]["/v1/loads"]["post"]
    schema = post["requestBody"]["content"]["application/json"]["schema"]

    jsonschema.validate(told(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told(writer="short"), schema)
    assert {"200", "401", "413", "422", "429"} <= {*post["responses"]}


@pytest.mark.row("F40", "T10")
def test_a_report_that_comes_twice_counts_once(pack_folder: Path) -> None:
    sink = ListSink()
    client = client_of(pack_folder, sink)
    loads = [{"seq": 2, "id": "beta"}, {"seq": 1, "id": "alpha"}]
    first = client.post("/v1/loads", json=told())
    again = client.post("/v1/loads", json=told(loads=loads))
    other = client.post("/v1/loads", json=told(writer="x" * 8))

    answers = [answer.json()["counted"] for answer in (first, again, other)]
    assert answers == [1, 1, 1]
    assert [event.name for event in sink.events] == ["alpha", "beta", "alpha"]


@pytest.mark.row("F40", "T10")
def test_a_report_is_no_way_to_count_what_is_not_here(pack_folder: Path) -> None:
    sink = ListSink()
    client = client_of(pack_folder, sink, policy=Policy(deny("beta")))
    loads: list[dict[str, object]] = [
        {"id": "nobody"},
        {"id": "beta"},
        {"id": "alpha", "file": "../../etc/passwd"},
        {"id": "x" * 10_000},
        {"id": "gamma", "digest": "<x>", "tokens": 10**30, "duration_s": 1e300},
    ]
    numbered = [{"seq": number, **item} for number, item in enumerate(loads, 1)]
    answer = client.post("/v1/loads", json=told(loads=numbered))

    assert answer.json() == {"counted": 1, "refused": 4}
    (event,) = sink.events
    assert (event.name, event.digest) == ("gamma", "")
    assert (event.tokens, event.size_bytes) == (0, 0)


GOOD: dict[str, object] = {"seq": 1, "id": "alpha"}
BROKEN: list[object] = [
    [],
    {},
    {"writer": "short", "loads": []},
    told(loads={}),
    told(loads=[{"id": "alpha"}]),
    told(loads=[{**GOOD, "seq": 0}]),
    told(loads=[{**GOOD, "id": {}}]),
    told(loads=[{**GOOD, "file": ["a"]}]),
    told(loads=[{**GOOD, "tokens": -1}]),
    told(loads=[{**GOOD, "agent": 3}]),
    told(loads=[{**GOOD, "seq": n} for n in range(1, 1002)]),
]


@pytest.mark.parametrize(
    "body",
    [b"", b"[" * 100_000, *(json.dumps(report).encode() for report in BROKEN)],
    ids=range(13),
)
def test_what_is_no_report_is_refused(pack_folder: Path, body: bytes) -> None:
    sink = ListSink()
    client = client_of(pack_folder, sink)
    answer = client.post("/v1/loads", content=body)

    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid-parameter"
    assert client.post("/v1/loads", content=b"x" * 2_000_000).status_code == 413
    assert client.get("/v1/loads").status_code == 405
    assert sink.events == []


def test_a_site_that_takes_no_reports_is_left_alone_and_said(pack_folder: Path) -> None:
    for url in ("ftp://x", "skills", "https://ana:secret@x"):
        with pytest.raises(ConfigError):
            report_to(url)
    label = Satchel(pack_folder).catalog.sources[0].label
    back = report_to("http://127.0.0.1:1", source=label)
    with Satchel(pack_folder, sinks=[back]) as skills:
        skills.load("alpha")
    back.close()

    assert back.state.lost > 0


def test_a_site_that_refuses_is_said_and_not_asked_again(
    pack_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[bytes] = []

    class Refuses(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    site = HTTPServer(("127.0.0.1", 0), Refuses)
    thread = threading.Thread(target=site.serve_forever, daemon=True)
    thread.start()
    label = Satchel(pack_folder).catalog.sources[0].label
    back = report_to(f"http://127.0.0.1:{site.server_port}/", source=label)
    with Satchel(pack_folder, sinks=[back]) as skills:
        for _ in range(3):
            skills.load("alpha")
            back.flush()
        state = skills.usage_state
    back.close()
    site.shutdown()
    site.server_close()
    thread.join(10)

    assert len(seen) == 1
    assert state.waiting >= 3
    assert state.problem.endswith(("the site answers 404", "the site refuses reports"))
    assert "the site answers 404" in caplog.text


LOOKS = (
    *("/", "/healthz", "/readyz", "/metrics", "/release.json"),
    *("/v1/catalog", "/v1/prompt", "/v1/find?q=alpha", "/v1/openapi.json"),
    *("/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"),
)


@pytest.mark.row("T10", "R31")
def test_a_look_over_http_is_no_event(pack_folder: Path) -> None:
    sink = ListSink()
    client = client_of(pack_folder, sink)
    for path in LOOKS:
        client.get(path)
    for path in ("/v1/skills/alpha", "/v1/skills/alpha/files/more.md"):
        client.head(path)

    assert (sink.events, sink.skill_syncs) == ([], [])


@pytest.mark.row("T10", "R31")
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_look_over_mcp_is_no_event(pack_folder: Path, era: str) -> None:
    sink = ListSink()
    served = library(pack_folder, sink=sink, compat=True)
    template = ResourceTemplateReference(uri=TEMPLATE)

    async with connected(served, era) as client:
        await client.list_tools()
        await client.list_prompts()
        await client.list_resources()
        await client.list_resource_templates()
        for ref, name in (
            (template, "skill"),
            (template, "path"),
            (PromptReference(name="alpha"), "arguments"),
        ):
            chosen = {"skill": "alpha"} if name == "path" else None
            await client.complete(ref, {"name": name, "value": ""}, chosen)
        await ask(client, "skills/list")
        await ask(client, "skills/get", uri="skill://alpha/SKILL.md")
        await ask(client, "resources/directory/read", uri="skill://alpha")
        await client.read_resource("skill://index.json")
        await client.read_resource("skill://alpha/_manifest")
    assert (sink.events, sink.skill_syncs) == ([], [])


@pytest.mark.row("F40", "T10")
async def test_one_who_reads_a_manifest_downloads_and_does_not_load(
    pack_folder: Path,
) -> None:
    """As FastMCP's own reader does: the list of files first, and then each of them."""
    sink = ListSink()
    served = library(pack_folder, sink=sink, compat=True)

    async with connected(served) as client:
        await client.read_resource("skill://alpha/_manifest")
        await client.read_resource("skill://alpha/SKILL.md")
        await client.read_resource("skill://alpha/references/more.md")
        await client.read_resource("skill://beta/SKILL.md")
        await client.call_tool("load_skill", {"name": "alpha"})
    assert [event.name for event in sink.skill_syncs] == ["alpha", "alpha"]
    assert [event.name for event in sink.events] == ["beta", "alpha"]
