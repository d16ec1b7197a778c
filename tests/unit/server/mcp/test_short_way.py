"""The short way for loads gives the answers, and leaves the events, of the long one."""

import asyncio
import copy
import json
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings, strategies as st
from mcp.shared import _otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel import Options, Policy, Satchel
from satchel.index import _stored_packs
from satchel.model import LazyTuple, _lazy_tuple
from satchel.policy import deny
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import (
    Caller,
    ServedLibrary,
    ServerSettings,
    _library,
    streamable_http,
)
from satchel_server._guard._limits import replay_body
from satchel_server._mcp import _short_way
from satchel_server._mcp._short_way import ShortWay
from satchel_server._purpose import PURPOSE_KEY, SYNC
from satchel_server.usage import TracingSink
from tests.unit.server.mcp.clients import library, write_skills

pytestmark = pytest.mark.slow

VERSION = "2026-07-28"


def meta(client: object = "tester", **more: object) -> dict[str, Any]:
    prefix = "io.modelcontextprotocol/"
    return {
        f"{prefix}protocolVersion": VERSION,
        f"{prefix}clientCapabilities": {},
        f"{prefix}clientInfo": {"name": client, "version": "1"},
        **more,
    }


def call(arguments: object, tool: str = "load_skill", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    params = {"name": tool, "arguments": arguments, "_meta": meta(), **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def read(uri: object, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    params = {"uri": uri, "_meta": meta(), **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}


def listed(**more: Any) -> dict[str, Any]:  # noqa: ANN401
    params = {"_meta": meta(), **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "skills/list", "params": params}


def load(skill: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return call({"skill_id": skill}, **more)


class Long:
    """The package's application, which counts what it is asked."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.asked = app, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        await self.app(scope, receive, send)


class Guarded:
    """As the guard does it: names the caller, and gives the body in one piece."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        name = dict(scope["headers"]).get(b"x-caller", b"").decode()
        state = {"caller": Caller(name)} if name else {}
        await self.app({**scope, "state": state}, replay_body(body, receive), send)


class Asking:
    def __init__(self, app: ASGIApp, long: Long) -> None:
        transport = httpx2.ASGITransport(Guarded(app))
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")
        self.long = long

    async def send(
        self, message: object, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        given: Any = message if isinstance(message, dict) else {}
        params = given.get("params", {})
        named = (
            params.get("name", params.get("uri", ""))
            if isinstance(params, dict)
            else ""
        )
        content = message if isinstance(message, bytes) else json.dumps(message)
        answer = await self.http.post(
            "/mcp",
            content=content,
            headers={
                "host": "127.0.0.1:1",
                "content-type": "application/json",
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": VERSION,
                "mcp-method": str(given.get("method", "tools/call")),
                "mcp-name": str(named),
                **(headers or {}),
            },
        )
        return answer.status_code, answer.content

    async def text(self, message: dict[str, Any], caller: str = "") -> str:
        headers = {"x-caller": caller} if caller else {}
        return (await self.send(message, headers))[1].decode()


@asynccontextmanager
async def asking(
    served: ServedLibrary, *, short: bool = True
) -> AsyncGenerator[Asking, None]:
    http = streamable_http(served)
    way = http.app
    assert isinstance(way, ShortWay)
    long = Long(way._app)
    way._app = long
    async with http.lifespan():
        client = Asking(way if short else long, long)
        async with client.http:
            yield client


URI = "skill://alpha/SKILL.md"
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1"},
    },
}
LOADS = {"mcp-name": "load_skill"}
# In its first place the id is one of the client's capabilities.
INNER = (
    json.dumps(dict(reversed(load("alpha").items())))
    .replace('ties": {}', 'ties": {"x": {"id": 1}}')
    .encode()
)
ESCAPED = json.dumps(load("alpha")).encode()[:-1] + rb', "\u0069d": 1}'
LARGE = json.dumps(load("alpha")).replace('ties": {}', 'ties": {"x": 1e999}').encode()
REQUESTS: dict[str, tuple[object, dict[str, str]]] = {
    "load": (load("alpha"), {}),
    "a file": (
        call({"skill_id": "alpha", "path": "scripts/run.py"}, "read_skill_file"),
        {},
    ),
    "no such skill": (load("nothing"), {}),
    "no such tool": (call({"skill_id": "alpha"}, "no_tool"), {}),
    "no argument": (call({}), {}),
    "unknown argument": (call({"skill_id": "alpha", "x": "y"}), {}),
    "a number": (call({"skill_id": 7}), {}),
    "no object": (call("alpha"), {}),
    "an id that is a text": (load("alpha") | {"id": "a-1"}, {}),
    "an id that is true": (load("alpha") | {"id": True}, {}),
    "an id that is null": (load("alpha") | {"id": None}, {}),
    "an id that is a float": (load("alpha") | {"id": 1.5}, {}),
    "no id": ({k: v for k, v in load("alpha").items() if k != "id"}, {}),
    "another version of JSON-RPC": (load("alpha") | {"jsonrpc": "1.0"}, {}),
    "a key too many": (load("alpha") | {"more": 1}, {}),
    "a parameter too many": (load("alpha", more=1), {}),
    "another name in the header": (load("alpha"), {"mcp-name": "find_skills"}),
    "another method in the header": (load("alpha"), {"mcp-method": "resources/read"}),
    "another version in the header": (load("alpha"), {"mcp-protocol-version": "2030"}),
    "a foreign host": (load("alpha"), {"host": "evil.example"}),
    "a foreign origin": (load("alpha"), {"origin": "http://evil.example"}),
    "text is not accepted": (load("alpha"), {"accept": "text/html"}),
    "another type": (load("alpha"), {"content-type": "text/plain"}),
    "no meta": (load("alpha", _meta={}), {}),
    "another meta": (load("alpha", _meta=meta("other", extra=[1, {"a": None}])), {}),
    "half a character": (load("\ud800"), {}),
    "no JSON": (b"{", {}),
    "a list": (b"[]", {}),
    "bytes that are no text": (b'{"a": "\xff"}', {}),
    "nested": (b"[" * 4_000, {}),
    "long": (load("a" * 5_000), {}),
    "resource": (read(URI), {}),
    "binary resource": (read("skill://alpha/assets/dot.png"), {}),
    "no such resource": (read("skill://nothing/SKILL.md"), {}),
    "resource that is no text": (read(7), {}),
    "list": (listed(), {"mcp-name": ""}),
    "page": (listed(cursor="c2tpbGxzCmFscGhh"), {"mcp-name": ""}),
    "no page": (listed(cursor="x"), {"mcp-name": ""}),
    "no text for a page": (listed(cursor=[]), {"mcp-name": ""}),
    "a progress token": (load("alpha", _meta=meta(progressToken=1)), {}),
    "ping": ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"mcp-name": ""}),
    "handshake": (HANDSHAKE, {"mcp-name": "", "mcp-protocol-version": "2025-06-18"}),
    "an id within": (INNER, LOADS),
    "another id within": (INNER.replace(b'"id": 1', b'"id": 2', 1), LOADS),
    "an escaped id": (ESCAPED, LOADS),
    "an escaped id and another": (ESCAPED.replace(b'"id": 1', b'"id": 2'), LOADS),
    "alias": (call({"name": "alpha"}), {}),
    "resource for a copy, by meta": (
        read(URI, _meta=meta(**{PURPOSE_KEY: SYNC})),
        {},
    ),
    "another program": (load("alpha", _meta=meta("other")), {}),
    "no text for a name": (load("alpha", _meta=meta(7)), {}),
    "a large number": (LARGE, LOADS),
    "infinity": (LARGE.replace(b"1e999", b"Infinity"), LOADS),
    "escapes": (json.dumps(load("alpha")).replace("alpha", "\\u0061lpha").encode(), {}),
    "a key twice": (json.dumps(load("alpha"))[:-1].encode() + b', "id": 2}', {}),
    "resource for a copy": (read(URI), {"satchel-purpose": "sync"}),
}


IDS: st.SearchStrategy[Any] = st.one_of(
    st.integers(-(10**17), 10**17),
    st.text(max_size=18),
    st.sampled_from([None, True, 1.0, 0.5, [], "\x7f", '"', "\\", "\ud800"]),
)
PLACES = (
    ("id",),
    ("params",),
    ("params", "_meta"),
    ("params", "_meta", "progressToken"),
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    ["alpha", "beta", "", URI, 7, None, True, [], {}, {"skill_id": "beta"}]
)


@st.composite
def message(draw: st.DrawFn) -> object:
    """One request that the short way might take, or one almost like it."""
    base = draw(st.sampled_from([load("alpha"), load("beta"), read(URI), listed()]))
    sent: dict[str, Any] = copy.deepcopy({**base, "id": draw(IDS)})
    if draw(st.booleans()):
        *path, last = draw(
            st.sampled_from([*PLACES, *(("params", key) for key in base["params"])])
        )
        inside = sent
        for step in path:
            inside = inside[step]
        if draw(st.booleans()):
            inside[last] = draw(ODD)
        else:
            inside.pop(last, None)
    return [sent] if draw(st.integers(0, 19)) == 0 else sent


@settings(max_examples=30, deadline=None)
@given(st.lists(message(), min_size=1, max_size=8))
def test_any_request_is_answered_as_on_the_long_way(messages: list[object]) -> None:
    async def send_all(folder: Path) -> None:
        sinks = ListSink(), ListSink()
        served = [library(folder, sink=sink, style="lean") for sink in sinks]
        async with asking(served[0]) as short, asking(served[1], short=False) as long:
            for each in [load("alpha"), read(URI), listed(), *messages * 2]:
                assert await short.send(each) == await long.send(each), each
        assert told(sinks[0]) == told(sinks[1])

    with tempfile.TemporaryDirectory() as name:
        write_skills(Path(name))
        asyncio.run(send_all(Path(name)))


def told(sink: ListSink) -> list[tuple[object, ...]]:
    names = ("kind", "skill_id", "client", "outcome", "digest", "via", "error")
    return [tuple(getattr(e, n, None) for n in names) for e in sink.events]


@pytest.mark.parametrize("style", ["lean", "packs"])
async def test_answers_and_events_are_those_of_the_long_way(
    tmp_path: Path, style: str
) -> None:
    write_skills(tmp_path)
    short_sink, long_sink = ListSink(), ListSink()
    async with (
        asking(library(tmp_path, sink=short_sink, style=style)) as short,
        asking(library(tmp_path, sink=long_sink, style=style), short=False) as long,
    ):
        for _ in range(3):
            for name, (message, headers) in REQUESTS.items():
                answers = [await way.send(message, headers) for way in (short, long)]
                assert answers[0] == answers[1], name
        # It has been taken, or this test compares nothing.
        assert short.long.asked < long.long.asked
    assert told(short_sink) == told(long_sink)
    assert len(short_sink.events) > len(REQUESTS) // 2


async def test_policy_is_asked_each_time_and_for_each_caller(tmp_path: Path) -> None:
    write_skills(tmp_path)
    allowed = {"desk"}
    policy = Policy(deny("beta", unless=lambda who: who.get("client") in allowed))
    async with asking(library(tmp_path, policy=policy, style="lean")) as client:
        for message in (load("beta"), read("skill://beta/SKILL.md")):
            for _ in range(3):
                assert "Turn $file" in await client.text(message, "desk")
                assert "Turn $file" not in await client.text(message, "shop")
            asked = client.long.asked
            assert "Turn $file" in await client.text(message, "desk")
            assert client.long.asked == asked
        assert "beta" in await client.text(listed(), "desk")
        allowed.clear()
        assert "Turn $file" not in await client.text(message, "desk")
        assert "beta" not in await client.text(listed(), "desk")


async def test_edited_pack_shows_at_once_as_on_the_long_way(tmp_path: Path) -> None:
    write_skills(tmp_path)
    served = library(tmp_path, style="lean")
    async with asking(served) as short, asking(served, short=False) as long:
        for _ in range(3):
            assert "Do alpha." in await short.text(load("alpha"))
        write_pack(tmp_path, "alpha", "Use for alpha.", "Do it otherwise.\n")
        for message in (load("alpha"), read(URI)):
            assert await short.text(message) == await long.text(message)
        served.refresh()
        assert "Do it otherwise." in await short.text(load("alpha"))
        assert "Do it otherwise." in await short.text(read(URI))


@pytest.mark.row("F92")
@pytest.mark.parametrize(
    "most_kept", [1, 2, 30_000], ids=["large", "of that size", "small"]
)
async def test_answers_are_kept_from_the_second_start_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_kept: int
) -> None:
    """The index makes the rows of a skill again each time that they are asked for."""
    folder = write_skills(tmp_path / "skills")
    # What was written 20 ms ago counts as settled.
    monkeypatch.setattr(_stored_packs, "RACY_NS", 20_000_000)
    # Of a large library no row is kept.
    monkeypatch.setattr(_lazy_tuple, "_MOST_KEPT", most_kept)
    await asyncio.sleep(0.05)

    def opened() -> ServedLibrary:
        options = Options(index=tmp_path / "index.db", environ={})
        skills = Satchel(folder, sinks=(), options=options)
        return ServedLibrary(skills, ServerSettings(style="lean"))

    for start in ("first", "second", "third"):
        served = opened()
        async with asking(served) as client:
            assert isinstance(served.catalog.entries, LazyTuple) is (start != "first")
            for message in (load("alpha"), load("beta"), read(URI), listed()):
                first = await client.text(message)
                asked = client.long.asked
                for number in range(3):
                    again = await client.text({**message, "id": number})
                    assert json.loads(again)["result"] == json.loads(first)["result"]
                assert client.long.asked == asked, (start, message["method"])
            if start == "third":  # an edit is seen all the same
                text = (folder / "beta/SKILL.md").read_text()
                (folder / "beta/SKILL.md").write_text(f"{text}Edited.\n")
                assert "Edited." in await client.text(load("beta"))
        served.skills.close()


@pytest.mark.row("F92")
async def test_with_a_tracer_there_are_the_same_spans_and_the_short_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skills(tmp_path)

    async def spans(*, short: bool) -> tuple[list[tuple[object, ...]], int]:
        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        monkeypatch.setattr(_otel, "_tracer", provider.get_tracer("mcp-python-sdk"))
        monkeypatch.setattr(
            _short_way, "_tracer", provider.get_tracer("mcp-python-sdk")
        )
        sink = TracingSink(provider)
        skills = Satchel(tmp_path, sinks=[sink], options=Options(environ={}))
        served = ServedLibrary(skills, ServerSettings(style="lean"))
        async with asking(served, short=short) as client:
            messages = [load("alpha"), read(URI), load("nothing"), listed()]
            for number, message in enumerate(messages * 3):
                await client.text({**message, "id": number})
            # No longer so; the long way tells it once.
            (tmp_path / "alpha/SKILL.md").write_text(
                "---\nname: alpha\ndescription: x\n---\n"
            )
            await client.text(load("alpha"))
            write_skills(tmp_path)
        made = exporter.get_finished_spans()
        names = {getattr(span.context, "span_id", 0): span.name for span in made}
        return [
            (
                span.name,
                span.kind,
                sorted((span.attributes or {}).items()),
                names.get(span.parent.span_id) if span.parent else None,
                span.status.status_code,
            )
            for span in made
        ], client.long.asked

    fast, few = await spans(short=True)
    slow, many = await spans(short=False)
    assert sorted(map(str, fast)) == sorted(map(str, slow))
    assert few < many


async def test_encodings_are_bounded_in_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        write_pack(tmp_path, f"s{number}", "Use it.", f"{number} " * 300)
    monkeypatch.setattr(_library, "MAX_ANSWER_BYTES", 10_000)
    async with asking(library(tmp_path, style="lean")) as client:
        for _ in range(2):
            for number in range(20):
                assert f" {number} " in await client.text(load(f"s{number}"))
        # Each has some 2,000 bytes with its key, so most were dropped.
        assert client.long.asked > 30


async def test_list_of_skills_is_kept_while_the_catalog_stays(tmp_path: Path) -> None:
    write_skills(tmp_path)
    served = library(tmp_path, style="lean")
    async with asking(served) as client:
        headers = {"mcp-name": ""}
        first = await client.send(listed(), headers)
        asked = client.long.asked
        assert await client.send(listed(), headers) == first
        assert client.long.asked == asked
        write_pack(tmp_path, "gamma", "Use for gamma.")
        served.refresh()
        assert "gamma" in (await client.send(listed(), headers))[1].decode()
        # Another caller may have other skills.
        assert "gamma" in await client.text(listed(), "desk")
        for message in (listed(), read(URI)):
            for _ in range(3):
                assert '"cacheScope":"public"' in await client.text(message)
                assert '"cacheScope":"private"' in await client.text(message, "desk")


async def test_list_without_a_skill_that_is_not_there_now_is_not_kept(
    tmp_path: Path,
) -> None:
    write_skills(tmp_path)
    served = library(tmp_path, style="lean")
    (tmp_path / "alpha/SKILL.md").rename(tmp_path / "away")
    async with asking(served) as client:
        for _ in range(2):
            answer = json.loads(await client.text(listed()))["result"]
            assert "alpha" not in str(answer)
            assert answer["ttlMs"] == 0
        (tmp_path / "away").rename(tmp_path / "alpha/SKILL.md")
        assert "alpha" in await client.text(listed())
