"""The three ways to a skill: a library in this process, and a server's two faces."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from tests.abuse.over_mcp import META, headers_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from satchel import Satchel

__all__ = ["Asker", "OfHttp", "OfLibrary", "OfMcp"]


class Asker(Protocol):
    """One client. It returns a body, or raises `LookupError` with what it was told."""

    def load(self, skill_id: str) -> str:
        """Load a skill."""
        ...

    def look(self) -> None:
        """Ask for a list, a search, and whether all is well."""
        ...

    def close(self) -> None:
        """End the connection, if there is one."""
        ...


class OfLibrary:
    """A session of a library."""

    def __init__(self, skills: Satchel) -> None:
        self._skills = skills

    def load(self, skill_id: str) -> str:
        from satchel.errors import SkillError

        try:
            return self._skills.load(skill_id).body
        except SkillError as error:
            raise LookupError(f"{error.code}: {error}") from error

    def look(self) -> None:
        assert len(self._skills.prompt().text)
        assert self._skills.find("stable testing")

    def close(self) -> None:
        """Nothing is held: the library is somebody else's."""


class _Client:
    """Keeps one connection to a server."""

    def __init__(self, url: str) -> None:
        self._at = urlsplit(url).netloc
        self._connection = http.client.HTTPConnection(self._at, timeout=60)
        self.close = self._connection.close

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        more: dict[str, str] | None = None,
    ) -> tuple[int, Any]:
        accept = {"Accept": "application/json, text/event-stream"}
        headers = {**accept, **(more or {})}
        sent = None
        if body is not None:
            sent = json.dumps(body)
            headers["Content-Type"] = "application/json"
        for left in (1, 0):
            try:
                self._connection.request(method, path, sent, headers)
                answer = self._connection.getresponse()
                return answer.status, _parsed(answer.read())
            except (http.client.RemoteDisconnected, ConnectionError):
                self._connection.close()  # it was idle for too long
                if not left:
                    raise
        raise AssertionError


def _parsed(data: bytes) -> Any:  # noqa: ANN401 - JSON
    text = data.decode()
    if text.startswith(("event:", "data:", "id:")):
        text = next(
            line.removeprefix("data:")
            for line in text.splitlines()
            if line.startswith("data:") and "jsonrpc" in line
        )
    try:
        return json.loads(text)
    except ValueError:
        return text


class OfHttp:
    """The API for programs that speak no MCP."""

    def __init__(self, url: str) -> None:
        self._client = _Client(url)
        self.close = self._client.close

    def load(self, skill_id: str) -> str:
        status, answer = self._client.ask("GET", f"/v1/skills/{skill_id}")
        if status != http.client.OK:
            raise LookupError(f"{status} {answer}")
        return str(answer["instructions"]).split("---\n", 2)[2]

    def look(self) -> None:
        for path in ("/healthz", "/v1/catalog", "/v1/find?q=stable+testing"):
            status, _ = self._client.ask("GET", path)
            assert status == http.client.OK, (path, status)


class OfMcp:
    """The tools of the server, over Streamable HTTP."""

    def __init__(self, url: str) -> None:
        self._client = _Client(url)
        self.close = self._client.close
        self._number = 0

    def load(self, skill_id: str) -> str:
        params = {"name": "load_skill", "arguments": {"name": skill_id}}
        answer = self._ask("tools/call", params)
        if "error" in answer:
            raise LookupError(str(answer["error"]))
        told = answer["result"]["structuredContent"]
        if told["error"]:
            raise LookupError(told["error"])
        return str(told["body"])

    def look(self) -> None:
        for method in ("tools/list", "skills/list", "resources/list"):
            answer = self._ask(method, {})
            assert "result" in answer, answer

    def _ask(self, method: str, params: Mapping[str, object]) -> Any:  # noqa: ANN401
        self._number += 1
        body = {
            "jsonrpc": "2.0",
            "id": self._number,
            "method": method,
            "params": {**params, "_meta": META},
        }
        _, answer = self._client.ask("POST", "/mcp", body, headers_for(body))
        return answer
