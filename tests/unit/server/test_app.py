"""The whole application behind its guard: callers, caches, pages, MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from satchel import Satchel
from satchel.errors import ConfigError
from satchel.server import Caller, GuardSettings, ServedLibrary, create_app, guarded_app
from satchel.server._guard._tokens import FixedTokens, Token, digest_of
from satchel.testing import write_pack

if TYPE_CHECKING:
    from pathlib import Path

ALL, SOME = "t0ken-for-all-of-the-skills", "t0ken-for-some-of-the-skills"
TOKENS = FixedTokens(
    [
        Token(Caller("all"), digest_of(ALL)),
        Token(Caller("some", ("b*",)), digest_of(SOME)),
    ]
)
PAGE = "https://app.example.com"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def library(tmp_path: Path) -> ServedLibrary:
    write_pack(tmp_path, "alpha")
    write_pack(tmp_path, "beta")
    return ServedLibrary(Satchel(tmp_path, sinks=()))


def _client(library: ServedLibrary, settings: GuardSettings) -> TestClient:
    return TestClient(guarded_app(library, settings), base_url="http://127.0.0.1")


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_opens_its_own_skills_and_its_answers_are_kept_apart(
    library: ServedLibrary,
) -> None:
    client = _client(library, GuardSettings(tokens=TOKENS))

    whole = client.get("/v1/catalog", headers=_bearer(ALL))
    part = client.get("/v1/catalog", headers=_bearer(SOME))
    unknown = client.get("/v1/catalog", headers=_bearer("t0ken-of-nobody-at-all"))
    nobody = client.get("/v1/catalog")

    assert [each["id"] for each in whole.json()["skills"]] == ["alpha", "beta"]
    assert [each["id"] for each in part.json()["skills"]] == ["beta"]
    assert whole.headers["cache-control"] == "private, max-age=60"
    assert "Authorization" in whole.headers["vary"]
    assert whole.headers["etag"] != part.headers["etag"]
    assert (unknown.status_code, nobody.status_code) == (401, 401)
    assert nobody.json()["error"]["code"] == "token-required"


def test_the_description_tells_of_the_token(library: ServedLibrary) -> None:
    asking = _client(library, GuardSettings(tokens=TOKENS))
    open_to_all = _client(library, GuardSettings())

    assert "security" in asking.get("/v1/openapi.json", headers=_bearer(ALL)).json()
    assert "security" not in open_to_all.get("/v1/openapi.json").json()


def test_health_is_for_those_who_watch(library: ServedLibrary) -> None:
    client = _client(library, GuardSettings(tokens=TOKENS))

    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    assert client.get("/readyz", headers=_bearer(ALL)).json()["skills"] == 2
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers=_bearer(SOME)).status_code == 403
    assert client.get("/metrics", headers=_bearer(ALL)).status_code == 200


def test_pages_that_are_let_in_may_read(library: ServedLibrary) -> None:
    client = _client(library, GuardSettings(allowed_origins=(PAGE,)))
    asked = {"Origin": PAGE, "Access-Control-Request-Method": "GET"}

    answer = client.get("/v1/catalog", headers={"Origin": PAGE})

    assert answer.headers["access-control-allow-origin"] == PAGE
    assert client.options("/v1/catalog", headers=asked).status_code == 204
    assert (
        client.get("/v1/catalog", headers={"Origin": "https://e.org"}).status_code
        == 403
    )


def test_mcp_is_on_the_same_port_for_the_same_callers(library: ServedLibrary) -> None:
    accept = {"Accept": "application/json, text/event-stream"}
    with _client(library, GuardSettings(tokens=TOKENS)) as client:
        refused = client.post("/mcp", json=INITIALIZE, headers=accept)
        taken = client.post("/mcp", json=INITIALIZE, headers=accept | _bearer(ALL))
        elsewhere = client.post("/mcp/x", json=INITIALIZE, headers=_bearer(ALL))

    assert refused.status_code == 401
    assert taken.json()["result"]["serverInfo"]["name"] == "satchel"
    assert elsewhere.status_code == 404


def test_without_a_guard_mcp_is_for_loopback_alone(library: ServedLibrary) -> None:
    accept = {"Accept": "application/json, text/event-stream"}
    with TestClient(create_app(library), base_url="http://evil.example") as client:
        assert client.post("/mcp", json=INITIALIZE, headers=accept).status_code == 421


def test_nobody_listens_to_all_without_asking_who_calls(library: ServedLibrary) -> None:
    with pytest.raises(ConfigError):
        guarded_app(library, GuardSettings(host="0.0.0.0"))  # noqa: S104
