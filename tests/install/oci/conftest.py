"""Registries: Debian's docker-registry, and one of ours that fails as it is told."""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urljoin

import pytest

from satchel import Options, Satchel
from tests.functional.library import run
from tests.install.conftest import PACK

PRIVATE: Final = Options(allow_private=True)
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"


def digest(data: bytes) -> str:
    """Return the digest of bytes as registries write it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port: int = taken.getsockname()[1]
        return port


class Registry:
    """A registry on this machine: its host, and what tests put into it by hand."""

    def __init__(self, port: int, authorization: str = "") -> None:
        self.host = f"127.0.0.1:{port}"
        self.authorization = authorization

    def address(self, which: str = ":prod") -> str:
        """Return the address of a tag or a digest."""
        return f"oci://{self.host}/team/skills{which}"

    def ask(
        self, method: str, path: str, data: bytes | None = None, kind: str = ""
    ) -> tuple[int, Message, bytes]:
        """Make a request of our own, and return status, headers and body."""
        base = f"http://{self.host}/v2/team/skills/"
        url = urljoin(base, path.removeprefix("team/skills/"))
        request = urllib.request.Request(url, data, method=method)  # noqa: S310
        request.add_header("Accept", MANIFEST)
        if data is not None:
            request.add_header("Content-Type", kind or "application/octet-stream")
        if self.authorization:
            request.add_header("Authorization", self.authorization)
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, answer.headers, answer.read()

    def put_blob(self, data: bytes) -> dict[str, Any]:
        """Put a blob, and return its descriptor."""
        _, headers, _ = self.ask("POST", "team/skills/blobs/uploads/", b"")
        place = headers["Location"]
        mark = "&" if "?" in place else "?"
        self.ask("PUT", f"{place}{mark}digest={digest(data)}", data)
        return {"digest": digest(data), "size": len(data)}

    def put(self, tag: str, document: Mapping[str, Any], kind: str = MANIFEST) -> str:
        """Put a manifest under a tag, and return its digest."""
        data = json.dumps(document).encode()
        self.ask("PUT", f"team/skills/manifests/{tag}", data, kind)
        return digest(data)

    def manifest(self, tag: str) -> dict[str, Any]:
        """Return the manifest of a tag."""
        answer: dict[str, Any] = json.loads(
            self.ask("GET", f"team/skills/manifests/{tag}")[2]
        )
        return answer

    def move(self, tag: str, document: Mapping[str, Any]) -> None:
        """Put the very bytes that satchel push made under a tag again."""
        data = f"{json.dumps(document, indent=1)}\n".encode()
        self.ask("PUT", f"team/skills/manifests/{tag}", data, MANIFEST)


@contextmanager
def debian_registry(
    folder: Path, auth: str = "", authorization: str = ""
) -> Iterator[Registry]:
    """Run Debian's docker-registry until the end of the block."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("docker-registry is not installed; to run this: make engines")
    port = free_port()
    settings = folder / f"registry-{port}.yml"
    storage = f"storage: {{filesystem: {{rootdirectory: {folder}/registry}}}}"
    http = f"http: {{addr: '127.0.0.1:{port}', secret: a}}"
    settings.write_text(
        f"version: 0.1\nlog: {{level: error}}\n{storage}\n{http}\n{auth}"
    )
    process = subprocess.Popen(
        [program, "serve", str(settings)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield Registry(port, authorization)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """An empty registry of Debian."""
    with debian_registry(tmp_path) as running:
        yield running


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with the skills ``pdf``, which has a script, and ``sql``."""
    folder = tmp_path / "library"
    for name in ("pdf", "sql"):
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(PACK.format(name))
    (folder / "pdf/scripts").mkdir()
    (folder / "pdf/scripts/fill.py").write_text("print('filled')\n")
    return folder


def edit(library: Path, name: str, text: str) -> None:
    """Add a line to a skill."""
    file = library / name / "SKILL.md"
    file.write_text(f"{file.read_text()}{text}\n")


def channels() -> Path:
    """Return where this user's numbers of releases are kept, a file for each tag."""
    return Path(os.environ["XDG_DATA_HOME"]) / "satchel/channels"


def pushed(registry: Registry, library: Path, which: str = ":prod") -> str:
    """Push a library as somebody else, and return the digest of its manifest."""
    noted = channels()
    before = {file: file.read_bytes() for file in noted.glob("*")}
    result = run("push", registry.address(which), "--skills", str(library))
    assert result.exit_code == 0, result.output
    for file in noted.glob("*"):
        file.unlink()
    for file, data in before.items():
        file.write_bytes(data)
    return result.stdout.strip()


def opened(registry: Registry, which: str = ":prod") -> Satchel:
    """Open what a tag or a digest names."""
    return Satchel(registry.address(which), options=PRIVATE)


class Request(BaseHTTPRequestHandler):
    """One request of the registry below, with what was sent."""

    protocol_version = "HTTP/1.1"
    sent = b""

    @property
    def registry(self) -> "FakeRegistry":
        """The registry that is asked."""
        return cast("_Server", self.server).registry

    @property
    def name(self) -> str:
        """The last part of the path: a digest or a tag."""
        return self.path.rpartition("/")[2]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def answer(self, status: int, body: bytes = b"", /, **headers: str) -> None:
        """Answer; a header is written with underscores."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_it(self) -> None:
        """Note the request, and answer it."""
        self.registry.requests.append(f"{self.command} {self.path}")
        self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.registry.fault(self):
            self.registry.serve(self)

    do_GET = do_HEAD = do_PUT = do_POST = do_PATCH = handle_it  # noqa: N815


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    registry: "FakeRegistry"


class FakeRegistry(Registry):
    """A registry in memory, which fails as a function of each request says.

    ``fault`` gets the request before it is answered, and returns whether it has
    answered it.
    """

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, bytes] = {}
        self.uploads: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.fault: Callable[[Request], bool] = lambda _: False
        self.server = _Server(("127.0.0.1", 0), Request)
        self.server.registry = self
        super().__init__(self.server.server_address[1])
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        self.server.shutdown()
        self.server.server_close()

    def serve(self, request: Request) -> None:
        """Answer as the specification says."""
        path, _, query = request.path.partition("?")
        what, _, name = path.removeprefix("/v2/team/skills/").partition("/")
        method = request.command
        if what == "manifests" and method == "PUT":
            key = digest(request.sent)
            self.manifests[name] = self.manifests[key] = request.sent
            request.answer(201, Docker_Content_Digest=key)
        elif what == "manifests" and name in self.manifests:
            data = self.manifests[name]
            found = {"Docker_Content_Digest": digest(data), "Content_Type": MANIFEST}
            request.answer(200, data, **found)
        elif what == "blobs" and name == "uploads/" and method == "POST":
            place = f"/v2/team/skills/blobs/uploads/{len(self.uploads)}"
            self.uploads[place] = b""
            request.answer(202, Location=place)
        elif path in self.uploads:
            self.upload(request, path, query)
        elif what == "blobs" and name in self.blobs:
            request.answer(200, self.blobs[name])
        else:
            request.answer(404)

    def upload(self, request: Request, path: str, query: str) -> None:
        """Take a chunk, or the end of an upload, or say how much is there."""
        self.uploads[path] += request.sent
        last = max(len(self.uploads[path]) - 1, 0)
        place = {"Location": path, "Range": f"0-{last}"}
        if request.command == "PATCH":
            request.answer(202, b"", **place)
        elif request.command == "GET":
            request.answer(204, b"", **place)
        else:
            wanted = re.sub("%3A", ":", query.partition("digest=")[2])
            data = self.uploads[path]
            assert digest(data) == wanted
            self.blobs[wanted] = data
            request.answer(201, Location=f"/v2/team/skills/blobs/{wanted}")


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    """A registry of ours."""
    with closing(FakeRegistry()) as running:
        yield running
