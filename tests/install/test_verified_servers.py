"""A server hands out what an approved lock has, and nothing else."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.functional.library import run
from tests.functional.serving import serving
from tests.install.conftest import Upstream


def asked(url: str, document: object = None, session: str = "") -> tuple[int, str, str]:
    """Return the status, the text and the session of an answer."""
    data = None if document is None else json.dumps(document).encode()
    accepted = "application/json, text/event-stream"
    headers = {"Content-Type": "application/json", "Accept": accepted}
    if session:
        headers["Mcp-Session-Id"] = session
    request = urllib.request.Request(url, data, headers)  # noqa: S310 - of this machine
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            name = answer.headers.get("Mcp-Session-Id", "")
            return answer.status, answer.read().decode(), name
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), ""


def loaded(url: str, tool: str, **arguments: str) -> str:
    """Return what a tool answers over MCP, in a session of its own."""
    about: dict[str, object] = {"protocolVersion": "2025-06-18", "capabilities": {}}
    about["clientInfo"] = {"name": "test", "version": "1"}
    document = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    session = asked(f"{url}/mcp", document)[2]
    call = {"name": tool, "arguments": arguments}
    document = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    return asked(f"{url}/mcp", document, session)[1]


@pytest.mark.slow
@pytest.mark.usefixtures("verifying")
def test_one_flipped_bit_is_refused_over_http_and_mcp(
    project: Path, upstream: Upstream
) -> None:
    assert run("add", upstream.address, "--skill", "pdf").exit_code == 0
    script = project / "skills/pdf/scripts/fill.py"
    with serving("skills", cwd=project) as served:
        path = "/v1/skills/pdf/files/scripts/fill.py"
        assert asked(f"{served.url}/v1/skills/pdf")[0] == 200
        status, text, _ = asked(served.url + path)
        assert (status, "filled" in text) == (200, True), text
        files = {"skill_id": "pdf", "path": "scripts/fill.py"}
        assert "filled" in loaded(served.url, "read_skill_file", **files)

        script.write_text("print('fillee')\n")
        status, text, _ = asked(served.url + path)
        assert status >= 400
        assert "fillee" not in text
        answer = loaded(served.url, "read_skill_file", **files)
        assert "fillee" not in answer
        assert "is not what was announced" in answer

        skill = project / "skills/pdf/SKILL.md"
        skill.write_text(skill.read_text().replace("# pdf", "# pdg"))
        status, text, _ = asked(f"{served.url}/v1/skills/pdf")
        assert status >= 400
        assert "# pdg" not in text + loaded(served.url, "load_skill", skill_id="pdf")
