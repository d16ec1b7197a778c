"""One request at a time: where it may go, how much may come, how often it is tried."""

import gzip
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

import httpcore2
import pytest

from satchel.errors import LimitExceededError, SourceUnavailableError
from satchel_store.http._addresses import Resolver, resolve_host
from satchel_store.http._client import (
    HttpClient,
    HttpEnvironment,
    HttpRequest,
    HttpResponse,
)
from satchel_store.http._urls import AllowedHosts, parse_url
from tests.unit.sources.http.site import Reply, Site


@dataclass
class Machine:
    """A clock that only waiting moves, names of our own, and no jitter."""

    names: dict[str, list[str]] = field(default_factory=dict)
    time: float = 1_000.0
    waits: list[float] = field(default_factory=list)
    backend: httpcore2.NetworkBackend | None = None

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    def resolve(self, host: str, port: int) -> list[str]:
        del port
        return self.names.get(host) or [host]

    def around(self) -> HttpEnvironment:
        return HttpEnvironment(
            monotonic=lambda: self.time,
            now=lambda: 1_795_000_000.0,
            sleep=self.sleep,
            jitter=lambda: 0.5,
            resolve=self.resolve,
            backend=self.backend,
        )


def client(
    home: str,
    machine: Machine | None = None,
    *,
    allow_private: bool = True,
    timeout_s: float = 5.0,
    headers: dict[str, str] | None = None,
) -> HttpClient:
    return HttpClient(
        home,
        label="lab",
        allow_private=allow_private,
        timeout_s=timeout_s,
        headers=headers,
        environment=machine.around() if machine else None,
    )


def request(url: str, limit_bytes: int = 1_000, **more: object) -> HttpRequest:
    return replace(HttpRequest(parse_url(url), "index_bytes", limit_bytes), **more)  # type: ignore[arg-type]


def refusal(made: HttpClient, wanted: HttpRequest) -> str:
    with pytest.raises(SourceUnavailableError) as caught:
        made.get(wanted)
    assert str(caught.value).startswith("source 'lab' did not answer: ")
    return caught.value.detail


def get(site: Site, machine: Machine | None = None) -> HttpResponse:
    """Fetch ``/a`` of a site."""
    return client(site.url, machine).get(request(f"{site.url}/a"))


def refused(site: Site, machine: Machine | None = None) -> str:
    """Return why ``/a`` of a site is not fetched."""
    return refusal(client(site.url, machine), request(f"{site.url}/a"))


def test_an_answer(site: Site) -> None:
    site.put("/a", Reply(b"hello", headers=(("ETag", '"1"'),)))
    answer = client(site.url).get(request(f"{site.url}/a?x=1"))

    assert answer.status == 404
    answer = get(site)
    assert (answer.status, answer.body, answer.etag) == (200, b"hello", '"1"')
    headers = site.asked[-1][1]
    assert headers["Accept-Encoding"] == "identity"
    assert headers["Host"] == site.url.removeprefix("http://")
    assert "Cookie" not in headers

    site.etags = True
    first = get(site)
    second = client(site.url).get(request(f"{site.url}/a", etag=first.etag))
    assert (second.unchanged, second.body, second.etag) == (True, b"", first.etag)

    # Cut off, a long one would be another one.
    site.etags = False
    site.put("/a", Reply(b"x" * 1_000, headers=(("ETag", f'"{"x" * 2_000}"'),)))
    answer = get(site)
    assert (len(answer.body), answer.etag) == (1_000, "")


# --- where it may go


def test_this_machine_is_refused_unless_allowed(site: Site) -> None:
    detail = refusal(client(site.url, allow_private=False), request(f"{site.url}/a"))

    assert "expected https://" in detail
    assert "allow_private allows" in detail
    assert site.asked == []


NEVER = "no skill is fetched from"
PUBLIC = "93.184.216.34"
REFUSED = [
    (["127.0.0.1"], "loopback"),
    (["10.0.0.1"], "private"),
    ([PUBLIC, "10.0.0.1"], "private"),
    (["::ffff:127.0.0.1"], "loopback"),
    (["64:ff9b::7f00:1"], "loopback"),
    (["2002:a00:1::"], "private"),
    (["169.254.169.254"], NEVER),
    (["0.0.0.0"], NEVER),  # noqa: S104 - an address to refuse
    (["224.0.0.1"], NEVER),
    (["fd00:ec2::254"], NEVER),
]


@pytest.mark.parametrize("allow_private", [False, True])
@pytest.mark.parametrize(("addresses", "says"), REFUSED)
def test_every_address_of_a_name_is_looked_at(
    addresses: list[str], says: str, allow_private: bool
) -> None:
    """Some are refused even if private ones are allowed."""
    backend = Spoken(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    machine = Machine({"example.com": addresses}, backend=backend)
    made = client("https://example.com", machine, allow_private=allow_private)
    if allow_private and says != NEVER:
        assert made.get(request("https://example.com/")).status == 200
        return
    detail = refusal(made, request("https://example.com/"))

    assert detail.startswith("example.com leads to")
    assert says in detail
    assert ("allow_private=True" in detail) == (says != NEVER)
    assert backend.connected == []


FOUND = b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
ON_THE_WAY = {
    "a public address without TLS": ("http", PUBLIC, b"", "needs https://", 0),
    # The first look is at a public address, the second at what the redirect names.
    "a redirect to a private address": (
        *("https", PUBLIC, FOUND % b"https://intern.example.com/"),
        *("intern.example.com leads to a private", 1),
    ),
    "a redirect that takes TLS away": (
        *("https", PUBLIC, FOUND % b"http://example.com/"),
        *("from https:// to http://", 1),
    ),
    # An error goes into logs and to models: it is no place for a server's text.
    "a wrong answer": ("https", PUBLIC, b"X" * 50_000 + b"\r\n\r\n", "status line", 3),
}


@pytest.mark.parametrize(
    ("scheme", "address", "answer", "says", "connected"),
    ON_THE_WAY.values(),
    ids=ON_THE_WAY,
)
def test_what_is_refused_on_the_way(
    scheme: str, address: str, answer: bytes, says: str, connected: int
) -> None:
    backend = Spoken(answer)
    names = {"example.com": [address], "intern.example.com": ["10.0.0.5"]}
    machine, home = Machine(names, backend=backend), f"{scheme}://example.com/"
    # Where plain requests are allowed at all, the rule for public addresses counts.
    made = client(home, machine, allow_private=scheme == "http")
    detail = refusal(made, request(home))

    assert says in detail
    assert len(detail) < 300
    assert [host for host, _ in backend.connected] == [address] * connected


def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    """A second look-up would be a second chance; the name is what TLS gets to see."""
    backend = Spoken(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", deaf={"192.0.0.9"}
    )
    machine = Machine({"example.com": ["192.0.0.9", PUBLIC]}, backend=backend)
    made = client("https://example.com", machine, allow_private=False)
    answer = made.get(request("https://example.com:8443/x"))

    assert answer.body == b"hi"
    assert backend.connected == [("192.0.0.9", 8443), (PUBLIC, 8443)]
    assert backend.names == ["example.com"]
    assert b"Host: example.com:8443\r\n" in backend.sent
    assert b"GET /x HTTP/1.1\r\n" in backend.sent


def no_such_host(host: str, port: int) -> list[str]:
    raise socket.gaierror(host, port)


@pytest.mark.parametrize(
    ("resolve", "says"),
    [(no_such_host, "example.com was not found"), (lambda *_: [], "no address")],
)
def test_a_name_without_an_address(resolve: Resolver, says: str) -> None:
    around = replace(Machine(backend=Spoken(b"")).around(), resolve=resolve)
    made = HttpClient("https://example.com", label="lab", environment=around)

    assert says in refusal(made, request("https://example.com/"))


def test_a_look_up_that_hangs() -> None:
    done = threading.Event()

    def hang(host: str, port: int) -> list[str]:
        done.wait(20)
        return [host, str(port)]

    around = HttpEnvironment(resolve=hang)
    made = HttpClient(
        "https://example.com", label="lab", timeout_s=0.05, environment=around
    )

    assert "not found in time" in refusal(made, request("https://example.com/"))
    done.set()
    assert resolve_host("127.0.0.1", 80) == ["127.0.0.1"]


# --- redirects


def test_redirects_are_followed(site: Site) -> None:
    for status, number in ((301, 1), (302, 2), (303, 3), (307, 4), (308, 5)):
        location = (("Location", f"/{number}"),)
        site.put(f"/{number - 1}", Reply(b"x" * 5_000, status, location))
    site.put("/5", b"there")
    answer = client(site.url).get(request(f"{site.url}/0"))

    assert answer.body == b"there"
    assert str(answer.url) == f"{site.url}/5"
    site.asked.clear()
    site.put("/a", Reply(status=302, headers=(("Location", "/a"),)))
    assert "more than 5 redirects" in refused(site)
    assert len(site.asked) == 6


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("http://169.254.169.254/latest/meta-data/", "no skill is fetched from"),
        ("ftp://127.0.0.1/", "not begin with https"),
        ("file:///etc/passwd", "not begin"),
        ("http://user:pw@127.0.0.1/", "user name or a password"),
        ("http://127.0.0.1:0/", "port is 0"),
    ],
)
def test_redirects_that_are_refused(site: Site, location: str, says: str) -> None:
    site.put("/a", Reply(status=302, headers=(("Location", location),)))
    detail = refused(site)

    assert says in detail
    assert "pw" not in detail


def test_hosts_that_were_not_named(site: Site, other: Site) -> None:
    """Also behind a redirect; the refusal tells what to write."""
    other.put("/x", b"there")
    site.put("/a", Reply(status=302, headers=(("Location", f"{other.url}/x"),)))
    hosts = AllowedHosts().including(parse_url(site.url))
    detail = refusal(client(site.url), request(f"{site.url}/a", hosts=hosts))
    authority = other.url.removeprefix("http://")

    assert f"hosts=['{authority}']" in detail
    assert other.asked == []
    hosts = AllowedHosts.of((authority,)).including(parse_url(site.url))
    assert client(site.url).get(request(f"{site.url}/a", hosts=hosts)).body == b"there"


def test_headers_go_to_one_origin(site: Site, other: Site) -> None:
    """Once a request has left it, they are not sent again, even on the way back."""
    site.put("/a", Reply(status=302, headers=(("Location", f"{other.url}/b"),)))
    other.put("/b", Reply(status=302, headers=(("Location", f"{site.url}/c"),)))
    site.put("/c", b"there")
    made = client(site.url, headers={"Authorization": "Bearer t0ken"})
    assert made.get(request(f"{site.url}/a")).body == b"there"
    assert made.get(request(f"{other.url}/x")).status == 404

    assert site.asked[0][1]["Authorization"] == "Bearer t0ken"
    assert "Authorization" not in site.asked[1][1]
    assert all("Authorization" not in headers for _, headers in other.asked)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Host", "evil"), ("accept-encoding", "gzip"), ("", "s3cret")),
        *(("Transfer-Encoding", "chunked"), ("X\r\nY", "s3cret")),
        *(("X-Key", "s3cret\r\nY: 1"), ("X-Key", " s3cret"), ("X-Key", "s3crét")),
    ],
)
def test_headers_that_cannot_be_sent(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="cannot be") as caught:
        client("https://example.com", headers={name: value})

    assert "s3cr" not in str(caught.value)


# --- how much, how long


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"x" * 1_001),
        Reply(pieces=lambda _: [b"x" * 600] * 3),
        Reply(b"", length=10**12),
        Reply(b"", length=10**18),
        Reply(pieces=lambda _: iter(lambda: b"x" * 60_000, b"")),
    ],
    ids=["one more", "without a length", "a large length", "a huge one", "endless"],
)
def test_too_many_bytes(site: Site, reply: Reply) -> None:
    site.put("/a", reply)
    with pytest.raises(LimitExceededError) as caught:
        get(site)

    assert caught.value.limit == "index_bytes"
    assert caught.value.actual > 1_000


def test_a_gzip_bomb_is_not_opened(site: Site) -> None:
    bomb = gzip.compress(bytes(600_000))
    site.put("/a", Reply(bomb, headers=(("Content-Encoding", "GZIP "),)))
    answer = get(site)

    assert answer.body == bomb
    assert answer.encoding == "gzip"


def slowly(done: threading.Event) -> Iterator[bytes]:
    while not done.wait(0.02):
        yield b"x"


def test_a_slow_sender(site: Site) -> None:
    """A byte now and then keeps each read within time; the whole is what counts."""
    site.put("/a", Reply(pieces=slowly))
    detail = refusal(client(site.url, timeout_s=0.2), request(f"{site.url}/a"))

    assert "too long" in detail or "time" in detail


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n"])
def test_headers_that_never_end(head: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = threading.Event()

        def drip() -> None:
            while not done.is_set():
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer:
                    peer.sendall(head)
                    while not done.wait(0.02):
                        try:
                            peer.sendall(b"X-A: b\r\n" if head else b"")
                        except OSError:
                            break

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        detail = refusal(client(url, timeout_s=0.2), request(f"{url}/"))
        done.set()

    assert "too long" in detail or "time" in detail
    thread.join()


def test_a_wrong_length(site: Site) -> None:
    site.put("/a", Reply(b"short", length=500))

    assert "broke off" in refused(site, Machine())
    assert len(site.asked) == 3


# --- how often


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_another_attempt_may_change(site: Site, status: int) -> None:
    site.put("/a", Reply(status=status), Reply(status=status), Reply(b"well"))
    site.put("/b", Reply(status=status))
    first, second = Machine(), Machine()

    assert get(site, first).body == b"well"
    detail = refusal(client(site.url, second), request(f"{site.url}/b"))
    assert detail == f"{site.url}/b: the server answers {status}"
    assert first.waits == second.waits == [0.25, 0.5]


@pytest.mark.parametrize(
    ("status", "refuses"),
    [(status, False) for status in (400, 401, 403, 404, 410, 418, 451)]
    + [(status, True) for status in (204, 206, 304, 501)],
)
def test_what_no_attempt_changes(site: Site, status: int, refuses: bool) -> None:
    site.put("/a", Reply(b"" if refuses else b"x" * 9_000, status))
    machine = Machine()
    if refuses:
        assert f"/a: the server answers {status}" in refused(site, machine)
    else:
        assert get(site, machine).status == status

    assert (len(site.asked), machine.waits) == (1, [])


@pytest.mark.parametrize(
    ("value", "waits"),
    [
        *(("2", [2.0]), ("0", [0.25]), ("soon", [0.25]), ("-5", [0.25])),
        ("Wed, 18 Nov 2026 11:06:42 GMT", [2.0]),
        ("Wed, 18 Nov 2026 11:06:42 -0000", [2.0]),
        ("Wed, 18 Nov 2020 11:06:42 GMT", [0.25]),
        *(("11", []), ("99999999999999999999", [])),
    ],
)
def test_what_a_server_asks_for(site: Site, value: str, waits: list[float]) -> None:
    """A wait that is too long is none: the request fails."""
    site.put("/a", Reply(status=429, headers=(("Retry-After", value),)), Reply(b"ok"))
    machine = Machine()
    made = client(site.url, machine, timeout_s=9e9)
    if waits:
        assert made.get(request(f"{site.url}/a")).body == b"ok"
    else:
        refusal(made, request(f"{site.url}/a"))

    assert machine.waits == waits


def test_no_attempt_begins_after_the_end(site: Site) -> None:
    site.put("/a", Reply(status=503))
    machine = Machine()
    refusal(client(site.url, machine, timeout_s=0.3), request(f"{site.url}/a"))
    assert machine.waits == [0.25]
    until = machine.time + 0.1
    refusal(client(site.url, machine), request(f"{site.url}/a", until=until))
    assert machine.waits == [0.25]


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    machine = Machine()

    assert "cannot connect" in refusal(client(url, machine), request(f"{url}/"))
    assert machine.waits == [0.25, 0.5]


def test_no_key_is_in_an_error(site: Site) -> None:
    """Neither a query nor a header is in what is raised."""
    site.put("/a?key=s3cret", Reply(status=500))
    made = client(site.url, headers={"Authorization": "s3cret"})

    assert "s3cret" not in refusal(made, request(f"{site.url}/a?key=s3cret"))


def test_closing_ends_a_wait(site: Site) -> None:
    site.put("/a", Reply(status=503, headers=(("Retry-After", "9"),)))
    made = client(site.url, timeout_s=30.0)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(refusal, made, request(f"{site.url}/a"))
        for _ in range(500):
            if site.asked or wait([waiting], 0.01).done:
                break
        made.close()
        made.close()
        detail = waiting.result(5)

    assert detail in ("it is closed", f"{site.url}/a: the server answers 503")
    assert refusal(made, request(f"{site.url}/a")) == "it is closed"


class Spoken(httpcore2.NetworkBackend):
    """A network on which every server says the same; what it gets is kept."""

    def __init__(self, answer: bytes, deaf: Iterable[str] = ()) -> None:
        self.answer = answer
        self.deaf = set(deaf)
        self.connected: list[tuple[str, int]] = []
        self.names: list[str | None] = []
        self.sent = b""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: object = None,
    ) -> httpcore2.NetworkStream:
        del timeout, local_address, socket_options
        self.connected.append((host, port))
        if host in self.deaf:
            raise httpcore2.ConnectError("nobody")
        return _SpokenStream(self)


class _SpokenStream(httpcore2.NetworkStream):
    def __init__(self, network: Spoken) -> None:
        self._network = network
        self._left = network.answer

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        assert timeout is not None
        piece, self._left = self._left[:max_bytes], self._left[max_bytes:]
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        assert timeout is not None
        self._network.sent += buffer

    def close(self) -> None:
        pass

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        assert timeout is not None
        assert ssl_context.verify_mode is ssl.CERT_REQUIRED
        assert ssl_context.check_hostname
        self._network.names.append(server_hostname)
        return self

    def get_extra_info(self, info: str) -> object:
        del info
        return None
