"""``satchel usage import``: what it prints, writes and leaves alone."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from satchel_lab.commands.usage_import import command
from tests.functional.library import run, tree
from tests.unit.sessions.planted import (
    DAY,
    START,
    ClaudeFile,
    CodexFile,
    plant,
    skill,
    write_skill,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def imported(*arguments: str, width: int = 120) -> Result:
    return CliRunner().invoke(command, arguments, env={"COLUMNS": str(width)})


def small(home: Path) -> Path:
    """Write three sessions in which a skill is passed over, and one in which not."""
    one, project = skill(1), home / "project"
    write_skill(project / ".claude/skills", one)
    for number in range(4):
        file = ClaudeFile(str(project), START + number * DAY, number)
        file.list({one.name: one.description})
        file.ask(f"secret: {one.query}")
        if number == 3:
            file.load(one.name)
        file.write(home / ".claude")
    return project


def test_nothing_is_there() -> None:
    """It says where it looked."""
    result = imported()

    assert result.exit_code == 2
    assert "no session of Claude Code, Codex, GitHub Copilot CLI in " in result.output
    assert "/.claude/projects, " in result.output


def test_none_in_the_last_days_is_no_claim_about_earlier_ones(home: Path) -> None:
    file = ClaudeFile(str(home / "project"), START - 4_000 * DAY, 1)
    file.ask("in 2020")
    file.write(home / ".claude")

    result = imported("--client", "claude-code", "--days", "1")

    assert result.exit_code == 2
    assert "no session of Claude Code of the last 1 day in " in result.output


@pytest.mark.parametrize(("width", "lines"), [(120, 26), (80, 24)])
def test_one_screen(home: Path, width: int, lines: int) -> None:
    """What to do something about comes first; the rest is counted."""
    plant(home, "claude-code", 1)

    output = imported(width=width).output

    assert len(output.splitlines()) <= lines
    assert max(map(len, output.splitlines())) <= width
    assert "536 turns of the user, 2031-01-01 to 2031-01-30" in output
    assert "dead: " in output.partition("cut from the list")[0]
    assert "and 82 more (" in output or "and 92 more (" in output


def test_no_text_of_a_session_is_shown_or_written_unless_asked_for(home: Path) -> None:
    """And nothing at all is written next to the sessions."""
    small(home)
    before = tree(home)

    plain, document = imported().output, imported("--json").output
    shown = imported("--show-turns").output

    assert tree(home) == before
    assert "secret" not in plain + document
    assert "secret: I need to repair" in shown


def test_cases_are_what_eval_reads(home: Path, tmp_path: Path) -> None:
    """Each turn that was passed over is one, for its skill."""
    project, cases = small(home), tmp_path / "cases.json"

    assert imported("--cases", str(cases)).exit_code == 0

    result = run("eval", str(project / ".claude/skills"), str(cases), "--json")
    assert json.loads(cases.read_text("utf-8"))[0]["skill"] == skill(1).name
    assert json.loads(result.output)["cases"][0]["expected"] == [skill(1).name]


def test_events_are_marked_and_the_same_each_time(home: Path, tmp_path: Path) -> None:
    """A session that has grown has the earlier ones again, with the same numbers."""
    project, events = small(home), tmp_path / "events.jsonl"
    file = CodexFile(str(project), START, 9)
    file.call("cat .claude/skills/other.md")
    file.load(skill(1).name, 1)
    file.write(home / ".codex")

    imported("--events", str(events))
    first = [json.loads(line) for line in events.read_text("utf-8").splitlines()]
    file.load(skill(1).name, 1)
    file.write(home / ".codex")
    imported("--events", str(events), "--client", "codex")
    second = [json.loads(line) for line in events.read_text("utf-8").splitlines()]

    assert [set(event) for event in first] == [
        {
            *("event", "at", "name", "client", "conversation", "writer", "seq"),
            "schema_version",
        }
    ] * 2
    assert {event["event"] for event in first} == {"skill_imported"}
    assert [event["client"] for event in first] == ["codex", "claude-code"]
    assert second[0] == first[0]
    assert [event["seq"] for event in second] == [2, 3]


def test_json_has_all_of_it(home: Path) -> None:
    """What is unknown, unread and newer, too."""
    small(home)
    file = ClaudeFile(str(home / "project"), START, 8, version="3.0.0")
    file.ask("x")
    file.row("skill-news")
    file.write(home / ".claude")

    document = json.loads(imported("--json").output)
    lines = imported().output

    assert document["schema_version"] == 1
    assert document["newer"] == {"claude-code": "3.0.0"}
    assert document["unknown_lines"] == {"claude-code: skill-news": 1}
    entry = document["skills"][0]
    assert (entry["name"], entry["verdict"]) == (skill(1).name, "used")
    assert [turn["turn"] for turn in entry["fits"]] == [0, 0, 0]
    assert "note: Claude Code 3.0.0 is newer than 2.1.332" in lines
    assert "note: unknown lines, passed over: claude-code: skill-news (1)" in lines


def test_folders_that_no_client_reads(home: Path, tmp_path: Path) -> None:
    """They are judged where --skills names them."""
    small(home)
    write_skill(tmp_path / "library", skill(5))

    result = imported("--skills", str(tmp_path / "library"))

    assert skill(5).name in result.output
    assert "no client here reads its folder" in result.output


def test_a_session_cannot_name_a_folder_to_read(home: Path) -> None:
    """Only the folders for skills are opened, and never one of another machine."""
    one = skill(1)
    write_skill(home / "private", one)
    for number, cwd in enumerate(("//host/share", "relative", f"{home}/private", "")):
        file = ClaudeFile(cwd, START, number)
        file.list({one.name: ""})
        file.ask(one.query)
        file.call("Read", file_path=f"{home}/private/{one.name}/SKILL.md")
        file.write(home / ".claude")

    document = json.loads(imported("--json").output)

    assert (document["skills"], document["folders"]) == ([], [])
    assert document["elsewhere"] == [one.name]
