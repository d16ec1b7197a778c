"""``satchel connect``: the block of each client, printed or put into its file."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from satchel.testing import write_pack
from satchel_server.commands._connect._clients import MCP_CLIENTS
from tests.functional.library import run, run_terminal

URL = "http://127.0.0.1:8321/mcp"


@pytest.fixture(autouse=True)
def home(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: here / "home")


def test_the_block_alone_reaches_standard_output() -> None:
    result = run("connect", "claude-code", "--token-env", "SKILLS_TOKEN")

    headers = {"Authorization": "Bearer ${SKILLS_TOKEN}"}
    entry = {"type": "http", "url": URL, "headers": headers}
    assert json.loads(result.stdout) == {"mcpServers": {"satchel": entry}}
    assert "put this into .mcp.json" in result.stderr
    assert not Path(".mcp.json").exists()


@pytest.mark.parametrize("client", MCP_CLIENTS)
def test_it_is_written_once(client: str) -> None:
    command = "connect", client, "--write", "--yes", "--name", "skills"

    first, second = run(*command), run(*command)

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.endswith(": written, with skills in it\n")
    assert second.stdout.endswith(": already has skills\n")
    other = *command, "--url", "https://e.org"
    done = run(*other)
    assert done.stdout.endswith(": written; nothing but skills was changed\n")
    assert "-" in {line.strip()[:1] for line in done.stderr.splitlines()}


NOBODY = "nothing was written, as nobody can be asked here; --yes writes it"


@pytest.mark.parametrize("client", MCP_CLIENTS)
def test_without_a_terminal_it_is_written_only_with_yes(
    here: Path, client: str
) -> None:
    refused = run("connect", client, "--write")

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert " is new:\n  +" in refused.stderr
    assert NOBODY in refused.stderr
    assert not list((here / "home").rglob("*"))
    assert not [path for path in here.rglob("*") if path.is_file()]


@pytest.mark.skipif(os.name == "nt", reason="POSIX has terminals of this kind")
@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_on_a_terminal_it_shows_the_difference_and_asks(
    here: Path, answer: str
) -> None:
    file = here / "mcp.json"
    mine = {"command": "mine", "env": {"KEY": "SECRET"}}
    theirs: dict[str, dict[str, object]] = {
        "mcpServers": {"theirs": {"url": "https://t.org", "token": "SECRET"}}
    }
    theirs["mcpServers"]["satchel"] = mine
    file.write_text(json.dumps(theirs))
    command = "connect", "cursor", "--file", "mcp.json", "--write"

    seen = run_terminal(*command, cwd=here, answers=[answer]).decode()

    assert "mcp.json changes here, and nowhere else:" in seen
    assert '-      "command": "mine",' in seen
    assert f'+      "url": "{URL}"' in seen
    assert '"env": "..."' in seen
    assert "Write it?" in seen
    assert "SECRET" not in seen
    written = json.loads(file.read_text())
    if answer != "y":
        assert "mcp.json: nothing was written" in seen
        assert written == theirs
    else:
        mine = {"env": {"KEY": "SECRET"}, "url": URL}
        assert written["mcpServers"] == {**theirs["mcpServers"], "satchel": mine}


@pytest.mark.row("F45")
@pytest.mark.parametrize("client", MCP_CLIENTS)
def test_another_server_of_that_name_is_not_replaced_unasked(
    client: str,
) -> None:
    file = Path("theirs.conf")
    command = "connect", client, "--write", "--file", str(file)
    other = "--url", "https://theirs.example/mcp", "--token-env", "THEIR_TOKEN"
    run(*command, *other, "--yes")
    before = file.read_bytes()

    refused = run(*command)
    after_no = file.read_bytes()
    forced = run(*command, "--force")  # as --yes was called

    assert refused.exit_code == 2
    assert "theirs.conf changes here, and nowhere else:" in refused.stderr
    assert "https://theirs.example/mcp" in refused.stderr
    assert f'"{URL}"' in refused.stderr
    assert NOBODY in refused.stderr
    assert "THEIR_TOKEN" not in refused.stderr
    assert after_no == before
    assert forced.exit_code == 0
    assert "theirs.example" not in file.read_text()
    assert run(*command).stdout.endswith(": already has satchel\n")


@pytest.mark.skipif(os.name == "nt", reason="POSIX has a umask")
@pytest.mark.row("F45")
@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_of_a_user_follows_the_umask(umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        run("connect", "claude-code", "--write", "--yes", "--file", "new.json")
    finally:
        os.umask(before)

    assert Path("new.json").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("expected", "venv", "command"),
    [
        ("/usr/bin/satchel", False, ["satchel"]),
        ("/srv/venv/bin/satchel", True, ["/srv/venv/bin/satchel"]),
        (None, True, [sys.executable, "-m", "satchel"]),
    ],
)
def test_a_client_finds_the_command_that_it_starts(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected: str | None,
    venv: bool,
    command: list[str],
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: expected)
    monkeypatch.setattr(sys, "base_prefix", "/elsewhere" if venv else sys.prefix)
    write_pack(here / "skills", "alpha")

    result = run("connect", "cursor", "--stdio", "--skills", "skills")

    entry = json.loads(result.stdout)["mcpServers"]["satchel"]
    serve = ["serve", "--stdio", "--skills", str(here / "skills")]
    assert [entry["command"], *entry["args"]] == [*command, *serve]


def test_a_project_may_say_in_its_own_settings_which_skills() -> None:
    result = run("connect", "vscode", "--stdio")

    assert "--skills" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("notepad",), "'claude-code'"),
        (("codex", "--stdio"), "satchel connect codex --stdio PATH"),
        (("cursor", "--stdio", "--url", URL), "goes with neither"),
        (("cursor", "--stdio", "--token-env", "T"), "goes with neither"),
        (("cursor", "--skills", "skills"), "goes with --stdio"),
        (("cursor", "--url", "http://me:secret@example.com"), "--token-env VARIABLE"),
        (("cursor", "--token-env", "not a name"), "never the token itself"),
        (("cursor", "--name", "a.b"), "A-Z"),
        (("cursor", "--yes"), "--yes goes with --write"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], says: str) -> None:
    result = run("connect", *arguments)

    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())
    assert "secret" not in result.stderr


def test_what_cannot_be_written_is_printed(here: Path) -> None:
    """Comments would be lost, so a person puts it in."""
    file = here / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{\n  // mine\n  "servers": {}\n}\n')

    result = run("connect", "vscode", "--write")

    assert result.exit_code == 2
    assert json.loads(result.stdout)["servers"]["satchel"]["url"] == URL
    assert "add it by hand" in result.stderr
    assert "// mine" in file.read_text()
