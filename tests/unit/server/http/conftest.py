"""A library of three packs behind a client in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel import Satchel
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import Caller, HttpSettings, ServedLibrary, create_app


@pytest.fixture
def pack_folder(tmp_path: Path) -> Path:
    home = tmp_path / "skills"
    write_pack(home, "alpha", "Use for alpha.", "Do alpha.\n")
    write_pack(
        home,
        "beta",
        "Use for beta forms.",
        files={
            "references/guide.md": "# Guide\n",
            "references/latin.txt": b"caf\xe9\n",
            "assets/page.html": "<script>alert(1)</script>",
            "assets/dot.png": b"\x89PNG\r\n\x1a\n\x00",
            "scripts/a/run.py": "print(1)\n",
            "scripts/b/run.py": "print(2)\n",
        },
    )
    write_pack(home, "gamma", "Use for gamma.", "Do gamma.\n")
    return home


@pytest.fixture
def sink() -> ListSink:
    return ListSink()


@pytest.fixture
def skills(pack_folder: Path, sink: ListSink) -> Satchel:
    return Satchel(pack_folder, sinks=[sink])


@pytest.fixture
def library(skills: Satchel) -> ServedLibrary:
    return ServedLibrary(skills)


@pytest.fixture
def client(library: ServedLibrary) -> TestClient:
    return TestClient(create_app(library), raise_server_exceptions=False)


def client_for(*what: object, **options: Any) -> TestClient:  # noqa: ANN401
    """Return a client of a Satchel that is opened here."""
    return TestClient(create_app(ServedLibrary(Satchel(*what, **options))))  # type: ignore[arg-type]


@pytest.fixture
def client_of(library: ServedLibrary) -> Callable[..., TestClient]:
    """Return a client as somebody: whom a guard would have let in."""

    def make(caller: Caller, settings: HttpSettings | None = None) -> TestClient:
        app = create_app(library, settings)
        return TestClient(_known(app, caller), raise_server_exceptions=False)

    return make


def _known(app: ASGIApp, caller: Caller) -> ASGIApp:
    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        state = {**scope.get("state", {}), "caller": caller}
        await app({**scope, "state": state}, receive, send)

    return run
