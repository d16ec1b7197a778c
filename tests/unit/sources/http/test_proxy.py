"""The user's own proxy leads to sites with TLS, and gets none of the headers."""

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from satchel.errors import SourceUnavailableError
from satchel_store.http import HttpClient, HttpRequest, parse_url
from tests.install.oci.test_failing_registry import make_certificate


class Site(BaseHTTPRequestHandler):
    """A site with TLS that knows its own name."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer with the name that was asked for."""
        body = self.headers["Host"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Proxy:
    """A proxy that knows one name, and notes what it was asked."""

    def __init__(self, port: int) -> None:
        self.asked: list[str] = []
        self.target = port
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        """Take one connection after the other."""
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4_096)
            self.asked.append(head.decode())
            if "Basic YTpi" not in self.asked[-1]:  # a:b
                client.sendall(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            threading.Thread(target=pump, args=(client, server), daemon=True).start()


def pump(first: socket.socket, second: socket.socket) -> None:
    """Pass on what comes, both ways."""
    with closing(first), closing(second):
        while True:
            for one in select.select([first, second], [], [])[0]:
                data = one.recv(65_536)
                if not data:
                    return
                (second if one is first else first).sendall(data)


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy in front of a site that only it can reach: ``site.test``."""
    certificate, key = make_certificate(tmp_path, "site.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = HTTPServer(("127.0.0.1", 0), Site)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    running = Proxy(server.server_address[1])
    for name in ("HTTPS_PROXY", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield running
    running.socket.close()
    server.shutdown()
    server.server_close()


def fetched(address: str, client: HttpClient) -> bytes:
    """Return what an address has."""
    request = HttpRequest(parse_url(address), "index_bytes", 1_000)
    return client.get(request).body


def test_a_proxy_of_the_environment_is_used(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", f"http://a:b@{proxy.address}")
    with closing(
        HttpClient("https://site.test/", headers={"X-Key": "secret"})
    ) as client:
        assert fetched("https://site.test/a", client) == b"site.test"
    assert proxy.asked[0].startswith("CONNECT site.test:443 ")
    assert "secret" not in "".join(proxy.asked)


@pytest.mark.parametrize("named", ["site.test", "*", ".test"])
def test_what_needs_no_proxy_gets_none(
    named: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", f"http://a:b@{proxy.address}")
    monkeypatch.setenv("no_proxy", named)
    client = HttpClient("https://site.test/", timeout_s=2)
    with closing(client), pytest.raises(SourceUnavailableError):
        fetched("https://site.test/a", client)
    assert not proxy.asked


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("https://169.254.169.254/a", "no skill is fetched from"),
        ("https://10.0.0.1/a", "a private address"),
        ("https://127.0.0.1/a", "a loopback address"),
        ("https://[::1]/a", "a loopback address"),
    ],
)
def test_an_address_in_numbers_is_checked_before_the_proxy(
    address: str, reason: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", f"http://a:b@{proxy.address}")
    client = HttpClient("https://site.test/")
    with closing(client), pytest.raises(SourceUnavailableError, match=reason):
        fetched(address, client)
    assert not proxy.asked


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("http://x:wrong-1@{0}", "407"),
        ("ftp://a:wrong-1@{0}", "no http:// or https:// address"),
        ("http://a:wrong-1@{0}:99999", "no http:// or https:// address"),
        ("http://a:wrong-1@[::1", "no http:// or https:// address"),
        ("http://a:wrong-1@127.0.0.1:1", "cannot connect|broke off"),
    ],
)
def test_a_proxy_that_refuses_is_named_without_its_password(
    written: str, reason: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", written.format(proxy.address))
    client = HttpClient("https://site.test/", timeout_s=3)
    raised = pytest.raises(SourceUnavailableError, match=reason)
    with closing(client), raised as caught:
        fetched("https://site.test/a", client)
    assert "wrong-1" not in str(caught.value)
