"""Which pages in a browser may read what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from satchel.serve.app import create_app
from satchel.serve.http.settings import HttpSettings

if TYPE_CHECKING:
    from satchel.serve.library import Library

INDEX = "/.well-known/agent-skills/index.json"
HERE = "https://app.example.com"


@pytest.mark.parametrize(
    ("path", "cors", "origin", "allowed", "varies"),
    [
        (INDEX, (), HERE, "*", False),
        (INDEX, (), "", "*", False),
        ("/v1/catalog", (), HERE, None, False),
        ("/v1/catalog", (HERE,), HERE, HERE, True),
        ("/v1/catalog", (f"{HERE}/",), HERE.upper(), HERE.upper(), True),
        ("/v1/catalog", (HERE,), "https://evil.example", None, True),
        ("/v1/catalog", (HERE,), "", None, True),
        ("/v1/catalog", ("*",), "https://any.example", "*", False),
        ("/v1/nothing", ("*",), "https://any.example", "*", False),
        ("/readyz", ("*",), HERE, None, False),
    ],
)
def test_a_page_may_read_what_is_for_it(  # noqa: PLR0913, PLR0917 - a table
    library: Library,
    path: str,
    cors: tuple[str, ...],
    origin: str,
    allowed: str | None,
    varies: bool,
) -> None:
    client = TestClient(create_app(library, HttpSettings(cors=cors)))

    answer = client.get(path, headers={"Origin": origin} if origin else {})

    assert answer.headers.get("access-control-allow-origin") == allowed
    assert ("Origin" in answer.headers.get("vary", "")) is varies
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    ("path", "cors", "status"),
    [
        (INDEX, (), 204),
        ("/v1/find", (HERE,), 204),
        ("/v1/find", (), 405),
        ("/v1/find", ("https://other.example",), 405),
    ],
)
def test_a_browser_asks_for_leave_first(
    library: Library, path: str, cors: tuple[str, ...], status: int
) -> None:
    client = TestClient(create_app(library, HttpSettings(cors=cors)))
    asked = {
        "Origin": HERE,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
    }

    answer = client.options(path, headers=asked)

    assert answer.status_code == status
    if status == 204:
        assert "Authorization" in answer.headers["access-control-allow-headers"]
        assert answer.headers["access-control-allow-methods"] == "GET, HEAD"
