"""The three ways to a skill: a library in this process, and a server's two faces."""

from collections.abc import Mapping
from typing import Any, Protocol

import httpx2

from satchel import Satchel
from tests.abuse.over_mcp import META, headers_for

__all__ = ["Asker", "OfHttp", "OfLibrary", "OfMcp"]


class Asker(Protocol):
    """One client. It returns a body, or raises `LookupError` with an error."""

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


class OfHttp:
    """The API for programs that speak no MCP."""

    def __init__(self, url: str) -> None:
        self._client = httpx2.Client(base_url=url, timeout=60)
        self.close = self._client.close

    def load(self, skill_id: str) -> str:
        answer = self._client.get(f"/v1/skills/{skill_id}")
        if not answer.is_success:
            raise LookupError(f"{answer.status_code} {answer.text}")
        return str(answer.json()["instructions"]).split("---\n", 2)[2]

    def look(self) -> None:
        for path in ("/healthz", "/v1/catalog", "/v1/find?q=stable+testing"):
            self._client.get(path).raise_for_status()


class OfMcp:
    """The tools of the server, over Streamable HTTP."""

    def __init__(self, url: str) -> None:
        accept = {"Accept": "application/json, text/event-stream"}
        self._client = httpx2.Client(base_url=url, timeout=60, headers=accept)
        self.close = self._client.close
        self._number = 0

    def load(self, skill_id: str) -> str:
        params = {"name": "load_skill", "arguments": {"skill_id": skill_id}}
        answer = self._ask("tools/call", params)
        if "error" in answer:
            raise LookupError(str(answer["error"]))
        result = answer["result"]["content"][0]["text"]
        if answer["result"].get("isError"):
            raise LookupError(result)
        return str(result).partition("\n\n")[2]

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
        return self._client.post("/mcp", json=body, headers=headers_for(body)).json()
