"""What ``satchel serve`` says: the port before all else, each request, each change."""

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import pytest

from satchel.testing import write_pack
from satchel_server import listen
from satchel_server._guard._messages import MAX_LOGGED_CHARS
from satchel_server.commands import _serving as server_log
from tests.functional.library import run
from tests.functional.serving import WAIT_S, Served, serving

pytestmark = pytest.mark.slow

pytest.importorskip("uvicorn")

REQUEST = re.compile(r"\d\d:\d\d:\d\d 127\.0\.0\.1 (.*) in \d+ ms")


@pytest.fixture(name="skills")
def library(here: Path) -> Path:
    """A library of one pack."""
    write_pack(here / "skills", "alpha", "Use when testing.")
    return here / "skills"


def request_lines(served: Served) -> list[str]:
    """End the server; return what it has printed of requests."""
    assert served.stop() == 0
    return [match[1] for match in map(REQUEST.fullmatch, served.said) if match]


def test_a_line_names_its_caller(skills: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SATCHEL_TOKEN", token := "a-token-of-this-test-alone")
    with serving("skills", cwd=skills.parent) as served:
        bearer = {"Authorization": f"Bearer {token}"}
        httpx2.get(f"{served.url}/v1/catalog", timeout=WAIT_S, headers=bearer)
        httpx2.get(f"{served.url}/v1/catalog", timeout=WAIT_S)
        lines = request_lines(served)

    assert lines == ["token GET /v1/catalog: 200", "GET /v1/catalog: 401"]
    assert token not in "".join(served.said)


def test_events_that_a_server_could_not_write_are_reported_as_it_ends(
    skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("SATCHEL_USAGE", "postgresql://ana:hush@127.0.0.1:1/usage")
    with serving("skills", cwd=skills.parent) as served:
        httpx2.get(f"{served.url}/v1/skills/alpha", timeout=WAIT_S)
        assert served.stop() == 0

    text = "\n".join(served.said)
    assert re.search(r"[1-9]\d* events? of use could not be written", text)
    assert "hush" not in text


@pytest.mark.parametrize(
    ("limit", "problem"),
    [
        ("max_request=1", "no such limit; there are body_timeout_s, burst, "),
        ("host=1", "no such limit"),
        ("burst", "expected a whole number"),
        ("burst=1.5", "expected a whole number"),
        ("drain_s=soon", "expected a number"),
        ("drain_s=0", "expected a number above 0"),
        ("drain_s=nan", "expected a number above 0"),
        ("finish_s=inf", "expected a number above 0"),
    ],
)
def test_a_limit_that_is_none_stops_it(skills: Path, limit: str, problem: str) -> None:
    done = run("serve", str(skills), "--limit", limit)

    assert done.exit_code == 2
    assert problem in done.stderr


def test_a_limit_holds(skills: Path) -> None:
    with serving("skills", "--limit", "max_body_bytes=10", cwd=skills.parent) as served:
        sent = httpx2.post(f"{served.url}/mcp", content=b"x" * 11, timeout=WAIT_S)
        assert served.stop() == 0

    assert sent.status_code == 413


@pytest.mark.row("F45")
def test_each_request_is_one_line_without_what_people_search_for(skills: Path) -> None:
    with serving("skills", cwd=skills.parent) as served:
        with httpx2.Client(base_url=served.url, timeout=WAIT_S) as http:
            http.get("/v1/skills/alpha?q=secret")
            http.get("/v1/skills/nobody")
            http.get("/v1/a%0A00:00:00%20127.0.0.1%20forged%1B%5B31m")
            http.post("/mcp", headers={"Mcp-Method": "tools/call", "Mcp-Name": "x"})
            http.get(f"/v1/{'a' * 1000}")
        lines = request_lines(served)

    assert [line.rpartition(": ")[2] for line in lines[:2]] == ["422", "404"]
    assert lines[1] == "GET /v1/skills/nobody: 404"
    assert lines[2].startswith(
        r"GET /v1/a<U+000A>00:00:00 127.0.0.1 forged<U+001B>[31m"
    )
    assert lines[3].startswith(r"POST /mcp tools/call x: 4")
    assert max(map(len, lines)) < MAX_LOGGED_CHARS + 20
    assert len(lines) == 5
    assert "secret" not in "".join(served.said)


def test_the_lines_can_be_turned_off(skills: Path) -> None:
    with serving("skills", "--no-access-log", cwd=skills.parent) as served:
        httpx2.get(f"{served.url}/readyz", timeout=WAIT_S)

        assert request_lines(served) == []


def test_each_change_is_told_and_why_a_pack_is_listed_no_more(skills: Path) -> None:
    with serving("skills", "--refresh", "0.1", cwd=skills.parent) as served:
        write_pack(skills, "beta", "Use when testing.")
        wait_for(served, "added beta: 2 skills now")
        (skills / "alpha/SKILL.md").write_text("no frontmatter")
        wait_for(served, "removed alpha: 1 skill now")
        write_pack(skills, "alpha", "Use when it is repaired.")
        wait_for(served, "added alpha: 2 skills now")
        write_pack(skills, "alpha", "Use when it is better.")
        wait_for(served, "changed alpha: 2 skills now")
        assert served.stop() == 0

    assert any("error no-frontmatter" in line for line in served.said)


def wait_for(served: Served, text: str) -> None:
    """Read what the server prints until it says this."""
    assert served.process.stderr is not None
    for line in served.process.stderr:
        served.said.append(line.rstrip("\n"))
        if text in line:
            return
    pytest.fail(f"it never said {text!r}: {served.said}")


@pytest.mark.row("F45")
def test_a_reader_that_stops_does_not_stop_the_server(skills: Path) -> None:
    """The pipe holds 64 KiB; nobody reads it once the server has begun."""
    path = f"/v1/{'a' * 150}"
    with serving("skills", cwd=skills.parent) as served:
        with httpx2.Client(base_url=served.url, timeout=WAIT_S) as http:
            statuses = {http.get(path).status_code for _ in range(2000)}
        assert statuses == {404}
        served.process.send_signal(signal.SIGTERM)

        assert served.process.wait(WAIT_S) == 0
        served.process.communicate()


def test_lines_that_nobody_read_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readers: list[threading.Thread] = []

    class LateThread(threading.Thread):
        """A reader that begins when the test says so."""

        def start(self) -> None:
            readers.append(self)

    monkeypatch.setattr(server_log, "MAX_LINES", 2)
    with monkeypatch.context() as patched:
        patched.setattr(threading, "Thread", LateThread)
        log = server_log.ServerLog()
    for number in range(5):
        log.add(f"line {number}")
    threading.Thread.start(readers[0])

    assert log.stop()
    shown = capsys.readouterr().err.splitlines()
    assert [line.partition(" ")[2] for line in shown[:2]] == ["line 0", "line 1"]
    assert shown[2:] == ["3 lines left out: nobody read them"]


def test_a_taken_port_is_told_before_anything_is_read(skills: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        result = run("serve", "no-such-folder", "--port", port)

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: 127.0.0.1:{port}: the address is in use; choose another --port, "
        "0 for any that is free, or --host\n"
    )


def test_a_client_that_is_early_waits_and_a_quiet_server_says_nothing(
    skills: Path,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = (sys.executable, "-m", "satchel", "serve", "skills", "-q", "--port")
    with subprocess.Popen(
        (*command, str(port)), cwd=skills.parent, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while True:
                try:
                    early = socket.create_connection(("127.0.0.1", port), WAIT_S)
                    break
                except ConnectionRefusedError:
                    time.sleep(0.005)
            with early:
                early.sendall(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")
                assert b" 200 " in early.recv(64)
        finally:
            process.terminate()
            _, said = process.communicate(timeout=WAIT_S)
    assert not said
