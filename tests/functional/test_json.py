"""``--json`` on every command that prints data: one object, and nothing else."""

import json
from pathlib import Path

import pytest

from satchel.cli._app import COMMANDS
from tests.functional.library import run, write_pack

PACK = "---\nname: {0}\ndescription: Use {0} when testing.\n---\n# {0}\n"

# What makes something for people to go on with prints no data: files that were written,
# a block in the form of a client, a script for a shell.
WITHOUT = {"new", "connect", "serve", "completion"}
# What needs a project with a lock: tests/install.
WITHOUT |= {"push", "remove", "store", "sync", "trust", "verify", "withdraw"}

LINES = {
    "list": "list one",
    "find": "find testing one",
    "show": "show alpha one",
    "prompt": "prompt one",
    "role": "role backend",
    "doctor": "doctor one",
    "why": "why alpha one",
    "check": "check one",
    "predict": "predict one",
    "eval": "eval one",
    "explain": "explain",
    "diff": "diff one/alpha one/beta",
    "convert": "convert one --to spec -o made",
    "pack": "pack one/alpha",
    "retire": "retire alpha one --for beta",
    "add": "add one",
    "build": "build out one",
    "publish": "publish site --skills one",
    "cost": "cost one",
    "usage": "usage",
}


@pytest.fixture(autouse=True)
def project(here: Path) -> Path:
    """Two packs, one of which has a file that is no text."""
    write_pack(here / "one/alpha", PACK.format("alpha"))
    write_pack(here / "one/beta", PACK.format("beta"))
    (here / "one/alpha/assets").mkdir()
    (here / "one/alpha/assets/dot.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    return here


def test_every_command_is_in_one_of_the_two_lists() -> None:
    assert {*LINES} | WITHOUT == {*COMMANDS}
    assert not {*LINES} & WITHOUT


@pytest.mark.row("T15")
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_json_is_one_object_of_printable_ascii(line: str) -> None:
    result = run(*line.split(), "--json")

    assert result.exit_code in (0, 1), result.stderr
    assert json.loads(result.stdout)["schema_version"] == 1
    assert result.stdout.isascii()


@pytest.mark.row("T15")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("show alpha one", {"id": "alpha", "file": "SKILL.md", "text": "# alpha\n"}),
        (
            "show alpha one --asset dot.png",
            {"media_type": "image/png", "base64": "iVBORw0KGgoA/w=="},
        ),
        (
            "show alpha one --layers",
            {"layers": [{"layer": "base", "path": "one/alpha"}], "body": "base"},
        ),
        ("prompt one --budget 1", {"complete": False, "left_out": ["alpha", "beta"]}),
        ("role nobody", {"source": "fallback", "skill_name": None}),
        ("why alpha one", {"stage": "listed", "listed": True}),
        ("why gamma one", {"stage": "path", "listed": False}),
        ("doctor one", {"ok": True, "skills": 2, "findings": [], "problems": []}),
        ("build out one", {"path": "out", "skills": 2, "findings": []}),
        ("publish site --skills one", {"path": "site", "findings": []}),
        ("pack one/alpha", {"path": "alpha.skill", "files": 2, "changed": True}),
        ("retire alpha one --dry-run", {"name": "alpha", "written": False}),
    ],
)
def test_json_says_what_the_text_says(line: str, expected: dict[str, object]) -> None:
    fields = json.loads(run(*line.split(), "--json").stdout)

    assert {key: fields.get(key) for key in expected} == expected


@pytest.mark.row("T15")
@pytest.mark.parametrize(
    "line", ["show alpha one", "why gamma one", "role nobody", "retire gamma one"]
)
def test_the_status_is_the_same_with_and_without_json(line: str) -> None:
    assert run(*line.split()).exit_code == run(*line.split(), "--json").exit_code


def test_doctor_says_in_json_that_there_is_nothing_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)

    fields = json.loads(run("doctor", "--json").stdout)

    assert not fields["ok"]
    assert "name a folder of packs" in fields["problems"][0]
    assert fields["satchel"]


def test_explain_gives_the_page_of_each_code_that_a_name_means() -> None:
    [page] = json.loads(run("explain", "dead-link", "--json").stdout)["codes"]

    assert page["code"] == "dead-link"
    assert page["text"].strip() == run("explain", "dead-link").stdout.strip()


def test_json_and_an_envelope_are_not_both_given() -> None:
    result = run("show", "alpha", "one", "--json", "--envelope", "json")

    assert result.exit_code == 2
    assert "give --json or --envelope, not both" in result.stderr
