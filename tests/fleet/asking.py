"""Clients of a fleet: MCP in both eras, and the HTTP API."""

from typing import Any, Final

import httpx2

__all__ = ["CLIENTS", "EarlierClient", "HttpClient", "ModernClient"]

_ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
_ABOUT: Final = {"name": "fleet-test", "version": "1"}
MODERN: Final = "2026-07-28"


def _call_header(call: str) -> dict[str, str]:
    return {"Idempotency-Key": call} if call else {}


class HttpClient:
    """The API for programs that speak no MCP."""

    def __init__(self, url: str, **headers: str) -> None:
        self._client = httpx2.Client(base_url=url, timeout=60, headers=headers)
        self.close = self._client.close

    def load(self, skill_id: str, call: str = "") -> str:
        """Return the instructions of a skill; ``call`` is the id of this load."""
        headers = _call_header(call)
        answer = self._client.get(f"/v1/skills/{skill_id}", headers=headers)
        answer.raise_for_status()
        return str(answer.json()["instructions"])


class _McpClient:
    def __init__(self, url: str, **headers: str) -> None:
        self._client = httpx2.Client(
            base_url=url, timeout=60, headers=_ACCEPT | headers
        )
        self.close = self._client.close
        self._number = 0
        self._call: dict[str, str] = {}

    def load(self, skill_id: str, call: str = "") -> str:
        """Return what the tool of the model answers; ``call`` is the id of this."""
        arguments = {"skill_id": skill_id}
        self._call = _call_header(call)
        result = self.ask("tools/call", name="load_skill", arguments=arguments)
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])

    def ask(self, method: str, **params: Any) -> Any:  # noqa: ANN401
        """Return the result of a request."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method}
        answer = self._client.post(
            "/mcp",
            json={**message, "params": params},
            headers=self._headers(params) | self._call,
        )
        answer.raise_for_status()
        body = answer.json()
        assert "result" in body, body
        return body["result"]

    def _headers(self, params: dict[str, Any]) -> dict[str, str]:
        raise NotImplementedError


class ModernClient(_McpClient):
    """The era without sessions: each request says all."""

    def ask(self, method: str, **params: Any) -> Any:  # noqa: ANN401
        prefix = "io.modelcontextprotocol/"
        meta = {
            f"{prefix}protocolVersion": MODERN,
            f"{prefix}clientInfo": _ABOUT,
            f"{prefix}clientCapabilities": {},
        }
        self._method = method
        return super().ask(method, **params, _meta=meta)

    def _headers(self, params: dict[str, Any]) -> dict[str, str]:
        headers = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": self._method}
        name = params.get("name") or params.get("uri")
        return headers | ({"Mcp-Name": name} if name else {})


class EarlierClient(_McpClient):
    """The era in which a client begins a session, and names it in each request."""

    def __init__(self, url: str, **headers: str) -> None:
        super().__init__(url, **headers)
        self._session: dict[str, str] = {}
        self.begin()

    def begin(self) -> None:
        """Begin a session."""
        about = {"protocolVersion": "2025-11-25", "capabilities": {}}
        params = {**about, "clientInfo": _ABOUT}
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = self._client.post("/mcp", json=message)
        answer.raise_for_status()
        self._session = {
            "Mcp-Session-Id": answer.headers["Mcp-Session-Id"],
            "Mcp-Protocol-Version": "2025-11-25",
        }
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._client.post("/mcp", json=ready, headers=self._session).raise_for_status()

    def _headers(self, params: dict[str, Any]) -> dict[str, str]:
        del params
        return self._session


CLIENTS: Final = (HttpClient, ModernClient, EarlierClient)
