"""Ids that hold more than a name: in code, on the command line, in satchel.toml."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from satchel import Options, Satchel, sources
from satchel.errors import ConfigError
from tests.functional.library import run, write_pack

pytestmark = pytest.mark.row("F06", "T02")


def text(name: str, description: str = "Use when testing.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\nDo.\n"


@pytest.fixture(autouse=True)
def libraries(here: Path) -> Path:
    """Two collections with a pack of one name, and one at the top."""
    write_pack(here / "libs/Acme Tools/pdf", text("pdf"))
    write_pack(here / "libs/other/pdf", text("pdf", "Something else."))
    write_pack(here / "libs/top", text("top"))
    return here / "libs"


def ids(*places: str, **options: Any) -> list[str]:  # noqa: ANN401
    return [e.id for e in Satchel(*places, options=Options(**options)).catalog]


def listed(*arguments: str) -> list[str]:
    result = run("list", "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return [skill["id"] for skill in json.loads(result.stdout)["skills"]]


PARENT = ["acme-tools-pdf", "libs-top", "other-pdf"]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("{parent}", PARENT),
        ("{path}", ["acme-tools-pdf", "other-pdf", "top"]),
        ("{path}/", ["/top", "acme-tools/pdf", "other/pdf"]),
        ("x-{parent}", ["x-acme-tools-pdf", "x-libs-top", "x-other-pdf"]),
    ],
)
def test_the_folders_of_a_pack_are_in_front_of_its_name(
    prefix: str, expected: list[str]
) -> None:
    around = sources.prefixed(sources.folder("libs"), prefix)

    assert [e.id for e in Satchel(around).catalog] == expected
    assert ids("libs", prefix=prefix) == expected
    assert listed("--skills", "libs", "--prefix", prefix) == expected


def test_a_folder_separates_packs_that_are_neighbours(here: Path) -> None:
    write_pack(here / "near/one", text("same"))
    write_pack(here / "near/two", text("same", "Something else."))
    skills = Satchel("near", options=Options(prefix="{folder}"))

    assert [e.id for e in skills.catalog] == ["one-same", "two-same"]
    assert skills.load("two-same").descriptor.name == "same"
    assert ids("libs/other/pdf", prefix="{parent}") == ["other-pdf"]


def test_settings_have_a_prefix_and_the_command_line_goes_first(tmp_path: Path) -> None:
    (tmp_path / "satchel.toml").write_text(
        'skills = ["libs"]\nprefix = "{parent}"\n', "utf-8"
    )

    assert listed() == PARENT
    assert [e.id for e in Satchel().catalog] == PARENT
    assert listed("--prefix", "{path}")[-1] == "top"
    assert run("show", "other-pdf").exit_code == 0
    assert '"other-pdf"' in run("prompt", "--format", "json").stdout


def test_a_prefix_may_be_for_some_places_only(here: Path) -> None:
    write_pack(here / "mine/pdf", text("pdf", "Mine."))
    (here / "sub").mkdir()
    (here / "sub/satchel.toml").write_text(
        'skills = ["../mine", "../libs/other"]\nprefix = { "../mine" = "my-" }\n'
    )
    own = {"SATCHEL_CONFIG": "sub/satchel.toml"}
    places = ("mine", "libs/other")
    options = ("--skills", "mine", "--skills", "libs/other", "--prefix", "mine=my-")

    expected = ["my-pdf", "pdf"]
    assert listed(*options) == expected
    assert ids(*places, prefix={"mine": "my-"}) == expected
    assert ids(config="sub/satchel.toml", environ=own) == expected


@pytest.mark.parametrize("policy", ["error", "precedence"])
def test_the_command_line_may_choose_who_wins(policy: str) -> None:
    result = run("list", "--json", "--skills", "libs", "--on-conflict", policy)

    [conflict] = json.loads(result.stdout)["conflicts"]
    assert (conflict["kept"] is None) == (policy == "error")
    assert result.exit_code == int(policy == "error")


def test_a_way_out_of_the_message_is_a_way_out(here: Path) -> None:
    """Each prefix that an error offers resolves the conflict that it is about."""
    write_pack(here / "twin/other/pdf", text("pdf", "The third."))
    places: tuple[str, ...]
    for places, prefix, offer in (
        (("libs",), "{parent}", 'prefix="{parent}"'),
        (
            ("libs/other", "twin/other"),
            {"twin/other": "other-"},
            'prefix={"twin/other": "other-"}',
        ),
    ):
        assert offer in Satchel(*places).conflicts[0].fix
        assert Satchel(*places, options=Options(prefix=prefix)).conflicts == ()


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{name}-", "unknown {name}; known: {folder}, {parent}, {path}"),
        ({"lib": "x-"}, "'lib' is not named; named: libs"),
    ],
)
def test_a_wrong_prefix_is_refused(given: str | dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Satchel("libs", options=Options(prefix=given))
    assert message in str(caught.value)


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("prefix = 5", "prefix: expected a table; got 5"),
        ("prefix = { libs = 5 }", "prefix.'libs': expected a text; got 5"),
        ('prefix = { lib = "x-" }', "'lib' is not named; named: libs"),
        ("", "give one for all"),
    ],
)
def test_a_wrong_prefix_on_the_command_line_is_status_2(
    here: Path, line: str, message: str
) -> None:
    """In the settings, or as an option: one for all, and one for a place."""
    (here / "satchel.toml").write_text(f'skills = ["libs"]\n{line}\n', "utf-8")
    options = () if line else ("--prefix", "x-", "--prefix", "libs=y-")

    result = run("list", *options)

    assert result.exit_code == 2
    assert message in result.stderr


def test_a_client_starts_a_server_with_the_same_options() -> None:
    options = ("--prefix", "libs={parent}", "--on-conflict", "precedence")
    result = run("connect", "cursor", "--stdio", "--skills", "libs", *options)

    server = json.loads(result.stdout)["mcpServers"]["satchel"]
    here = os.path.realpath("libs")
    options = ("--prefix", f"{here}={{parent}}", *options[2:])
    assert server["args"][-6:] == ["--skills", here, *options]


@pytest.mark.row("F12")
def test_a_skill_file_means_its_pack_and_any_other_file_is_refused(
    libraries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (libraries / "notes.md").write_text("nothing\n")

    skills = Satchel("libs/top/SKILL.md")
    with pytest.raises(ConfigError, match=r"notes\.md: expected a folder of packs"):
        Satchel("libs/notes.md")
    monkeypatch.chdir(libraries / "top")

    assert [e.id for e in skills.catalog] == ids("SKILL.md") == ["top"]
    assert skills.load("top").text == text("top")
