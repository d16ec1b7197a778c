"""A site on the loopback that publishes skills, and misbehaves on demand."""

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from satchel.files import digest_bytes
from satchel_store.archives import tar_gz

__all__ = ["INDEX", "OLD_INDEX", "SCHEMA", "Reply", "Site", "skill_md"]

SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
INDEX: Final = "/.well-known/agent-skills/index.json"
OLD_INDEX: Final = "/.well-known/skills/index.json"


def skill_md(name: str, text: str = "Do it.") -> bytes:
    head = f"---\nname: {name}\ndescription: Use when testing.\n---\n"
    return f"{head}{text}\n".encode()


@dataclass(frozen=True)
class Reply:
    """One answer; ``pieces`` are sent one by one, in place of the body."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    pieces: Callable[[threading.Event], Iterable[bytes]] | None = None
    length: int | None = None


@dataclass
class Site:
    """Answers by path; several for one path go in turn, and the last one stays.

    Paths without any are files below ``root``, if it is given. ``asked`` lists what was
    asked for, in order, with the headers.
    """

    replies: dict[str, list[Reply]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""
    etags: bool = False
    root: Path | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def put(self, path: str, *replies: Reply | bytes) -> None:
        self.replies[path] = [
            reply if isinstance(reply, Reply) else Reply(reply) for reply in replies
        ]

    def put_index(self, *entries: Mapping[str, object], path: str = INDEX) -> None:
        document = {"$schema": SCHEMA, "skills": list(entries)}
        self.put(path, json.dumps(document).encode())

    def put_skills(self, packs: Mapping[str, Mapping[str, bytes]]) -> None:
        """Publish packs: one file alone as it is, more of them in an archive."""
        entries: list[dict[str, object]] = []
        for name, files in packs.items():
            alone = len(files) == 1
            data = files["SKILL.md"] if alone else tar_gz(files.items())
            path = f"{name}/SKILL.md" if alone else f"{name}.tar.gz"
            self.put(f"/.well-known/agent-skills/{path}", data)
            entries.append(entry(name, path, data, archive=not alone))
        self.put_index(*entries)

    def put_old(self, packs: Mapping[str, Mapping[str, bytes]]) -> None:
        """Publish packs the way of v0.1.0."""
        entries = [
            {"name": name, "description": "Use it.", "files": list(files)}
            for name, files in packs.items()
        ]
        self.put(OLD_INDEX, json.dumps({"skills": entries}).encode())
        for name, files in packs.items():
            for path, data in files.items():
                self.put(f"/.well-known/skills/{name}/{path}", data)

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def count(self) -> Mapping[str, int]:
        counts: dict[str, int] = defaultdict(int)
        for path in self.paths():
            counts[path] += 1
        return counts

    def reply(self, path: str) -> Reply:
        replies = self.replies.get(path)
        if not replies:
            file = self.root / path.lstrip("/") if self.root else None
            if file is not None and file.is_file():
                return Reply(file.read_bytes())
            return Reply(b"<h1>Not found</h1>", 404)
        return replies.pop(0) if len(replies) > 1 else replies[0]


def entry(
    name: str, url: str, data: bytes, *, archive: bool = False
) -> dict[str, object]:
    """Return an entry of an index, as it should be."""
    return {
        "name": name,
        "type": "archive" if archive else "skill-md",
        "description": "Use when testing.",
        "url": url,
        "digest": digest_bytes(data),
    }


class Handler(BaseHTTPRequestHandler):
    """Answers for the site of its server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two packets
    timeout = 20
    server: "Server"

    def do_GET(self) -> None:
        site = self.server.site
        site.asked.append((self.path, dict(self.headers.items())))
        reply = site.reply(self.path)
        etag = digest_bytes(reply.body).replace("sha256:", '"') + '"'
        if site.etags and self.headers.get("If-None-Match") == etag:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        if site.etags:
            self.send_header("ETag", etag)
        self._end_headers(reply)
        self._send([reply.body] if reply.pieces is None else reply.pieces(site.done))

    def _end_headers(self, reply: Reply) -> None:
        length = reply.length
        if length is None and reply.pieces is None:
            self.send_header("Content-Length", str(len(reply.body)))
        else:
            self.close_connection = True
            if length is not None:
                self.send_header("Content-Length", str(length))
        self.end_headers()

    def _send(self, pieces: Iterable[bytes]) -> None:
        try:
            for piece in pieces:
                self.wfile.write(piece)
        except OSError:  # the client has had enough
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class Server(ThreadingHTTPServer):
    """Serves one site on the loopback, at a free port."""

    daemon_threads = True

    def __init__(self, site: Site) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.site = site

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up in the middle."""


def serving(site: Site) -> Iterator[Site]:
    """Serve until the generator is closed."""
    server = Server(site)
    host, port = server.server_address[:2]
    site.url = f"http://{host!s}:{port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.done.set()
        server.shutdown()
        server.server_close()
        thread.join()
