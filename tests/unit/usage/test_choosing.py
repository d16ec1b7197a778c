"""Where events go, by SATCHEL_USAGE."""

import os
from pathlib import Path

import pytest

from satchel import Options, Satchel, Skill
from satchel.errors import ConfigError
from satchel.usage import (
    LoggingSink,
    open_sink,
    state_file,
    usage_sinks,
)
from satchel_server.usage import parse_location
from satchel_server.usage._background import Background


@pytest.mark.parametrize(
    ("url", "kind", "path"),
    [
        ("log:", "log", ""),
        ("log://", "log", ""),
        ("sqlite:///var/lib/usage.db", "sqlite", "/var/lib/usage.db"),
        ("sqlite:////var/lib/usage.db", "sqlite", "/var/lib/usage.db"),
        ("jsonl:///var/log/a b.jsonl", "jsonl", "/var/log/a b.jsonl"),
        ("chain:/var/log/usage.chain", "chain", "/var/log/usage.chain"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
def test_a_url_names_a_place(url: str, kind: str, path: str) -> None:
    assert parse_location(url) == (kind, path)


def test_sqlite_alone_is_in_the_state_folder_and_a_relative_path_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = os.environ["HOME"]
    monkeypatch.chdir(tmp_path)

    assert parse_location("jsonl:usage.jsonl").path == str(tmp_path / "usage.jsonl")
    assert parse_location("sqlite:///C:/usage.db").path == f"{tmp_path}/C:/usage.db"
    for url in ("sqlite:", "sqlite://"):
        assert parse_location(url).path == state_file()
    assert state_file().startswith(home)
    assert not os.path.exists(home)  # noqa: PTH110


@pytest.mark.row("E05")
@pytest.mark.parametrize("message", ["off", "OFF", " off ", "off:"])
def test_off_is_nothing_at_all(message: str) -> None:
    environ = {"SATCHEL_USAGE": message}

    assert usage_sinks(environ) == usage_sinks(environ, "sqlite") == ()


@pytest.mark.parametrize("environ", [{}, {"SATCHEL_USAGE": ""}])
def test_the_default_is_of_who_asks(environ: dict[str, str]) -> None:
    (library,) = usage_sinks(environ)
    (server,) = usage_sinks(environ, "sqlite")

    assert isinstance(library, LoggingSink)
    assert isinstance(server, Background)


@pytest.mark.parametrize(
    "message",
    [
        *("on", "1", "/var/usage.db", "mysql://host/usage", "SQLITE:"),
        *("sqlite://host/usage.db", "sqlite:///", "jsonl:", "jsonl://", "chain:///"),
        "log:///var/log/x",
    ],
)
def test_anything_else_is_refused_with_what_to_write(message: str) -> None:
    with pytest.raises(
        ConfigError, match=r"SATCHEL_USAGE: .* expected off, log:, sqlite:"
    ):
        usage_sinks({"SATCHEL_USAGE": message})


def test_the_library_refuses_it_where_it_is_opened() -> None:
    made = Skill("a", instructions="x", description="d")

    with pytest.raises(ConfigError, match="SATCHEL_USAGE"):
        Satchel(made, options=Options(environ={"SATCHEL_USAGE": "nowhere"}))
    Satchel(made, sinks=(), options=Options(environ={"SATCHEL_USAGE": "nowhere"}))


def test_the_library_closes_what_it_opened(tmp_path: Path) -> None:
    file = tmp_path / "usage.jsonl"
    made = Skill("a", instructions="x", description="d")
    options = Options(environ={"SATCHEL_USAGE": f"jsonl://{file}"})
    with Satchel(made, options=options) as skills:
        skills.load("a")

    lines = file.read_text().splitlines()
    assert ["skill_loaded" in line for line in lines].count(True) == 1
    assert "writer_closed" in lines[-1]


def test_what_was_given_is_written_and_stays_open(tmp_path: Path) -> None:
    file = tmp_path / "usage.jsonl"
    sink = open_sink(f"jsonl://{file}")
    assert isinstance(sink, Background)
    made = Skill("a", instructions="x", description="d")
    for _ in range(2):
        with Satchel(made, sinks=[sink]) as skills:
            skills.load("a")
        assert "skill_loaded" in file.read_text().splitlines()[-1]
    sink.close()

    assert file.read_text().count("skill_loaded") == 2
