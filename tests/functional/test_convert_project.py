"""``satchel convert .`` in a project with several kinds converts each."""

import json
from pathlib import Path

import pytest

from tests.functional.library import run

FILES = {
    ".cursor/rules/style.mdc": "---\ndescription: How we write TS.\n---\nTabs.\n",
    ".cursor/commands/deploy.md": "# Deploy\n\nPut the site on the server.\n",
    ".cursor/agents/critic.md": "---\ndescription: Reads a change.\n---\nBe strict.\n",
    ".claude/commands/deploy.md": "---\ndescription: Deploys it.\n---\nNow.\n",
    ".github/prompts/review.prompt.md": "---\ndescription: Reviews it.\n---\nDo.\n",
    ".github/instructions/style.instructions.md": "---\ndescription: Style.\n---\nB.\n",
    ".windsurf/workflows/ship.md": "---\ndescription: Ships it all.\n---\nShip.\n",
    ".clinerules/style.md": "Write short sentences, always.\n",
    "AGENTS.md": "# Agents\n\nRun make before you commit.\n",
}


def put(here: Path, *paths: str) -> None:
    for path in paths:
        (here / "work" / path).parent.mkdir(parents=True, exist_ok=True)
        (here / "work" / path).write_text(FILES.get(path, "---\nname: a\n---\n"))


def outcome(*arguments: str) -> dict[str, str]:
    done = run("convert", "work", "-o", "out", "--json", *arguments)
    assert done.exit_code == 0, done.output
    packs = json.loads(done.stdout)["packs"]
    for pack in packs:
        head = (Path(pack["path"]) / "SKILL.md").read_text().splitlines()[1]
        assert head == f"name: {pack['name']}"
    return {pack["source"].removeprefix("work/"): pack["name"] for pack in packs}


@pytest.mark.row("F84")
def test_each_kind_is_converted_and_no_name_is_given_twice(here: Path) -> None:
    put(here, *FILES)

    names = outcome()

    assert names.keys() == FILES.keys()
    assert len(set(names.values())) == len(FILES)
    assert names[".cursor/rules/style.mdc"] == "style"
    assert names[".github/instructions/style.instructions.md"] == "style-copilot"
    assert names[".clinerules/style.md"] == "style-cline"
    assert names[".claude/commands/deploy.md"] == "deploy-commands"


@pytest.mark.row("F84")
@pytest.mark.parametrize(
    ("paths", "kind"),
    [
        ([".cursor/commands/deploy.md"], "cursor"),
        ([".cursor/rules/style.mdc", ".cursor/commands/deploy.md"], "cursor"),
        ([".windsurf/workflows/ship.md"], "windsurf"),
        ([".cursor/agents/critic.md"], "subagents"),
    ],
)
def test_commands_of_other_clients_are_files_of_their_kind(
    here: Path, paths: list[str], kind: str
) -> None:
    put(here, *paths, "AGENTS.md")

    assert [*outcome("--from", kind)] == paths
    assert {*outcome()} == {*paths, "AGENTS.md"}


def test_advice_on_a_renamed_pack_has_its_new_name(here: Path) -> None:
    for name in (".cursorrules", ".windsurfrules"):
        (here / "work").mkdir(exist_ok=True)
        (here / "work" / name).write_text(f"Be nice in {name}.\n")
    shown = run("convert", "work", "-o", "out").stderr

    assert "always=['work']\n" in shown
    assert "always=['work-windsurf']\n" in shown


@pytest.mark.row("F84")
def test_a_second_and_a_third_of_one_name(here: Path) -> None:
    for place in ("a/deploy", "b/deploy", "deploy"):
        path = here / "work/.cursor/commands" / f"{place}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Deploy as {place} does.\n")
    put(here, ".cursor/rules/style.mdc", ".claude/commands/deploy.md")

    names = [*outcome().values()]

    assert len(names) == len(set(names)) == 5


@pytest.mark.row("F84")
def test_an_equal_outcome_is_one_and_an_empty_folder_is_none(here: Path) -> None:
    put(here, ".cursor/commands/deploy.md", "AGENTS.md")
    (here / "work/.windsurf/rules").mkdir(parents=True)

    assert outcome() == outcome()


@pytest.mark.row("F84")
@pytest.mark.parametrize("option", [["--name", "x"], ["--split"]])
def test_what_is_for_one_kind_asks_for_it(here: Path, option: list[str]) -> None:
    put(here, ".cursor/commands/deploy.md", "AGENTS.md")

    done = run("convert", "work", "-o", "out", *option)

    assert done.exit_code == 2
    assert "several kinds are there: cursor, agents-md; choose one by --from" in (
        done.stderr
    )


@pytest.mark.row("F84")
def test_packs_next_to_others_need_a_target(here: Path) -> None:
    put(here, "AGENTS.md", "skills/SKILL.md")

    done = run("convert", "work", "-o", "out")

    assert done.exit_code == 2
    assert "or choose one kind by --from: agents-md, packs" in done.stderr


@pytest.mark.row("F84")
@pytest.mark.parametrize(
    "place", [".gemini/commands", ".opencode/command", ".codex/prompts", ".qwen/agents"]
)
@pytest.mark.parametrize("empty", [False, True])
def test_what_no_format_reads_is_named(here: Path, place: str, empty: bool) -> None:
    put(here, "AGENTS.md", ".cursor/commands/deploy.md")
    (here / "work" / place).mkdir(parents=True)
    if not empty:
        (here / "work" / place / "ship.md").write_text("Ship it to all of them.\n")

    done = run("convert", "work", "-o", "out")

    line = f"work/{place}: warning not-carried: these files are not converted"
    assert done.stderr.count(line) == (not empty)
    assert done.exit_code == 0
    if not empty:  # and the advice helps
        one = run("convert", f"work/{place}", "--from", "commands", "-o", "more")
        assert one.exit_code == 0, one.stderr
