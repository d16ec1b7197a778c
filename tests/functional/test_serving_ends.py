"""How a server ends, and what it refuses: real processes, real sockets."""

import http.client
import os
import random
import socket
import threading
from collections import Counter
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from satchel.testing import write_pack
from tests.functional.library import run
from tests.functional.serving import Served, serving

pytestmark = pytest.mark.slow

CLIENTS: Final = 16
WAIT_S: Final = 20
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
NO_SINK: Final = {"SATCHEL_USAGE": "off"}
TOKEN: Final = "a-token-that-only-this-test-knows"  # noqa: S105 - made up


@pytest.fixture(autouse=True)
def skills(here: Path) -> Path:
    for name in ("alpha", "beta"):
        write_pack(here / "skills", name, files={"a.md": "A.\n" * 1_000})
    return here / "skills"


def connection(served: Served) -> http.client.HTTPConnection:
    parts = urlsplit(served.url)
    return http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=WAIT_S)


@pytest.mark.row("F93")
@posix
@pytest.mark.parametrize(
    "path",
    ["/v1/catalog", "/v1/skills/alpha", "/v1/skills/beta/files/a.md", "/healthz"],
)
@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "one each"])
def test_each_request_that_was_sent_is_answered(
    here: Path, path: str, keeps: bool
) -> None:
    """Each client asks until nobody listens; then the server has ended by itself."""
    told = threading.Event()
    ended: Counter[str] = Counter()

    def client(served: Served) -> None:
        http = connection(served)
        while True:
            try:
                http.connect()
            except OSError:
                http.close()
                ended["nobody listens"] += 1
                return
            open_ = True
            while open_:
                try:
                    http.request("GET", path)
                    answer = http.getresponse()
                    answer.read()
                except (OSError, http_errors) as error:
                    ended[f"lost: {type(error).__name__}"] += 1
                    break
                ended[f"{answer.status}"] += 1
                told.set()
                open_ = keeps and answer.getheader("connection") != "close"
            http.close()

    with serving("skills", "--no-access-log", cwd=here, env=NO_SINK) as served:
        threads = [
            threading.Thread(target=client, args=(served,)) for _ in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        assert told.wait(WAIT_S)
        assert served.stop() == 0
        for thread in threads:
            thread.join(WAIT_S)

    assert ended.pop("nobody listens") == CLIENTS
    assert set(ended) == {"200"}


http_errors = http.client.HTTPException


def tokens(*lines: str) -> str:
    return "\n".join(f'[[token]]\nname = "ci"\ntoken = "{TOKEN}"\n{x}' for x in lines)


LISTEN: Final = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": '
    b'{"notifications": {"resourcesListChanged": true, "toolsListChanged": true}, '
    b'"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", '
    b'"io.modelcontextprotocol/clientCapabilities": {}, '
    b'"io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}}}'
)
HEADERS: Final = {
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "subscriptions/listen",
    "mcp-name": "",
}


@pytest.mark.row("F91")
@posix
@pytest.mark.parametrize("after", ["", 'only = ["beta"]'], ids=["gone", "narrowed"])
def test_a_stream_ends_when_the_file_of_tokens_says_so(
    here: Path, skills: Path, after: str
) -> None:
    file = here / "tokens.toml"
    file.write_text(tokens(""))
    file.chmod(0o600)
    with serving("skills", "--tokens", str(file), cwd=here, env=NO_SINK) as served:
        http = connection(served)
        http.request("POST", "/mcp", LISTEN, HEADERS)
        answer = http.getresponse()
        assert (answer.status, answer.getheader("content-type")) == (
            200,
            "text/event-stream",
        )
        assert answer.read1()
        file.write_text(
            tokens(after) if after else tokens("").replace(TOKEN, TOKEN[::-1])
        )
        write_pack(skills, "a-secret")

        rest = answer.read()  # until its end
        http.close()

        assert b"secret" not in rest
        again = connection(served)
        again.request("GET", "/v1/skills/alpha", headers=HEADERS)
        answer = again.getresponse()
        answer.read()
        assert answer.status == (404 if after else 401)
        again.close()
        assert served.stop() == 0


HEADS: Final = [
    (b"x: " + b"a" * 60_000, 200),
    (b"x: " + b"a" * 66_000, 431),
    (b"x: " + b"a" * 150_000, 431),
    (b"x: " + b"a" * 400_000, 431),
    (b"\r\n".join(b"x%d: %s" % (n, b"a" * 900) for n in range(80)), 431),
    (b"cookie: a\r\n" * 9_000 + b"x: y", 431),
]


@pytest.mark.row("F95")
def test_a_head_over_the_limit_is_refused(here: Path) -> None:
    given = [(b"/healthz", head, status) for head, status in HEADS]
    given += [
        (b"/healthz?" + b"a" * n, b"x: y", s) for n, s in ((60_000, 200), (66_000, 431))
    ]
    with serving("skills", cwd=here, env=NO_SINK) as served:
        parts = urlsplit(served.url)
        for path, head, status in given:
            with socket.create_connection(
                (parts.hostname, parts.port), WAIT_S
            ) as client:
                request = b"GET %b HTTP/1.1\r\nhost: 127.0.0.1\r\n%b\r\n\r\n" % (
                    path,
                    head,
                )
                try:
                    client.sendall(request)
                    answer = client.recv(4_096)
                except OSError:  # it closes before the end
                    answer = b""
            is_closed = not answer and len(request) > 100_000
            assert answer.startswith(b"HTTP/1.1 %d " % status) or is_closed
        assert served.stop() == 0
    assert [line for line in served.said if "unhandled" in line] == []


PARTS: Final = (
    *(
        b"\r\n",
        b"\n",
        b"0\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"Connection: close\r\n",
    ),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: 3\r\n", b"zz\r\n", b"\x00"),
    b"Upgrade: websocket\r\nConnection: upgrade\r\n",
    b"Expect: 100-continue\r\n",
)


def requests(host: bytes) -> list[bytes]:
    head = b"HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\n" % host
    chunks = b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n3\r\n 1}\r\n0\r\n\r\n'
    return [
        b"GET /v1/catalog %b\r\n" % head,
        b"POST /mcp %b%b" % (head, chunks),
        b'POST /mcp %bContent-Length: 8\r\n\r\n{"a": 1}' % head,
        b"POST /v1/loads %b%b" % (head.replace(host, b"evil"), chunks),
        # Answered before the body is there, and the rest of it is no chunk.
        b"POST /nothing %bTransfer-Encoding: chunked\r\n\r\n5\r\nabc" % head,
    ]


def mutated(random: random.Random, given: list[bytes]) -> bytes:
    data = bytearray(random.choice(given))
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data) + 1)
        match random.randrange(5):
            case 0:
                data[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                data[at:at] = bytes(random.choices(range(256), k=random.randint(1, 8)))
            case 2:
                del data[at : at + random.randint(1, 6)]
            case 3:
                data[at:at] = random.choice(PARTS)
            case _:
                data += random.choice(given)
    return bytes(data)


@pytest.mark.row("F95")
@pytest.mark.hostile
@pytest.mark.parametrize("seed", range(4))
def test_what_is_no_http_leaves_no_line_of_a_crash(here: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    with serving("skills", "--no-access-log", cwd=here, env=NO_SINK) as served:
        parts = urlsplit(served.url)
        given = requests(parts.netloc.encode())
        for _ in range(1_000):
            data, at = mutated(chance, given), chance.randrange(400)
            try:
                with socket.create_connection(
                    (parts.hostname, parts.port), 1
                ) as client:
                    client.sendall(data[:at])
                    client.sendall(data[at:])
                    client.settimeout(0.02)
                    client.recv(4_096)
                    client.sendall(mutated(chance, given))
            except OSError:
                continue
        assert served.stop() == 0
    signs = ("unhandled", "Traceback", "ASGI", "Error", "Exception")
    assert [line for line in served.said if any(sign in line for sign in signs)] == []


@pytest.mark.row("F93")
def test_the_rate_of_a_token_is_an_option(here: Path) -> None:
    env = {**NO_SINK, "SATCHEL_TOKEN": TOKEN}
    statuses: dict[str, list[int]] = {}
    for rate in ("2", "500"):
        with serving("skills", "--rate", rate, cwd=here, env=env) as served:
            http = connection(served)
            statuses[rate] = []
            for _ in range(60):
                http.request("GET", "/v1/catalog", headers=HEADERS)
                answer = http.getresponse()
                answer.read()
                statuses[rate].append(answer.status)
            http.close()

    assert statuses["2"][:10] == [200] * 10
    assert 429 in statuses["2"]
    assert statuses["500"] == [200] * 60


@pytest.mark.row("F93")
@pytest.mark.parametrize("rate", ["0", "-1", "x", "1.5", ""])
def test_a_rate_is_a_count(rate: str) -> None:
    result = run("serve", "skills", "--rate", rate)

    assert result.exit_code == 2
    assert "--rate" in result.stderr
