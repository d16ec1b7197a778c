"""One rule of discovery for every door: the same packs, and the same ones named."""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from satchel import Satchel
from tests.functional.library import run, write_pack
from tests.functional.serving import serving

TEXT = (
    "---\nname: {0}\ndescription: Makes {0} reports. Use it when {0} is asked for.\n"
    "---\n# {0}\n\nDo it.\n"
)
LISTED = {
    *("plain", "group/deep", "skills/.curated/a", ".claude/skills/dev"),
    *("outer", "outer/skills/inner", "outer/plugins/p/skills/plugged"),
    *("outer/.agents/skills/agent", ".github/plugins/q/skills/forge"),
}
NAMED = {
    *("outer/examples/sample", ".hidden/secret", "1/2/3/4/5/6/seventh"),
    *("outer/references/__pycache__/cached",),
}
PRUNED = {"node_modules", "outer/.git"}
IDS = {path.rpartition("/")[2] for path in LISTED}


@pytest.fixture
def lib(here: Path) -> Path:
    for path in (*LISTED, *NAMED, *(f"{folder}/x" for folder in PRUNED)):
        write_pack(here / "lib" / path, TEXT.format(path.rpartition("/")[2]))
    return here


def from_program() -> set[str]:
    with Satchel("lib") as skills:
        return {entry.id for entry in skills.catalog}


def listed(*paths: str) -> set[str]:
    shown = json.loads(run("list", *paths, "--json").stdout)
    return {skill["id"] for skill in shown["skills"]}


def from_list() -> set[str]:
    return listed("lib")


def from_find() -> set[str]:
    hits = json.loads(run("find", "reports", "lib", "-k", "99", "--json").stdout)[
        "hits"
    ]
    return {hit["id"] for hit in hits}


def from_prompt() -> set[str]:
    text = run("prompt", "lib").stdout
    return {skill_id for skill_id in IDS | NAMED if f"- {skill_id}:" in text}


def from_build() -> set[str]:
    assert run("build", "out", "lib").exit_code == 0
    return {path.name for path in Path("out/skills").iterdir()}


def from_convert() -> set[str]:
    assert run("convert", "lib", "--to", "strict", "-o", "made").exit_code == 0
    return {path.name for path in Path("made").iterdir()}


def from_config() -> set[str]:
    Path("satchel.toml").write_text('skills = ["lib"]\n')
    return listed()


def from_server() -> set[str]:
    with (
        serving("lib", cwd=Path.cwd()) as served,
        urllib.request.urlopen(f"{served.url}/v1/catalog") as answer,  # noqa: S310
    ):
        return {skill["id"] for skill in json.load(answer)["skills"]}


@pytest.mark.slow
@pytest.mark.row("U01", "F62")
@pytest.mark.parametrize(
    "door",
    [
        *(from_program, from_list, from_find, from_prompt, from_build, from_convert),
        *(from_config, from_server),
    ],
)
def test_every_door_has_the_same_packs(lib: Path, door: Callable[[], set[str]]) -> None:
    assert door() == IDS


@pytest.mark.row("U01", "F62")
@pytest.mark.parametrize(
    ("command", "says"),
    [("check lib", "9 packs checked"), ("eval lib", "9 skills")],
)
def test_every_command_counts_the_same_packs(
    lib: Path, command: str, says: str
) -> None:
    assert says in run(*command.split()).output


def findings_of_program() -> list[str]:
    with Satchel("lib") as skills:
        return [finding.path for finding in skills.findings]


def findings_in(*command: str) -> Callable[[], list[str]]:
    def findings() -> list[str]:
        return [item["path"] for item in json.loads(run(*command).stdout)["findings"]]

    return findings


@pytest.mark.row("U01", "F62")
@pytest.mark.parametrize(
    "findings",
    [
        findings_of_program,
        findings_in("list", "lib", "--json"),
        findings_in("doctor", "lib", "--json"),
        findings_in("check", "lib", "--format", "json"),
        findings_in("build", "out", "lib", "--json"),
    ],
    ids=["program", "list", "doctor", "check", "build"],
)
def test_every_door_names_the_others(
    lib: Path, findings: Callable[[], list[str]]
) -> None:
    paths = findings()

    for path in NAMED:
        assert paths.count(f"lib/{path}/SKILL.md") == 1
    for folder in PRUNED:
        assert f"lib/{folder}" in paths
    assert not [path for path in paths if path.endswith("/x/SKILL.md")]


@pytest.mark.row("U01")
@pytest.mark.parametrize("command", ["list lib", "build out lib", "check lib"])
def test_a_terminal_shows_ten_and_the_count(here: Path, command: str) -> None:
    for number in range(15):
        write_pack(here / f"lib/a/examples/e{number:02}", TEXT.format(f"e{number}"))
        (here / f"lib/m{number:02}/node_modules").mkdir(parents=True)
    write_pack(here / "lib/a", TEXT.format("a"))
    output = run(*command.split()).output

    assert "not searched: lib/m00/node_modules, lib/m01/node_modules" in output
    assert "lib/m09/node_modules and 5 more" in output
    if command != "check lib":  # which reports each finding
        assert "lib/a/examples/e09/SKILL.md" in output
        assert "lib/a/examples/e10/SKILL.md" not in output
        assert "5 more" in output


@pytest.mark.row("U01", "F62")
def test_what_serves_says_what_to_type(here: Path) -> None:
    """As `check` does: the folders that it would look in."""
    write_pack(here / "skills/a", TEXT.format("a"))
    write_pack(here / ".claude/skills/b", TEXT.format("b"))

    for command in ("serve", "build out", "retire a"):
        result = run(*command.split())
        assert result.exit_code == 2
        line = f"type: satchel {command} skills .claude/skills\n"
        assert line in result.stderr
    assert run("build", "out", "skills", ".claude/skills").exit_code == 0
