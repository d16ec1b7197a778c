"""``satchel serve``: real processes, real clients, and what is refused."""

import gc
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from satchel import Satchel
from satchel.errors import ConfigError
from satchel.testing import write_pack
from satchel_server import ServedLibrary, _run as running, listen
from satchel_server.commands import _serving as cli_serving
from satchel_server.usage import MetricsSink
from tests.functional.library import run
from tests.functional.serving import serving

EXAMPLE = Path(__file__).parents[2] / "examples" / "over_http.py"
TOKEN = "t0ken-of-a-test-that-is-long-enough"  # noqa: S105
_WHERE = re.compile(r"MCP +(http://\S+)/mcp")
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def pack_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "skills"
    write_pack(home, "alpha", files={"references/guide.md": "# Guide\n"})
    write_pack(home, "Beta_2", "Use for beta.")  # a name that no index may list
    return home


@posix
@pytest.mark.row("C25")
def test_one_port_serves_every_kind_of_client(
    pack_folder: Path, tmp_path: Path
) -> None:
    """MCP, the API, discovery; and what was used is kept when it is ended."""
    events = tmp_path / "usage.db"
    usage = {"SATCHEL_USAGE": f"sqlite://{events}"}
    with serving("--skills", "skills", "--v1-index", cwd=tmp_path, env=usage) as served:
        url = served.url
        with httpx2.Client(base_url=url, timeout=30) as http:
            index = http.get("/.well-known/agent-skills/index.json").json()
            file = http.get("/v1/skills/alpha/files/guide.md")
            ready = http.get("/readyz")
            metrics = http.get("/metrics").text
            old = http.get("/.well-known/skills/index.json")
            evil = http.get("/v1/catalog", headers={"Host": "evil.example"})
        tools, _ = anyio.run(_load, f"{url}/mcp")
        example = subprocess.run(
            [sys.executable, EXAMPLE, url, "alpha"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        status = served.stop()

    assert [item["name"] for item in index["skills"]] == ["alpha"]
    assert file.content == b"# Guide\n"
    assert ready.json()["skills"] == 2
    assert 'skill_load_total{name="alpha",source="skills"} 1.0' in metrics
    assert "satchel_ready 1" in metrics
    assert old.status_code == 200
    assert evil.status_code == 421
    assert "load_skill" in tools
    assert example.stdout.startswith("system prompt: ")
    assert "  references/guide.md: 8 bytes" in example.stdout
    assert status == 0
    assert served.process.stdout is not None
    output = "\n".join(served.said)
    assert "serving 2 skills from skills" in output
    assert "1 skill not in the discovery index:" in output
    assert f"claude mcp add --transport http satchel {url}/mcp" in output
    assert output.endswith("stopped")
    assert _loads(events) == [
        ("alpha", "references/guide.md", "http"),
        ("alpha", None, "mcp"),
        ("alpha", None, "http"),
        ("alpha", None, "http"),
        ("alpha", "references/guide.md", "http"),
    ]


@pytest.mark.slow
@posix
@pytest.mark.row("F03", "F06", "T02")
def test_a_server_that_starts_with_a_conflict_serves_the_rest(
    pack_folder: Path, tmp_path: Path
) -> None:
    """It says each way out, and one of them is an option of its own."""
    write_pack(tmp_path / "more" / "team", "alpha", "Use for something else.")
    places = ("--skills", "skills", "--skills", "more")
    with serving(*places, cwd=tmp_path) as served:
        with httpx2.Client(base_url=served.url, timeout=30) as http:
            contested = http.get("/v1/skills/alpha")
            beta = http.get("/v1/skills/Beta_2")
            write_pack(pack_folder, "Beta_2", "Use for beta.", body="# Edited\n")
            edited = http.get("/v1/skills/Beta_2/files/SKILL.md")
        assert served.stop() == 0
    with serving(*places, "--prefix", "{parent}", cwd=tmp_path) as served:
        skills = httpx2.get(f"{served.url}/v1/catalog", timeout=30).json()["skills"]
        assert served.stop() == 0

    assert contested.json()["error"]["code"] == "duplicate-skill"
    assert (contested.status_code, beta.status_code) == (503, 200)
    assert edited.text.endswith("# Edited\n")
    ids = [skill["id"] for skill in skills]
    assert ids == ["skills-Beta_2", "skills-alpha", "team-alpha"]


async def _load(server: str | StdioServerParameters) -> tuple[list[str], str]:
    async with Client(server) as client:
        tools = await client.list_tools()
        result: Any = await client.call_tool("load_skill", {"name": "alpha"})
        return [tool.name for tool in tools.tools], str(result.content[0].text)


def _loads(file: Path) -> list[tuple[str, str | None, str]]:
    with closing(sqlite3.connect(file)) as base:
        rows = base.execute("SELECT name, reference, via FROM loads ORDER BY at")
        return [*rows]


def test_over_stdio_nothing_but_the_protocol_reaches_standard_output(
    pack_folder: Path,
) -> None:
    """A stray line there would end the client's session."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "satchel", "serve", "--stdio", "--skills", str(pack_folder)],
        env={**os.environ, "SATCHEL_USAGE": "off"},
    )

    names, text = anyio.run(_load, parameters)

    assert "load_skill" in names
    assert "alpha" in text


@pytest.mark.slow
@posix
@pytest.mark.row("F16", "F17", "T10")
def test_an_empty_mount_and_a_full_disk_are_told_where_an_operator_looks(
    pack_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    off = {"SATCHEL_USAGE": "off"}
    with serving("--skills", "empty", cwd=tmp_path, env=off) as served:
        answer = httpx2.get(f"{served.url}/readyz", timeout=30)
        assert answer.status_code == 503
        assert answer.json()["reasons"][0]["code"] == "empty-library"
        assert any("no skill is served: 0 packs found" in line for line in served.said)
    if not Path("/dev/full").exists():
        return
    full = {"SATCHEL_USAGE": "jsonl:///dev/full"}
    with serving("--skills", "skills", cwd=tmp_path, env=full) as served:
        with httpx2.Client(base_url=served.url, timeout=30) as http:
            assert http.get("/v1/skills/alpha").status_code == 200
            answer = http.get("/readyz")
            figures = http.get("/metrics").text
        assert answer.status_code == 200
        (reason,) = answer.json()["degraded"]
        assert reason["code"] == "usage-not-kept"
        assert answer.json()["usage"]["waiting"] >= 1
        assert "satchel_usage_kept 0\n" in figures
        assert 'satchel_http_requests_total{part="v1",status="200"} 1\n' in figures


def test_strict_does_not_start_what_is_not_ready(pack_folder: Path) -> None:
    write_pack(pack_folder.parent / "more", "alpha", "Use for something else.")

    result = run("serve", "--skills", "skills", "--skills", "more", "--strict")

    assert result.exit_code == 1
    assert "degraded, and /readyz says so:" in result.stderr
    assert "skill 'alpha' is claimed by skills/alpha and more/alpha" in result.stderr
    assert result.stderr.endswith("not started, because of --strict\n")
    assert not result.stdout
    # Many reasons are reported in short.
    for number in range(7):
        broken(pack_folder, f"broken-{number}")
    result = run("serve", "--skills", "skills", "--strict")
    assert "  and 2 more\n" in result.stderr


def broken(folder: Path, name: str, text: str = "no frontmatter") -> None:
    (folder / name).mkdir()
    (folder / name / "SKILL.md").write_text(text)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--host", "0.0.0.0"), "--token-file FILE"),  # noqa: S104
        (("--token-file", "nowhere"), "nowhere: no such file"),
        (("--oauth-issuer", "https://id.test"), "--oauth-resource, --oauth-jwks"),
        (("--skills", "nowhere"), "nowhere: no such file"),
        (("--port", "65536"), "65535"),
        (("--budget", "some"), "neither a count"),
    ],
    ids=["open to all", "no token file", "half of OAuth", "path", "port", "budget"],
)
def test_what_cannot_be_served_is_told(
    pack_folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    result = run("serve", "--skills", "skills", *arguments)

    assert result.exit_code == 2
    assert says in result.stderr


def test_without_the_extra_the_command_that_fixes_it_is_told(
    pack_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_serving, "_NEEDED", ("mcp", "no_such_module_here"))

    result = run("serve", "--skills", "skills")

    assert result.exit_code == 2
    assert "[serve]" in result.stderr


@posix
@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        ((), {}, "claude mcp add --transport http satchel http://127.0.0.1:"),
        (("--host", "::1"), {}, "http://[::1]:"),
        (
            ("--host", "0.0.0.0", "--name", "desk"),  # noqa: S104
            {"SATCHEL_TOKEN": TOKEN},
            "--token-env SATCHEL_TOKEN --write",
        ),
    ],
    ids=["loopback", "IPv6", "with a token"],
)
def test_it_says_where_it_is_and_ends_when_told_to(
    pack_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    env: dict[str, str],
    says: str,
) -> None:
    """In this process, which a signal is sent to once it answers."""
    if "::1" in arguments:
        try:
            listen("::1", 0).close()
        except ConfigError:
            pytest.skip("this machine has no IPv6")
    monkeypatch.setenv("SATCHEL_USAGE", "off")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    answers: list[httpx2.Response] = []
    output: list[str] = []

    def ask() -> None:
        url = next(filter(None, map(_WHERE.search, output)))[1]
        shown = {"Authorization": f"Bearer {TOKEN}"} if env else {}
        with httpx2.Client(base_url=url, headers=shown, timeout=30) as http:
            answers.extend(map(http.get, ("/v1/skills/alpha", "/metrics")))
        os.kill(os.getpid(), signal.SIGTERM)

    def tell(text: str) -> None:
        output.append(text)
        if text == "stop with Ctrl-C":
            threading.Thread(target=ask).start()

    monkeypatch.setattr(cli_serving, "echo_error", tell)
    result = run("serve", "--skills", "skills", "--port", "0", *arguments)

    assert result.exit_code == 0
    assert [answer.status_code for answer in answers] == [200, 200]
    assert "skill_catalog_tokens" in answers[1].text
    assert any(says in line for line in output)
    assert output[-1] == "stopped"
    if env:
        assert "callers need a token: Authorization: Bearer ..." in output
        assert TOKEN not in "".join(output)


def test_figures_are_there_though_two_packs_claim_one_name(
    pack_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pack(pack_folder.parent / "more", "alpha", "Use for something else.")
    with Satchel("skills", "more") as skills, closing(MetricsSink()) as metrics:
        cli_serving.measure(metrics, ServedLibrary(skills))

        tokens = skills.prompt().tokens
        assert f"skill_catalog_tokens {tokens}.0".encode() in metrics.render()[0]


@pytest.mark.parametrize("killed", [False, True])
def test_over_stdio_it_ends_with_its_client_or_by_a_signal(
    pack_folder: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """The thread that waits for standard input must not keep the process."""
    ended: list[int] = []

    async def serve(library: ServedLibrary) -> None:
        if killed:
            os.kill(os.getpid(), signal.SIGTERM)
            await anyio.sleep_forever()

    monkeypatch.setenv("SATCHEL_USAGE", "off")
    monkeypatch.setattr(running, "run_stdio", serve)
    monkeypatch.setattr(os, "_exit", ended.append)
    write_pack(pack_folder, "hidden", disable_model_invocation=True)

    result = run("serve", "--skills", "skills", "--stdio")

    assert result.exit_code == 0
    assert ended == ([0] if killed else [])
    assert not result.stdout
    assert "MCP over standard input and output" in result.stderr
    assert "1 pack not listed: see satchel list skills\n" in result.stderr


def test_tokens_of_an_authorization_server_may_be_taken(pack_folder: Path) -> None:
    broken(pack_folder, "broken")
    oauth = (
        "--oauth-issuer=https://id.example.com --oauth-scope=skills "
        "--oauth-resource=https://skills.example.com/mcp "
        "--oauth-jwks=https://id.example.com/keys"
    )

    # It is let listen anywhere, and comes as far as what --strict asks.
    options = ("--skills=skills", "--host=0.0.0.0", *oauth.split(), "--strict")

    assert run("serve", *options).exit_code == 1


@pytest.mark.parametrize("settles", [True, False])
def test_the_interpreter_is_left_as_it_was(settles: bool) -> None:
    """Also where nothing could be served: the caller may go on."""
    before = gc.isenabled(), gc.get_freeze_count(), sys.getswitchinterval()

    def fail() -> None:
        with cli_serving._short_thread_switches() as settle:
            assert not gc.isenabled()
            if settles:
                settle()
                assert gc.isenabled()
            raise ConfigError("satchel serve", "no")

    with pytest.raises(ConfigError):
        fail()

    assert (gc.isenabled(), gc.get_freeze_count(), sys.getswitchinterval()) == before


@pytest.mark.parametrize(
    "typed",
    [
        *(("--host", "127.0.0.1"), ("--port", "8321"), ("--no-ui",), ("--v1-index",)),
        *(("--no-access-log",), ("--rate", "5"), ("--limit", "max_requests=1")),
        *(("--token-file", "token"), ("--tokens", "tokens.toml")),
        *(("--allow-host", "a.example"), ("--allow-origin", "https://a.example")),
        *(("--oauth-issuer", "https://a"), ("--oauth-scope", "skills:read")),
    ],
)
def test_with_stdio_an_option_of_http_is_refused(
    pack_folder: Path, typed: tuple[str, ...]
) -> None:
    """Also with the value that it has anyway: who types it expects something of it."""
    result = run("serve", str(pack_folder), "--stdio", *typed)

    assert result.exit_code == 2
    assert f"error: {typed[0]}: it is for HTTP: with --stdio" in result.stderr
