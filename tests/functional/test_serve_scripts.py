"""``satchel serve --runner``: real processes, and real clients with tokens."""

import os
import signal
import stat
import sys
import time
from base64 import b64decode
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from satchel.testing import write_pack
from satchel_scripts import Sandbox
from tests.functional.library import run
from tests.functional.serving import Served, serving

pytestmark = pytest.mark.row("U14")

ANA, BO, CY = "token-of-ana-is-long", "token-of-bo-is-long", "token-of-cy-is-long"
ERAS: Final = ("auto", "legacy")
SCRIPTS: Final = {
    "scripts/fill.py": (
        "import pathlib, sys\n"
        "name, out = sys.argv[1:]\n"
        "pathlib.Path(out).parent.mkdir(exist_ok=True)\n"
        "pathlib.Path(out).write_text(f'Dear {name}!')\n"
        "pathlib.Path('dot.png').write_bytes(b'\\x89PNG\\x00\\xff')\n"
        "print('filled in', out)\n"
    ),
    "scripts/link.py": (
        "import os\nos.symlink('/etc/passwd', 'passwd')\n"
        "os.symlink('/etc', 'etc')\nopen('real.txt', 'w').write('real')\n"
    ),
    "scripts/look.py": (
        "import os\n"
        "for folder, folders, files in os.walk('..'):\n"
        # What a machine has of programs takes long, and work folders are not there.
        "    folders[:] = {*folders} - {'usr', 'lib', 'share', 'proc', 'sys'}\n"
        "    print(folder, files)\n"
    ),
    "scripts/loud.py": "print('loud ' * 1_000_000)\n",
    "scripts/slow.py": (
        "import subprocess, sys, time\n"
        "mark = sys.argv[1]\n"
        "wait = 'import time; time.sleep(99)'\n"
        "subprocess.Popen([sys.executable, '-c', wait, mark])\n"
        "time.sleep(99)\n"
    ),
}

sandboxed = pytest.mark.skipif(
    Sandbox().kind == "none",
    reason="no sandbox works here: run `make engines`",
)


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SATCHEL_USAGE", "off")
    home = tmp_path / "skills"
    for name in ("letters", "secret"):
        write_pack(home, name, f"Use for {name}.", files=SCRIPTS)
    write_pack(home, "plain", "Use for nothing that runs.")
    return home


@contextmanager
def served(folder: Path, *more: str, scripts: str = '["letters"]') -> Generator[Served]:
    """Serve two callers who may run scripts, in folders, and one who may not."""
    tokens = folder / "tokens.toml"
    tokens.write_text(
        f'[[token]]\nname = "ana"\ntoken = "{ANA}"\nscripts = {scripts}\n'
        f'[[token]]\nname = "Ana"\ntoken = "{BO}"\nscripts = {scripts}\n'
        f'[[token]]\nname = "cy"\ntoken = "{CY}"\nonly = ["letters"]\n'
    )
    tokens.chmod(0o600)
    arguments = ("skills", "--tokens", "tokens.toml", "--work", "work")
    with serving(*arguments, "--runner", "sandbox", *more, cwd=folder) as one:
        assert any("MCP " in line for line in one.said), one.said
        yield one


@asynccontextmanager
async def client_of(url: str, token: str, era: str = "auto") -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(
            streamable_http_client(f"{url}/mcp", http_client=http),
            mode=era,
            cache=None,
        ) as client,
    ):
        yield client


async def call(client: Client, path: str, *args: str, skill: str = "letters") -> Any:  # noqa: ANN401 - what the package gives
    arguments = {"skill_id": skill, "path": f"scripts/{path}", "args": list(args)}
    return await client.call_tool("run_skill_script", arguments)


async def load(client: Client, skill: str = "letters") -> None:
    result = await client.call_tool("load_skill", {"skill_id": skill})
    assert not result.is_error


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def content(client: Client, uri: str) -> Any:  # noqa: ANN401 - of either kind
    (contents,) = (await client.read_resource(uri)).contents
    return contents


async def refused(client: Client, uri: str) -> str:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return str(caught.value)


def alive(mark: str) -> list[int]:
    """Return the processes of this machine that have a mark in their command."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in command and b"pytest" not in command:
                found.append(int(entry.name))
    return found


def wait_until(holds: Any, seconds: float = 15) -> None:  # noqa: ANN401
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never held"
        time.sleep(0.05)


@pytest.fixture
def mark() -> Iterator[str]:
    yield (name := f"satchel-test-{os.urandom(6).hex()}")
    for number in alive(name):
        os.kill(number, signal.SIGKILL)


@sandboxed
@pytest.mark.parametrize("era", ERAS)
def test_two_callers_run_scripts_and_neither_sees_the_others_files(
    skills: Path, era: str
) -> None:
    folder = skills.parent

    async def check(url: str) -> None:
        async with (
            client_of(url, ANA, era) as ana,
            client_of(url, BO, era) as bo,
            client_of(url, CY, era) as cy,
        ):
            assert "run_skill_script" in await names(ana)
            assert "run_skill_script" in await names(bo)
            await _offered_honestly(ana)
            await _unknown(cy)

            early = await call(ana, "fill.py", "Ana", "out/a b.txt")
            assert early.is_error
            assert "load the skill 'letters' first" in early.content[0].text

            await load(ana)
            # What one caller has loaded is not loaded by another.
            assert (await call(bo, "fill.py", "Bo", "x.txt")).is_error

            result = await call(ana, "fill.py", "Ana", "out/a b.txt")
            text, *links = result.content
            assert not result.is_error
            assert "out/a b.txt (text/plain, 9 bytes, sha256:" in text.text
            assert [link.uri for link in links] == [
                "satchel-work:///dot.png",
                "satchel-work:///out/a%20b.txt",
            ]
            assert (links[1].mime_type, links[1].size) == ("text/plain", 9)
            assert links[1].meta["satchel/digest"].startswith("sha256:")

            assert (await content(ana, links[1].uri)).text == "Dear Ana!"
            dot = await content(ana, links[0].uri)
            assert b64decode(dot.blob) == b"\x89PNG\x00\xff"
            for other in (bo, cy):
                assert "not served here" in await refused(other, links[1].uri)

            await load(bo)
            looked = await call(bo, "look.py")
            assert "a b.txt" not in looked.content[0].text

            await load(ana, "secret")
            denied = await call(ana, "fill.py", "Ana", "x", skill="secret")
            assert '"denied-by-policy"' in denied.content[0].text

    with served(folder) as one:
        anyio.run(check, one.url)
        assert one.stop() == 0

    mine, others = sorted(path.name for path in (folder / "work").iterdir())
    assert mine == "ana"
    assert others.startswith("ana+")  # of one whose name is Ana
    for path in (folder / "work", *(folder / "work").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


async def _offered_honestly(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    hints: Any = tools["run_skill_script"].annotations
    assert (hints.read_only_hint, hints.destructive_hint) == (False, True)
    assert (hints.idempotent_hint, hints.open_world_hint) == (False, False)


async def _unknown(client: Client) -> None:
    """To a caller without scripts the tool is as any that is not there."""
    assert "run_skill_script" not in await names(client)
    await load(client)
    with pytest.raises(MCPError) as theirs:
        await call(client, "fill.py", "Cy", "x.txt")
    with pytest.raises(MCPError) as none:
        await client.call_tool("no_such_tool", {})
    assert str(theirs.value) == str(none.value)


@sandboxed
def test_files_output_and_the_number_of_scripts_are_bounded(
    skills: Path, mark: str
) -> None:
    """All from one server, which takes a second to start."""
    with served(skills.parent) as one:
        anyio.run(_output_is_bounded, one.url)
        anyio.run(_a_caller_has_few_at_a_time, one.url, mark)
        wait_until(lambda: not alive(mark))
        anyio.run(_only_files_below_the_folder, one.url, skills.parent)


async def _only_files_below_the_folder(url: str, folder: Path) -> None:
    async with client_of(url, ANA) as ana:
        await load(ana)
        text, *links = (await call(ana, "link.py")).content
        assert [link.name for link in links] == ["real.txt"]
        assert "passwd: it is a link" in text.text
        # As one who may write there would put them.
        own = folder / "work" / "ana"
        (own / "planted").symlink_to("/etc/passwd")
        (own / "etc").symlink_to("/etc")
        os.mkfifo(own / "pipe")
        for path in (
            *("passwd", "planted", "etc/passwd", "pipe", ".", "", "nothing.txt"),
            *("../tokens.toml", "%2e%2e/%2e%2e/tokens.toml", "..%2f..%2ftokens.toml"),
            *("/etc/passwd", "%2fetc%2fpasswd", "real.txt%00", "%ff", "a" * 9_000),
            *("../ana/real.txt", "./real.txt", "real.txt/"),
        ):
            uri = f"satchel-work:///{path}"
            assert "not served here" in await refused(ana, uri), path
        with (own / "large.bin").open("wb") as file:
            file.truncate(11 * 1024 * 1024)
        large = await refused(ana, "satchel-work:///large.bin")
        assert "file_bytes" in large


async def _output_is_bounded(url: str) -> None:
    async with client_of(url, ANA) as ana:
        await load(ana)
        text = (await call(ana, "loud.py")).content[0].text
        assert len(text) < 200_000
        assert "scripts/loud.py ended with status 0" in text


async def _a_caller_has_few_at_a_time(url: str, mark: str) -> None:
    texts: list[str] = []
    async with client_of(url, ANA) as ana, client_of(url, BO) as bo:
        await load(ana)
        await load(bo)

        async def slow() -> None:
            result = await call(ana, "slow.py", mark)
            texts.append(result.content[0].text)

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(slow)
            while len(texts) < 2:  # noqa: ASYNC110 - another process
                await anyio.sleep(0.05)
            # Another caller does not wait for them, nor does a load.
            assert not (await call(bo, "fill.py", "Bo", "x.txt")).is_error
            await load(ana, "plain")
            group.cancel_scope.cancel()
    assert all("too many scripts" in text for text in texts)
    assert len(texts) == 2


@sandboxed
@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["cancel", "shutdown"])
def test_no_process_outlives_the_request(
    skills: Path, mark: str, era: str, how: str
) -> None:
    async def check(one: Served) -> None:
        async with client_of(one.url, ANA, era) as ana:
            await load(ana)
            async with anyio.create_task_group() as group:

                async def slow() -> None:
                    try:
                        await call(ana, "slow.py", mark)
                    except (MCPError, httpx2.HTTPError):
                        assert how == "shutdown"

                group.start_soon(slow)
                await _until_alive(mark)
                if how == "shutdown":
                    await anyio.to_thread.run_sync(one.stop)
                group.cancel_scope.cancel()

    with served(skills.parent) as one:
        try:
            anyio.run(check, one)
        except* (MCPError, httpx2.HTTPError, RuntimeError):
            assert how == "shutdown"  # nobody answers the goodbye
        wait_until(lambda: not alive(mark))


async def _until_alive(mark: str) -> None:
    with anyio.fail_after(20):
        while not alive(mark):  # noqa: ASYNC110 - another process
            await anyio.sleep(0.05)


@sandboxed
@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_hangs_up_ends_its_script(
    skills: Path, mark: str, era: str
) -> None:
    """It says nothing, as a program that is killed: its connection breaks."""
    headers = {"Authorization": f"Bearer {ANA}", "Accept": _ACCEPT}
    with served(skills.parent) as one:
        url = f"{one.url}/mcp"
        with httpx2.Client(headers=headers, timeout=20) as http:
            envelope: dict[str, object] = {}
            if era == "legacy":
                about = {"name": "test", "version": "1"}
                params = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": about,
                }
                began = http.post(url, json=_message("initialize", params))
                http.headers["Mcp-Session-Id"] = began.headers["mcp-session-id"]
                done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                assert http.post(url, json=done).status_code == 202
            else:
                version = "io.modelcontextprotocol/protocolVersion"
                client = "io.modelcontextprotocol/clientInfo"
                can = "io.modelcontextprotocol/clientCapabilities"
                about = {"name": "test", "version": "1"}
                envelope = {version: "2026-07-28", client: about, can: {}}
                http.headers["MCP-Protocol-Version"] = "2026-07-28"
                http.headers["Mcp-Method"] = "tools/call"

            def ask(tool: str, seconds: float, **arguments: object) -> None:
                http.headers["Mcp-Name"] = tool
                params = {"name": tool, "arguments": arguments, "_meta": envelope}
                message = _message("tools/call", params)
                answer = http.post(url, json=message, timeout=seconds)
                assert "result" in answer.json(), answer.text

            ask("load_skill", 20, skill_id="letters")
            path = "scripts/slow.py"
            with pytest.raises(httpx2.ReadTimeout):
                ask("run_skill_script", 3, skill_id="letters", path=path, args=[mark])
        wait_until(lambda: not alive(mark))


_ACCEPT: Final = "application/json, text/event-stream"


def _message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_over_stdio_the_local_user_runs_scripts_in_the_folder(skills: Path) -> None:
    folder = skills.parent
    (folder / "work").mkdir()
    (folder / "work" / "in.txt").write_text("from the user")

    async def check() -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=[
                *("-m", "satchel", "serve", "skills", "--stdio"),
                *("--runner", "subprocess", "--work", "work"),
                *("--scripts", "let*", "--scripts", "other"),
            ],
            env={**os.environ},
            cwd=folder,
        )
        async with Client(parameters, cache=None) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            hints: Any = tools["run_skill_script"].annotations
            assert hints.open_world_hint
            await load(client)
            result = await call(client, "fill.py", "Ana", "out.txt")
            assert "(no isolation)" in result.content[0].text
            letter = await content(client, "satchel-work:///out.txt")
            given = await content(client, "satchel-work:///in.txt")
            assert (letter.text, given.text) == ("Dear Ana!", "from the user")
            await load(client, "secret")
            denied = await call(client, "fill.py", "Ana", "x", skill="secret")
            assert '"denied-by-policy"' in denied.content[0].text

    anyio.run(check)
    assert (folder / "work" / "out.txt").read_text() == "Dear Ana!"


def _end_servers_in(folder: Path) -> None:
    for number in alive("--stdio"):
        if Path(f"/proc/{number}/cwd").readlink() == folder:
            os.kill(number, signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["signal", "end of input", "cancel"])
def test_over_stdio_no_process_is_left(skills: Path, mark: str, how: str) -> None:
    folder = skills.parent

    async def check() -> None:
        command = [
            *(sys.executable, "-m", "satchel", "serve", "skills", "--stdio"),
            *("--runner", "subprocess", "--work", "work", "--scripts", "*"),
        ]
        parameters = StdioServerParameters(
            command=command[0], args=command[1:], env={**os.environ}, cwd=folder
        )
        async with Client(parameters, cache=None) as client:
            await load(client)
            async with anyio.create_task_group() as group:

                async def slow() -> None:
                    try:
                        await call(client, "slow.py", mark)
                    except MCPError:
                        assert how == "signal"

                group.start_soon(slow)
                await _until_alive(mark)
                if how == "signal":
                    _end_servers_in(folder)
                    await anyio.to_thread.run_sync(wait_until, lambda: not alive(mark))
                group.cancel_scope.cancel()
            if how == "cancel":
                await anyio.to_thread.run_sync(wait_until, lambda: not alive(mark))
                await load(client)

    anyio.run(check)
    wait_until(lambda: not alive(mark))


SANDBOX: Final = ("--runner", "sandbox", "--work", "work")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--work", "work"), "--work: give --runner, too"),
        (("--stdio", "--scripts", "*"), "--scripts: give --runner, too"),
        (("--python", "python"), "--python: give --runner, too"),
        (("--runner", "sandbox"), "give --work FOLDER, too"),
        (("--stdio", *SANDBOX), "give --scripts PATTERN, too"),
        ((*SANDBOX, "--scripts", "*"), "--scripts is for --stdio"),
        (("--runner", "subprocess", "--work", "work"), "take sandbox, or --stdio"),
        (SANDBOX, 'write scripts = ["ID"]'),
        ((*SANDBOX, "--tokens", "tokens.toml"), 'write scripts = ["ID"]'),
        (
            ("--stdio", "--scripts", "*", *SANDBOX, "--python", "no/such"),
            "--python",
        ),
        (
            ("--stdio", "--scripts=*", "--runner=subprocess", "--work=a-file/work"),
            "--work a-file/work: Not a directory",
        ),
    ],
)
def test_what_does_not_say_who_may_run_what_is_refused(
    skills: Path, arguments: tuple[str, ...], says: str
) -> None:
    """Before the port is open, and in one line that says what to do."""
    Path("a-file").write_text("")
    Path("tokens.toml").write_text(f'[[token]]\nname = "cy"\ntoken = "{CY}"\n')
    Path("tokens.toml").chmod(0o600)

    result = run("serve", "skills", *arguments, width=None)

    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stderr.count("\n") == 1


def test_without_the_product_one_line_says_so(
    skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "satchel_scripts", None)

    result = run("serve", "skills", "--stdio", "--scripts", "*", *SANDBOX, width=None)

    assert result.exit_code == 2
    assert "satchel_scripts" in result.stderr


def test_where_no_sandbox_works_it_does_not_start(
    skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sandbox, "reason", "no sandbox works here: for a test")

    result = run("serve", "skills", "--stdio", "--scripts", "*", *SANDBOX, width=None)

    assert result.exit_code == 2
    assert "no sandbox works here: for a test" in result.stderr
