"""Ids that hold more than a name: in code, on the command line, in satchel.toml."""

import json
import os
from pathlib import Path

import pytest

from satchel import Options, Satchel, sources
from satchel.errors import ConfigError
from tests.functional.library import run, write_pack

pytestmark = pytest.mark.row("F06", "T02")


def text(name: str, description: str = "Use when testing.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\nDo.\n"


@pytest.fixture(autouse=True)
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two collections with a pack of one name, and one at the top."""
    monkeypatch.chdir(tmp_path)
    write_pack(tmp_path / "libs/Acme Tools/pdf", text("pdf"))
    write_pack(tmp_path / "libs/other/pdf", text("pdf", "Something else."))
    write_pack(tmp_path / "libs/top", text("top"))
    return tmp_path / "libs"


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
    assert [
        e.id for e in Satchel("libs", options=Options(prefix=prefix)).catalog
    ] == expected
    around = sources.prefixed(sources.folder("libs"), prefix)
    assert [e.id for e in Satchel(around).catalog] == expected
    assert listed("--skills", "libs", "--prefix", prefix) == expected


def test_a_folder_separates_packs_that_are_neighbours(tmp_path: Path) -> None:
    write_pack(tmp_path / "near/one", text("same"))
    write_pack(tmp_path / "near/two", text("same", "Something else."))

    skills = Satchel("near", options=Options(prefix="{folder}"))

    assert [e.id for e in skills.catalog] == ["one-same", "two-same"]
    assert skills.load("two-same").descriptor.name == "same"


def test_one_pack_is_in_the_folder_above_it() -> None:
    skills = Satchel("libs/other/pdf", options=Options(prefix="{parent}"))

    assert [e.id for e in skills.catalog] == ["other-pdf"]


def test_settings_have_a_prefix_and_the_command_line_goes_first(tmp_path: Path) -> None:
    (tmp_path / "satchel.toml").write_text(
        'skills = ["libs"]\nprefix = "{parent}"\n', "utf-8"
    )

    assert listed() == PARENT
    assert [e.id for e in Satchel().catalog] == PARENT
    assert listed("--prefix", "{path}")[-1] == "top"
    assert run("show", "other-pdf").exit_code == 0
    assert '"other-pdf"' in run("prompt", "--format", "json").stdout


def test_a_prefix_may_be_for_some_places_only(tmp_path: Path) -> None:
    write_pack(tmp_path / "mine/pdf", text("pdf", "Mine."))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/satchel.toml").write_text(
        'skills = ["../mine", "../libs/other"]\nprefix = { "../mine" = "my-" }\n',
        "utf-8",
    )
    places = ("--skills", "mine", "--skills", "libs/other")

    expected = ["my-pdf", "pdf"]
    assert listed(*places, "--prefix", "mine=my-") == expected
    by_place = Satchel("mine", "libs/other", options=Options(prefix={"mine": "my-"}))
    assert [e.id for e in by_place.catalog] == expected
    from_file = Satchel(options=Options(config="sub/satchel.toml"))
    assert [e.id for e in from_file.catalog] == expected


@pytest.mark.parametrize("policy", ["error", "precedence"])
def test_the_command_line_may_choose_who_wins(policy: str) -> None:
    result = run("list", "--json", "--skills", "libs", "--on-conflict", policy)

    [conflict] = json.loads(result.stdout)["conflicts"]
    assert (conflict["kept"] is None) == (policy == "error")
    assert result.exit_code == int(policy == "error")


def test_a_way_out_of_the_message_is_a_way_out(tmp_path: Path) -> None:
    """Each prefix that an error offers resolves the conflict that it is about."""
    skills = Satchel("libs")
    (conflict,) = skills.conflicts
    assert 'prefix="{parent}"' in conflict.fix

    assert Satchel("libs", options=Options(prefix="{parent}")).conflicts == ()
    write_pack(tmp_path / "twin/other/pdf", text("pdf", "The third."))
    two = Satchel("libs/other", "twin/other")
    assert 'prefix={"twin/other": "other-"}' in two.conflicts[0].fix
    expected = Satchel(
        "libs/other", "twin/other", options=Options(prefix={"twin/other": "other-"})
    )
    assert expected.conflicts == ()


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
    ],
)
def test_a_wrong_prefix_in_settings_is_refused(
    tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "satchel.toml").write_text(f'skills = ["libs"]\n{line}\n', "utf-8")

    result = run("list")

    assert result.exit_code == 2
    assert message in result.stderr


def test_one_prefix_for_all_and_one_for_a_place_do_not_go_together() -> None:
    result = run("list", "--skills", "libs", "--prefix", "x-", "--prefix", "libs=y-")

    assert result.exit_code == 2
    assert "give one for all" in result.stderr


def test_a_client_starts_a_server_with_the_same_options() -> None:
    options = ("--prefix", "libs={parent}", "--on-conflict", "precedence")
    result = run("connect", "cursor", "--stdio", "--skills", "libs", *options)

    server = json.loads(result.stdout)["mcpServers"]["satchel"]
    here = os.path.realpath("libs")
    assert server["args"][-6:] == [
        "--skills",
        here,
        "--prefix",
        f"{here}={{parent}}",
        "--on-conflict",
        "precedence",
    ]


@pytest.mark.row("F12")
def test_a_skill_file_means_its_pack() -> None:
    skills = Satchel("libs/top/SKILL.md")

    assert [e.id for e in skills.catalog] == ["top"]
    assert skills.load("top").text == text("top")


@pytest.mark.row("F12")
def test_a_skill_file_in_the_working_folder_means_its_pack(
    libraries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(libraries / "top")

    assert [e.id for e in Satchel("SKILL.md").catalog] == ["top"]


@pytest.mark.row("F12")
def test_any_other_file_is_refused(libraries: Path) -> None:
    (libraries / "notes.md").write_text("nothing\n")

    with pytest.raises(ConfigError, match=r"notes\.md: expected a folder of packs"):
        Satchel("libs/notes.md")
