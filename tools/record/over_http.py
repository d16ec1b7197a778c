"""What the JSON API answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from starlette.testclient import TestClient

from satchel import Options, Satchel
from satchel_server import ServedLibrary, ServerSettings, create_app
from tools.record.answers import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PATHS: Final = (
    "/",
    "/healthz",
    "/readyz",
    "/v1/catalog",
    "/v1/catalog?limit=2",
    "/v1/catalog?limit=0",
    "/v1/prompt",
    "/v1/prompt?format=markdown&style=packs",
    "/v1/prompt?format=json&budget=none",
    "/v1/prompt?budget=nonsense",
    "/v1/find?q=tax%20form",
    "/v1/find?q=review%20a%20pull%20request&k=3",
    "/v1/find",
    "/v1/skills/no-such-skill",
    "/v1/skills/%2e%2e",
    "/v1/nothing",
    "/.well-known/agent-skills/index.json",
    "/openapi.json",
)
MOST: Final = 120
"""Skills of a library that are asked for one by one."""
HEADERS: Final = ("content-type", "etag", "cache-control", "x-content-type-options")


def ask(home: Path, libraries: Mapping[str, Path]) -> Iterator[Answer]:
    """Ask a server in this process, for every library."""
    for name, folder in libraries.items():
        with Satchel(
            folder, sinks=(), options=Options(on_conflict="precedence")
        ) as skills:
            client = TestClient(
                create_app(ServedLibrary(skills, ServerSettings(style="packs"))),
                raise_server_exceptions=False,
            )
            for path in PATHS:
                yield _get(name, client, path, home)
            for entry in skills.catalog.entries[:MOST]:
                address = f"/v1/skills/{quote(entry.id, safe='')}"
                yield _get(name, client, address, home)
                for file in entry.resources[:2]:
                    path = f"{address}/files/{quote(file)}"
                    yield _get(name, client, path, home)


def _get(name: str, client: TestClient, path: str, home: Path) -> Answer:
    response = client.get(path)
    headers = "".join(
        f"{key}: {response.headers[key]}\n"
        for key in HEADERS
        if key in response.headers
    )
    text = f"{response.status_code}\n{headers}\n{response.text}"
    return answer(f"{name} GET {path}", text, home)
