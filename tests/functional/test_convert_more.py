"""What `satchel convert` takes besides packs: nothing is dropped without a word."""

import json
from pathlib import Path

import pytest

from satchel_lab.checking import check
from tests.functional.library import run

FILES = {
    ".github/prompts/release.prompt.md": "copilot",
    ".github/agents/planner.agent.md": "copilot",
    ".github/chatmodes/ask.chatmode.md": "copilot",
    ".claude/agents/reviewer.md": "subagents",
    ".claude/agents/team/tester.md": "subagents",
    ".windsurf/rules/ts.md": "windsurf",
    ".windsurfrules": "windsurf",
    ".clinerules/src.md": "cline",
    ".clinerules": "cline",
}
TEXT = (
    "---\ndescription: Does it well. Use when it is asked for.\ntools: Read\n---\n"
    "# House\n\nDo it.\n"
)


def put(path: str, text: str = TEXT) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, "utf-8")


def packs() -> list[str]:
    return sorted(item.parent.name for item in Path("out").rglob("SKILL.md"))


@pytest.mark.row("F53")
@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("how", ["file", "project", "kind"])
def test_each_kind_of_file_becomes_a_pack(path: str, how: str) -> None:
    put(path)
    source = path if how == "file" else "."
    more = ("--from", FILES[path]) if how == "kind" else ()

    result = run("convert", source, *more, "-o", "out")

    assert result.exit_code == 0
    assert len(packs()) == 1
    assert {f.severity for f in check(["out"]).findings} <= {"note"}


@pytest.mark.row("F53")
def test_tools_of_an_agent_open_none_of_a_pack() -> None:
    """What another program means by `tools` is kept, under another name."""
    put(".claude/agents/reviewer.md")
    run("convert", ".claude/agents", "-o", "out")

    text = Path("out/reviewer/SKILL.md").read_text("utf-8")
    assert '"from:tools": Read' in text


@pytest.mark.row("F53")
@pytest.mark.parametrize(
    "tools", ["Bash(gh issue:*), Read", "['Bash(gh issue:*)', Read]"]
)
def test_tools_of_a_command_are_as_the_specification_has_them(tools: str) -> None:
    about = "description: Fix it. Use when it is broken."
    put(".claude/commands/fix.md", f"---\n{about}\nallowed-tools: {tools}\n---\nFix.\n")
    run("convert", ".claude/commands", "--to", "spec", "-o", "out")

    text = Path("out/fix/SKILL.md").read_text("utf-8")
    assert 'allowed-tools: "Bash(gh issue:*) Read"' in text


@pytest.mark.row("F53")
def test_files_of_which_none_is_taken_are_no_success() -> None:
    put("notes/summary.md", "Sum up what was said, in five lines.\n")

    result = run("convert", "notes", "--to", "spec", "-o", "out")

    assert result.exit_code == 2
    assert "nothing of that kind is there" in result.stderr


@pytest.mark.row("F53")
@pytest.mark.parametrize("kind", ["commands", "subagents", "windsurf", "cline"])
@pytest.mark.parametrize("path", ["notes/sum_up.md", "notes/of/sum_up.md"])
def test_a_folder_of_any_name_is_of_the_kind_that_is_named(
    path: str, kind: str
) -> None:
    put(path, "Sum up what was said, in five lines.\n")

    result = run("convert", "notes", "--from", kind, "-o", "out")

    assert (result.exit_code, packs()) == (0, ["sum-up"])
    # What the fix says to type has the name of the pack.
    assert "always=['sum_up']" not in result.stderr


@pytest.mark.row("F53")
def test_files_of_another_kind_are_named() -> None:
    put(".github/prompts/release.prompt.md")
    put(".github/prompts/notes.txt")

    result = run("convert", ".github/prompts", "-o", "out")

    assert "not-carried" in result.stderr
    assert "notes.txt" in result.stderr


MIXED = {
    ".cursor/rules": ["a.mdc", "deep/b.mdc", "c.md", "d.txt", "deep/e.png", ".env"],
    ".claude/commands": ["a.md", "x/a.md", "x/b.sh", ".hidden", "x/y/c.json"],
    ".clinerules": ["a.md", "b.txt"],
    "roles": [
        "dev/system_prompt.md",
        "dev/task.md",
        "dev/x.png",
        "dev/.env",
        "no/a.md",
    ],
    "packs": [
        *("a/SKILL.md", "a/b.md", "a/c/d.png", "a/.env", "a/.git/config"),
        *("README.md", "in/b/SKILL.md", "in/c.md", "notes/d.md", "notes/e/f.md"),
    ],
    ".": ["AGENTS.md", "CLAUDE.md", "api/AGENTS.md", "api/deep/GEMINI.md"],
}


@pytest.mark.row("F53")
@pytest.mark.parametrize("place", MIXED)
@pytest.mark.parametrize("to", ["spec", "strict"])
def test_every_file_is_taken_or_reported(place: str, to: str) -> None:
    about = "---\nname: a\ndescription: Do all of it well. Use when asked.\n---\n"
    for number, path in enumerate(MIXED[place]):
        put(f"{place}/{path}", f"{about}# House\n\nText number {number} of all.\n")

    result = run("convert", place, "--to", to, "-o", "out", "--json")

    taken = "\n".join(p.read_text() for p in Path("out").rglob("*") if p.is_file())
    found = [f for pack in json.loads(result.stdout)["packs"] for f in pack["findings"]]
    for number, path in enumerate(MIXED[place]):
        if f"Text number {number} " not in taken:
            assert any(names(f, place, path) for f in found), path


def names(finding: dict[str, str], place: str, path: str) -> bool:
    """Return whether a finding is on a file, or names it; or the folder it is in."""
    about, said = finding["path"], finding["message"]
    whole = path if place == "." else f"{place}/{path}"
    if whole == about or path in said or finding["code"] == "missing-prompt":
        return True
    rest = whole.removeprefix(f"{about}/")
    return rest != whole and rest.partition("/")[0] in said


@pytest.mark.row("F53")
def test_many_warnings_of_one_kind_are_shown_in_part() -> None:
    for number in range(30):
        put(f".clinerules/rule-{number}.md", "Do what the text says, always.\n")
    put("out/rule-29/SKILL.md", "theirs")

    result = run("convert", ".clinerules", "-o", "out")

    lines = result.stderr.splitlines()
    for code in ("now-on-demand", "check-description"):
        # Ten with their texts, then a line for the others.
        assert sum(f" {code}: " in line for line in lines) == 10
        assert lines.count(f"{code}: more, which --json lists") == 1
    assert "rule-29: error place-taken" in result.stderr
    assert "29 installed, 1 refused; found: 1 error, 30 warnings, 30 notes" in (
        result.stdout
    )


@pytest.mark.row("F53")
def test_a_second_file_like_agents_md_is_named() -> None:
    put("AGENTS.md", "# Shop\n\nThis is a shop that sells books.\n")
    put("CLAUDE.md", "# Shop\n\nRead this, too.\n")
    put("api/AGENTS.md", "# API\n\nRead this in api.\n")
    put("node_modules/lib/AGENTS.md", "# Theirs\n")
    Path("GEMINI.md").symlink_to("AGENTS.md")

    result = run("convert", ".", "-o", "out")

    assert "there is CLAUDE.md too" in result.stderr
    assert "there is api/AGENTS.md too" in result.stderr
    assert "GEMINI" not in result.stderr
    assert "node_modules" not in result.stderr


SECTIONS = (
    "# Shop\n\nA shop for books. See [setup](#setup).\n\n## Setup\n\nThis uses:\n"
    "\n- make\n- uv\n\n### Slow\n\nSee [the map](docs/map.md).\n\nStyle\n-----\n\n"
    "- Use ruff.\n\n## Deploy\n\n```\n## no heading\nmake deploy\n```\n"
)


@pytest.mark.row("F53")
def test_parts_of_a_file_pass_the_linter() -> None:
    put("AGENTS.md", SECTIONS)

    result = run("convert", "AGENTS.md", "--split", "-o", "out")

    assert result.exit_code == 0
    assert packs() == ["deploy", "setup", "shop", "style"]
    assert [str(f) for f in check(["out"]).findings] == []
    setup = Path("out/setup/SKILL.md").read_text("utf-8")
    assert "\n# Setup\n" in setup
    assert "\n## Slow\n" in setup
    assert "the map (`docs/map.md`)" in setup
    deploy = Path("out/deploy/SKILL.md").read_text("utf-8")
    assert "\n## no heading\n" in deploy


@pytest.mark.row("F53")
@pytest.mark.parametrize(
    ("about", "status"),
    [("Fills in forms. Use when a form must be filled in.", 0), ("Short.", 1)],
)
def test_the_status_says_whether_there_are_packs(about: str, status: int) -> None:
    """A warning is no failure; what the target refuses is one."""
    head = f"---\nname: forms\ndescription: {about}\n"
    text = f"{head}trigger_keywords: [a]  # why\n---\n# F\n\nDo it.\n"
    put("packs/forms/SKILL.md", text)

    assert run("convert", "packs", "--to", "spec", "-o", "spec").exit_code == 0
    assert run("convert", "spec", "--to", "strict", "-o", "s").exit_code == status
