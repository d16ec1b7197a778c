"""Files of clients: what is theirs stays, and what is ours is put in once."""

import json
import os
import stat
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import ConfigError
from satchel_server.commands._connect import _write as writing
from satchel_server.commands._connect._clients import (
    MCP_CLIENTS,
    HttpAddress,
    StdioCommand,
)
from satchel_server.commands._connect._write import put_entry, write_config

HERE = HttpAddress("http://127.0.0.1:8321/mcp")
THERE = HttpAddress("https://skills.example.com/mcp", "SKILLS_TOKEN")
CURSOR, CODEX = MCP_CLIENTS["cursor"], MCP_CLIENTS["codex"]
TOML = """\
# My settings.
model = "gpt-5"  # the good one

[mcp_servers.other]
command = "npx"
args = [
  "-y",
  "other",
]

[mcp_servers.satchel]
# ours
url = "http://127.0.0.1:1/mcp"
startup_timeout_sec = 20

[profiles.fast]
model = "small"
"""


@pytest.mark.parametrize("client", MCP_CLIENTS)
def test_a_new_file_is_made_and_then_left_alone(tmp_path: Path, client: str) -> None:
    file = tmp_path / MCP_CLIENTS[client].file

    assert write_config(file, MCP_CLIENTS[client], "satchel", HERE) == "made"
    before = file.read_bytes(), file.stat().st_ino
    assert write_config(file, MCP_CLIENTS[client], "satchel", HERE) == "unchanged"
    assert (file.read_bytes(), file.stat().st_ino) == before
    assert [item.name for item in file.parent.iterdir()] == [file.name]


def test_all_else_in_json_stays(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(
        '{\r\n\t"z": [1, 2.5, null],\r\n\t"mcpServers": {\r\n\t\t"é": {"url": "x"},'
        '\r\n\t\t"satchel": {"url": "old", "headers": {}, "timeout": 5}\r\n\t}\r\n}'
        "".encode()
    )

    assert write_config(file, CURSOR, "satchel", THERE) == "changed"

    text = file.read_bytes().decode()
    assert json.loads(text) == {
        "z": [1, 2.5, None],
        "mcpServers": {
            "é": {"url": "x"},
            "satchel": {
                "timeout": 5,
                "url": THERE.url,
                "headers": {"Authorization": "Bearer ${env:SKILLS_TOKEN}"},
            },
        },
    }
    assert '\r\n\t"mcpServers"' in text
    assert "é" in text
    assert write_config(file, CURSOR, "satchel", THERE) == "unchanged"


ODD = (
    '\ufeff{"a": [1.10, 1e5, -0, 0.1000000000000000055, 1E400, '
    + "9" * 5_000
    + '],\n "b": "\\ud800 \\/ \\u00e9 é", "mcpServers": %s}'
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "satchel": {\n   "url": "%s"\n  }\n }'),
        ('{ "x": 1 }', '{ "x": 1,\n  "satchel": {\n   "url": "%s"\n  }\n  }'),
        ('{"x": 1\n }', '{"x": 1,\n  "satchel": {\n   "url": "%s"\n  }\n }'),
        (
            '{"satchel": {"env": {"A":  1.0}, "command": "x"}, "y": 2}',
            '{"satchel": {\n   "env": {"A":  1.0},\n   "url": "%s"\n  }, "y": 2}',
        ),
        ('{"satchel": 0, "y": 2}', '{"satchel": {\n   "url": "%s"\n  }, "y": 2}'),
    ],
    ids=["empty", "one line", "lines", "same name", "no entry"],
)
def test_not_a_character_of_the_rest_changes(
    tmp_path: Path, before: str, after: str
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(ODD % before, "utf-8")

    assert write_config(file, CURSOR, "satchel", HERE) == "changed"

    assert file.read_text("utf-8") == ODD % (after % HERE.url)
    assert write_config(file, CURSOR, "satchel", HERE) == "unchanged"


def test_all_else_in_toml_stays_comments_too(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(TOML)

    assert write_config(file, CODEX, "satchel", THERE) == "changed"

    lines = file.read_text().splitlines()
    stored = [line for line in TOML.splitlines() if "127.0.0.1:1" not in line]
    assert [line for line in lines if line in stored] == stored
    table = tomllib.loads(file.read_text())["mcp_servers"]["satchel"]
    assert table == {
        "url": THERE.url,
        "bearer_token_env_var": "SKILLS_TOKEN",
        "startup_timeout_sec": 20,
    }
    assert write_config(file, CODEX, "satchel", THERE) == "unchanged"


@pytest.mark.parametrize(
    "text",
    [
        *("", "a = 1", "a = 1\n", "a = 1\n\n", "\ufeffa = 1\n"),
        "[mcp_servers.x]\nurl = 'y'\r\n",
    ],
)
def test_a_table_is_added_at_the_end(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())

    write_config(file, CODEX, "satchel", HERE)

    after = file.read_bytes().decode()
    assert after.replace("\r\n", "\n").startswith(text.replace("\r\n", "\n"))
    table = tomllib.loads(after.removeprefix("\ufeff"))["mcp_servers"]["satchel"]
    assert table == {"url": HERE.url}
    assert ("\r\n" in after) is ("\r\n" in text)


@pytest.mark.parametrize(
    ("client", "text", "says"),
    [
        ("vscode", '{\n  // mine\n  "servers": {}\n}', "not plain JSON"),
        ("cursor", '{"mcpServers": {},}', "not plain JSON"),
        ("cursor", '{"a": 1, "a": 2}', "twice"),
        ("cursor", "[]", "expected an object"),
        ("cursor", '{"mcpServers": []}', "mcpServers"),
        ("cursor", '{"a": NaN}', "nothing was written"),
        ("cursor", "[" * 100_000, "not plain JSON"),
        ("cursor", b'{"a": "\xff"}', "not UTF-8"),
        ("codex", "a = ", "not TOML"),
        ("codex", "mcp_servers = 1", "by hand"),
        ("codex", "[mcp_servers]\nsatchel = {url = 'x'}\n", "by hand"),
        ("codex", "[mcp_servers]\nsatchel.url = 'x'\n", "by hand"),
        ("codex", '[mcp_servers.satchel]\nargs = [\n"x",\n]\n', "by hand"),
    ],
    ids=[
        *("comment", "comma", "twice", "list", "no object", "NaN", "deep", "latin"),
        *("no TOML", "number", "inline", "dotted", "lines"),
    ],
)
def test_what_cannot_be_changed_without_loss_is_left_alone(
    tmp_path: Path, client: str, text: str | bytes, says: str
) -> None:
    file = tmp_path / "settings"
    data = text.encode() if isinstance(text, str) else text
    file.write_bytes(data)

    with pytest.raises(ConfigError, match=says):
        write_config(file, MCP_CLIENTS[client], "satchel", HERE)

    assert file.read_bytes() == data
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "before", ['{"url": "https://e.org", "headers": {}}', "null"], ids=["url", "null"]
)
def test_another_way_to_reach_it_takes_the_place_of_the_first(
    before: str, tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(f'{{"mcpServers": {{"satchel": {before}}}}}')

    write_config(file, CURSOR, "satchel", StdioCommand("satchel", ("serve",)))

    assert json.loads(file.read_text())["mcpServers"]["satchel"] == {
        "command": "satchel",
        "args": ["serve"],
    }


@pytest.mark.skipif(os.name != "posix", reason="links and modes of POSIX")
def test_a_link_and_the_mode_of_what_it_leads_to_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o600)
    link = tmp_path / "mcp.json"
    link.symlink_to(real)

    write_config(link, CURSOR, "satchel", HERE)

    assert link.is_symlink()
    assert "satchel" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_what_another_program_writes_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    put, theirs = put_entry, ['{"mine": 1}', '{"mine": 2}']

    def slow(*args: Any) -> str:  # noqa: ANN401
        after = put(*args)
        if theirs:
            file.write_text(theirs.pop(0))
        return after

    monkeypatch.setattr(writing, "put_entry", slow)
    assert write_config(file, CURSOR, "satchel", HERE) == "changed"
    assert json.loads(file.read_text())["mine"] == 2
    assert "satchel" in file.read_text()

    theirs += [f'{{"mine": {n}}}' for n in range(9)]
    with pytest.raises(ConfigError, match="keeps changing"):
        write_config(file, CURSOR, "other", HERE)
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_shown_again_is_only_what_changed_meanwhile(
    tmp_path: Path,
) -> None:
    """Another program writes while the user reads the question."""
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {}}')
    here, there = ('{"mcpServers": {"other": {}}}', '{"mcpServers": {"satchel": {}}}')
    theirs = [here, there]
    seen: list[list[str]] = []

    def ask(lines: Sequence[str], is_new: bool) -> None:
        assert not is_new
        seen.append([line.strip() for line in lines if line[:1] in "+-"])
        if theirs:
            file.write_text(theirs.pop(0))

    assert write_config(file, CURSOR, "satchel", HERE, before_write=ask) == "changed"
    # After the first write the entry is as new as before: nothing to show again.
    assert len(seen) == 1
    theirs = [there]
    file.write_text('{"mcpServers": {}}')
    assert write_config(file, CURSOR, "satchel", HERE, before_write=ask) == "changed"
    assert len(seen) == 3
    assert seen[1] != seen[2]


def test_what_is_no_file_of_settings_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"a": "0123456789"}')
    not_unicode = StdioCommand("satchel", ("/srv/\udcff",))

    with pytest.raises(ConfigError, match="not Unicode"):
        write_config(file, CURSOR, "satchel", not_unicode)
    with pytest.raises(ConfigError, match=str(tmp_path.name)):
        write_config(tmp_path, CURSOR, "satchel", HERE)
    if os.name == "posix":
        file.chmod(0o400)
        with pytest.raises(ConfigError, match="may only be read"):
            write_config(file, CURSOR, "satchel", HERE)
    monkeypatch.setattr(writing, "_MAX_BYTES", 10)
    with pytest.raises(ConfigError, match="over 10 bytes"):
        write_config(file, CURSOR, "satchel", HERE)

    assert file.read_text() == '{"a": "0123456789"}'


def test_nothing_is_left_where_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "mcp.json"
    file.write_text("{}")
    monkeypatch.setattr(os, "replace", fail)

    with pytest.raises(OSError, match="No space"):
        write_config(file, CURSOR, "satchel", HERE)

    assert [item.name for item in tmp_path.iterdir()] == ["mcp.json"]
    assert file.read_text() == "{}"
