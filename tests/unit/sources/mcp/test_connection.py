"""The thread that a source owns: deadlines, servers that go away, and the end."""

import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn

from satchel import sources
from satchel.errors import ExtraMissingError, SourceUnavailableError
from satchel.model import Limits
from satchel_server.mcp_source._connection import LoopThread
from satchel_server.mcp_source._target import McpTarget
from tests.unit.sources.mcp.packs import REFUNDS, reading, skill_md
from tests.unit.sources.mcp.serving import FakeServer, older
from tests.unit.sources.scans import codes_of, found_in

pytestmark = pytest.mark.row("R08")

KEY = "skill://refunds"


@pytest.fixture
def server() -> FakeServer:
    return FakeServer({"refunds": REFUNDS})


@contextmanager
def over_http(server: FakeServer, port: int = 0) -> Iterator[str]:
    """Serve on the loopback; the socket listens before the server does."""
    with socket() as listening:
        listening.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()
        app = server.server().streamable_http_app()
        config = uvicorn.Config(app, log_level="critical", ws="none")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            running.force_exit = True
            thread.join(10)


def threads_of(label: str) -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == f"satchel-mcp-{label}"]


def test_over_http(server: FakeServer) -> None:
    with over_http(server) as url, reading(url, label=None) as source:
        assert source.label == url.split("/")[2]
        assert source.read(KEY, "SKILL.md", 1_000) == REFUNDS["SKILL.md"]
        path = "references/rules.md"
        assert source.read(KEY, path, 1_000) == REFUNDS[path]


class Watched(FakeServer):
    """Notes what ``look`` makes of each HTTP request."""

    def __init__(self, look: Callable[[Any], object]) -> None:
        super().__init__({"refunds": REFUNDS})
        self.look = look
        self.seen: set[object] = set()

    def server(self) -> Any:  # noqa: ANN401
        inner = super().server()

        async def note(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401
            if ctx.request is not None:
                self.seen.add(self.look(ctx.request))
            return await call_next(ctx)

        inner.middleware.append(note)
        return inner


def test_headers_are_sent_and_never_shown() -> None:
    names = "authorization", "accept-encoding"
    server = Watched(lambda request: tuple(request.headers[name] for name in names))
    headers = {"Authorization": "Bearer s3cret"}
    with over_http(server) as url, reading(url, headers=headers) as source:
        assert found_in(source) == [KEY]
        assert "s3cret" not in repr(source) + source.label
    assert server.seen == {("Bearer s3cret", "identity")}
    with reading(url, headers=headers) as source:
        with pytest.raises(SourceUnavailableError) as caught:
            source.scan()
        assert "s3cret" not in str(caught.value)


def test_a_key_in_the_url_is_sent_and_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Hosted servers take keys in the query; httpx2 logs the URL of each request."""
    caplog.set_level(0)
    for name in ("httpx2", "httpcore2", "mcp"):
        caplog.set_level(1, name)
    server = Watched(lambda request: request.url.query)
    with (
        over_http(server) as url,
        reading(f"{url}?key=s3cret&a=%2F", label=None) as source,
    ):
        assert found_in(source) == [KEY]
        assert source.label == url.split("/")[2]
    assert server.seen == {"key=s3cret&a=%2F"}
    assert "HTTP Request: POST" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_server_that_came_back_is_reached_again(server: FakeServer) -> None:
    with over_http(server) as url:
        port = int(url.split(":")[2].removesuffix("/mcp"))
    with reading(url, timeout_s=5.0) as source:
        with pytest.raises(SourceUnavailableError):
            source.scan()
        with over_http(server, port):
            assert found_in(source) == [KEY]


def test_an_answer_that_is_too_long_ends(server: FakeServer) -> None:
    server.entries[0]["frontmatter"]["more"] = "x" * (1 << 21)
    limits = Limits(file_bytes=10, skill_md_bytes=10)
    with (
        over_http(server) as url,
        reading(url, limits=limits) as source,
        pytest.raises(SourceUnavailableError, match="too long"),
    ):
        source.scan()


@pytest.mark.parametrize(
    ("headers", "size", "method", "passes"),
    [
        ({}, 100, "POST", True),
        ({}, 101, "POST", False),
        ({}, 101, "GET", True),
        ({"content-encoding": "gzip"}, 1, "POST", False),
        ({"content-encoding": "identity"}, 1, "POST", True),
    ],
)
def test_bounds(headers: dict[str, str], size: int, method: str, passes: bool) -> None:
    async def chunks() -> Any:  # noqa: ANN401
        for _ in range(size):
            yield b"x"

    async def ask() -> int:
        transport = httpx2.MockTransport(
            lambda _: httpx2.Response(200, headers=headers, content=chunks())
        )
        target = McpTarget(
            "http://x/", label=None, headers=None, timeout_s=1.0, max_bytes=100
        )
        hooks = {"response": [target._limit_answer]}
        async with httpx2.AsyncClient(transport=transport, event_hooks=hooks) as client:
            return len((await client.request(method, "http://x/")).content)

    if passes:
        assert anyio.run(ask) == size
    else:
        with pytest.raises(httpx2.StreamError):
            anyio.run(ask)


SCRIPT = """
import json, os, sys

print("\\x1b[2J noise", file=sys.stderr)
URI = "skill://x/SKILL.md"
ENTRY = {
    "uri": URI,
    "frontmatter": {"name": "x", "description": "Use it."},
    "resources": "dynamic",
}
DECLARED = {"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "skills/get":
        died = os.path.exists(__file__ + ".died")
        open(__file__ + ".died", "w").close()
        if not died or "always" in asked["params"]["uri"]:
            sys.exit(3)
    result = {
        "server/discover": {
            "supportedVersions": ["2026-07-28"], "capabilities": DECLARED
        },
        "skills/list": {"skills": [ENTRY]},
        "skills/get": {"skill": ENTRY},
        "resources/read": {"contents": [{"uri": URI, "text": repr([*os.environ])}]},
    }[asked["method"]]
    result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
    print(json.dumps(answer), flush=True)
"""


def test_a_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is started when first asked, with a small environment, and may come back."""
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    script = tmp_path / "server.py"
    script.write_text(SCRIPT, "utf-8")
    with reading([sys.executable, str(script)], label=None, timeout_s=20) as source:
        assert source.label.startswith("python")
        assert found_in(source) == ["skill://x"]
        text = source._connection.read("skill://x/SKILL.md") or b""
        assert b"PATH" in text
        assert b"SECRET_TOKEN" not in text

        # The command ends in the middle of a call: it is asked once more.
        assert source._connection.skill("skill://x/SKILL.md")[0]
        with pytest.raises(SourceUnavailableError, match="Connection closed"):
            source._connection.skill("skill://always/SKILL.md")
        assert found_in(source) == ["skill://x"]

    assert capfd.readouterr() == ("", "")


def test_a_command_that_cannot_be_run() -> None:
    with reading(["/no/such/command"]) as source:
        with pytest.raises(SourceUnavailableError, match="No such file") as caught:
            source.scan()
        assert "/no" not in str(caught.value)


@pytest.mark.slow
def test_what_cannot_be_read_is_not_printed(tmp_path: Path) -> None:
    """An application without logging of its own: neither traceback nor answer."""
    script = tmp_path / "server.py"
    script.write_text("import sys\nfor _ in sys.stdin: print('{\\x1b[2J', flush=True)")
    code = f"""
from satchel import Satchel, sources
server = sources.mcp([{sys.executable!r}, {str(script)!r}], label="odd", timeout_s=0.3)
print(Satchel(server).health().problems)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "no answer within 0.3 seconds" in done.stdout
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr + done.stdout


def test_a_server_that_never_answers_has_a_deadline() -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        with (
            reading(url, timeout_s=0.2) as source,
            pytest.raises(SourceUnavailableError, match="no answer within"),
        ):
            source.scan()


class Hanging(FakeServer):
    """Hangs in the middle of a call, until it is let go."""

    def server(self) -> Any:  # noqa: ANN401
        self.release = threading.Event()
        self.entered = threading.Event()
        inner = super().server()

        async def hang(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401
            if ctx.method == "resources/read" and not self.release.is_set():
                self.entered.set()
                await anyio.sleep_forever()
            return await call_next(ctx)

        inner.middleware.append(hang)
        return inner


def test_a_call_that_hangs_has_a_deadline_and_the_next_one_works() -> None:
    server = Hanging({"refunds": REFUNDS})
    with reading(server, timeout_s=0.2) as source:
        source.scan()
        with pytest.raises(SourceUnavailableError, match="no answer within"):
            source.read(KEY, "SKILL.md", 1_000)
        server.release.set()
        assert source.read(KEY, "SKILL.md", 1_000) == REFUNDS["SKILL.md"]


def test_waiting_for_a_connection_has_the_deadline_of_a_call(
    server: FakeServer,
) -> None:
    with (
        reading(server, timeout_s=0.05) as source,
        source._connection._lock,
        pytest.raises(SourceUnavailableError, match="no answer within"),
    ):
        source.scan()


def test_closing_ends_a_call_that_hangs_and_the_thread() -> None:
    server = Hanging({"refunds": REFUNDS})
    with (
        ThreadPoolExecutor(1) as threads,
        reading(server, label="hanging", timeout_s=60) as source,
    ):
        source.scan()
        reads = threads.submit(source.read, KEY, "SKILL.md", 1_000)
        assert server.entered.wait(5)
        source.close()
        assert isinstance(reads.exception(5), SourceUnavailableError)
        assert threads_of("hanging") == []
        with pytest.raises(SourceUnavailableError, match="it was closed"):
            source.scan()
        source.close()


@pytest.mark.slow
def test_a_source_that_was_not_closed_ends_its_thread(server: FakeServer) -> None:
    """A thread of it is there after the first question alone."""
    source = sources.mcp(server.server(), label="forgotten")
    assert threads_of("forgotten") == []
    source.scan()
    (thread,) = threads_of("forgotten")
    del source
    gc.collect()
    thread.join(5)

    assert not thread.is_alive()


def test_a_thread_that_is_collected_by_itself_ends() -> None:
    """The collector may run anywhere, in that very thread too."""
    own = LoopThread("satchel-mcp-own")
    own.portal.call(own.end)
    own._thread.join(5)

    assert not own._thread.is_alive()
    own.end()


def test_calls_go_side_by_side(server: FakeServer) -> None:
    together = threading.Barrier(4)

    async def meet(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401
        await anyio.to_thread.run_sync(together.wait, 5)
        return await call_next(ctx)

    target = server.server()
    with reading(target) as source, ThreadPoolExecutor(4) as threads:
        source.scan()
        target.middleware.append(meet)
        read = threads.map(lambda _: source.read(KEY, "SKILL.md", 1_000), range(4))

        assert list(read) == [REFUNDS["SKILL.md"]] * 4


def test_a_connection_that_ended_is_made_again(server: FakeServer) -> None:
    with reading(server) as source:
        source.scan()
        live = source._connection._live
        assert live is not None
        live.end()
        live.task.result(5)
        source.scan()

        assert source._connection._live is not live


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("ftp://example.com/mcp", {}),
        ("example.com", {}),
        ("http:///mcp", {}),
        ([], {}),
        (["server"], {"headers": {"A": "b"}}),
        ("https://u:s3cret@example.com/mcp", {}),
        ("https://example.com/mcp", {"headers": {"A": "s3cret\nB: c"}}),
        ("https://example.com/mcp", {"headers": {"Accept-Encoding": "gzip"}}),
    ],
    ids=str,
)
def test_what_is_no_server(target: object, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected|header") as caught:
        sources.mcp(target, **options)
    assert "s3cret" not in str(caught.value)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "satchel_server.mcp_source._source", None)
    with pytest.raises(ExtraMissingError, match=r"\[mcp\]"):
        sources.mcp("http://127.0.0.1/mcp")


def test_a_server_that_takes_no_handshake(server: FakeServer) -> None:
    refusing = older(server.server(), ("server/discover", "initialize"))
    with (
        reading(refusing) as source,
        pytest.raises(SourceUnavailableError, match="unknown method"),
    ):
        source.scan()


def test_a_server_that_has_no_skills(server: FakeServer) -> None:
    """One of 2025 without an index, and one of 2026 that declares nothing."""
    silent = FakeServer({"x": {"SKILL.md": skill_md("x")}}, extension=False)
    for target in (server.legacy(), silent):
        with reading(target) as source:
            assert codes_of(source) == ["no-skills-offered"]

    assert ("skills/list", "") not in server.asked
    assert silent.asked == [("resources/read", "skill://index.json")]
