"""Session files are read as clients write them, and what is unknown is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import MissingPathError
from satchel_lab.sessions import read_sessions
from satchel_lab.sessions._rows import ClientSession, paths_in, plain_turn
from tests.unit.sessions.planted import START, ClaudeFile, CodexFile, stamp


def session(file: ClaudeFile | CodexFile, folder: Path) -> ClientSession:
    (one,) = read_sessions([str(file.write(folder))]).sessions
    return one


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix it", "fix it"),
        ("<system-reminder>a\nb</system-reminder>fix it", "fix it"),
        ("<ide_opened_file>x</ide_opened_file>\n<b c='d'>e</b> fix it", "fix it"),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", ""),
        ("[Request interrupted by user]", ""),
        ("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>a</INSTRUCTIONS>", ""),
        ("if a < b: <c>", "if a < b: <c>"),
        ("<a>" * 2_000, "<a>" * 2_000),
        ("", ""),
    ],
)
def test_the_own_words_of_a_user(text: str, words: str) -> None:
    """What a client puts in front of them is none of them."""
    assert plain_turn(text) == words


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat a/SKILL.md", ["a/SKILL.md"]),
        ("cat SKILL.md", ["SKILL.md"]),
        ("sed -n '1,20p' \"a/SKILL.md\"; nl b/x.md", ["a/SKILL.md", "b/x.md"]),
        ("sed -i s/a/b/ a/SKILL.md", []),
        ("/bin/cat /a/SKILL.md", ["/a/SKILL.md"]),
        ("ls a/b && git diff a/SKILL.md", []),
        ("cat > a/SKILL.md <<EOF", []),
        ("python a/scripts/x.py --y", ["a/scripts/x.py"]),
        ("./a/scripts/x.sh", ["./a/scripts/x.sh"]),
        ('text(await tools.exec_command({cmd: "cat a/SKILL.md"}))', ["a/SKILL.md"]),
        (r"Get-Content C:\a\SKILL.md", [r"C:\a\SKILL.md"]),
    ],
)
def test_the_files_that_a_command_reads(command: str, paths: list[str]) -> None:
    """A command that only names a file does not read it."""
    found = paths_in(command, "", "(?!)")

    assert [path for how, path in found if how == "open"] == paths


def test_claude_code_by_name_command_summary_and_queue(tmp_path: Path) -> None:
    """All ways in which a skill is loaded, and the turns in which."""
    file = ClaudeFile("/work/x", number=7)
    shown = {"a-z": "4.", "a": "", "b": "One.\n- a: no entry", "p:c": "Two: three."}
    file.list(shown)
    file.ask("first")
    file.call("Skill", skill="a")
    file.ask("second")
    file.call("Skill", command="/b now")
    file.load("p:c", 1)
    file.row("user", isMeta=True, message={"role": "user", "content": "not typed"})
    file.row("attachment", attachment={"type": "queued_command", "prompt": "third"})
    gone: list[dict[str, Any]] = [{"name": "a"}, {"name": "d"}]
    file.row("attachment", attachment={"type": "invoked_skills", "skills": gone})

    one = session(file, tmp_path)

    assert (one.client, one.version, one.cwd) == ("claude-code", "2.1.332", "/work/x")
    assert one.config == str(tmp_path)
    assert [turn.text for turn in one.turns] == ["first", "second", "/p:c x", "third"]
    assert [(use.turn, use.what) for use in one.uses] == [
        *((0, "a"), (1, "b"), (2, "p:c"), (3, "d"))
    ]
    assert one.listed == shown


def test_a_list_without_names_of_an_earlier_version(tmp_path: Path) -> None:
    """Its lines are read one by one."""
    file = ClaudeFile("/work/x", version="2.1.20")
    content = "- a: One.\n- p:c: Two: three.\n- d"
    file.row("attachment", attachment={"type": "skill_listing", "content": content})
    file.ask("x")

    assert session(file, tmp_path).listed == {
        "a": "One.",
        "p:c": "Two: three.",
        "d": "",
    }


def test_codex_by_command_name_script_and_patch(tmp_path: Path) -> None:
    """A command that failed read nothing; a patch is an edit."""
    file = CodexFile("/work/x")
    file.list({"a": "One: two.", "b": "", "p:c": "Three."})
    file.ask("<environment_context>\n</environment_context>")
    file.ask("first")
    file.row("event_msg", type="user_message", message="first")
    file.call("cat a/SKILL.md")
    file.call("cat b/SKILL.md", 1)
    file.load("p:c", 1)
    file.row("event_msg", type="user_message", message="second")
    script = 'await tools.exec_command({cmd: "cat d/SKILL.md"})'
    patch = "*** Begin Patch\n*** Update File: e/SKILL.md\n"
    for text in (script, patch):
        file.row("response_item", type="custom_tool_call", name="x", input=text)

    one = session(file, tmp_path)

    assert (one.id, one.window) == ("01a2-0", 200_000)
    assert [turn.text for turn in one.turns] == ["first", "second"]
    assert [(use.turn, use.what, use.how) for use in one.uses] == [
        (0, "a/SKILL.md", "open"),
        (0, "b/SKILL.md", "touch"),
        (0, "p:c", "load"),
        (1, "d/SKILL.md", "open"),
        (1, "e/SKILL.md", "edit"),
    ]
    assert one.listed == {"a": "One: two.", "b": "", "p:c": "Three."}


def test_the_table_of_copilot(tmp_path: Path) -> None:
    """A third client, for which a table of fields is enough."""
    listing = (
        "<available_skills><skill>\n<name>a</name>\n<description>One &amp; two."
        "</description></skill></available_skills>\n"
        "Additional skills available (invoke by name): b, c... and 3 more\n"
    )
    calls: list[tuple[str, dict[str, Any]]] = [
        ("session.start", {"sessionId": "s", "copilotVersion": "1.0.102"}),
        ("session.start", {"context": {"cwd": "/work/x"}}),
        ("user.message", {"content": "first"}),
        ("system.message", {"content": listing}),
        ("skill.invoked", {"name": "a"}),
        (
            "tool.execution_start",
            {"toolCallId": "1", "arguments": {"path": "/d/SKILL.md"}},
        ),
        ("tool.execution_complete", {"toolCallId": "1", "success": False}),
        ("tool.execution_start", {"arguments": {"command": "cat e/SKILL.md"}}),
    ]
    path = tmp_path / "session-state" / "s" / "events.jsonl"
    path.parent.mkdir(parents=True)
    rows = ({"type": k, "data": d, "timestamp": stamp(START)} for k, d in calls)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")

    (one,) = read_sessions([str(tmp_path)]).sessions

    assert (one.client, one.id, one.version, one.cwd) == (
        *("github-copilot-cli", "s", "1.0.102", "/work/x"),
    )
    assert [turn.text for turn in one.turns] == ["first"]
    assert [(use.what, use.how) for use in one.uses] == [
        *(("a", "load"), ("/d/SKILL.md", "touch"), ("e/SKILL.md", "open"))
    ]
    assert one.listed == {"a": "One & two.", "b": "", "c": ""}


def test_unknown_lines_are_named_and_newer_versions_too(tmp_path: Path) -> None:
    """And lines that are none are counted."""
    file = ClaudeFile("/work/x", version="2.4.0")
    file.ask("first")
    file.row("skill-thing")
    file.row("attachment", attachment={"type": "skill_offer"})
    path = file.write(tmp_path)
    with path.open("ab") as lines:
        lines.write(b'\xff\xfe{"kill"\n\n[1]\n{"type":"new-thing","x":1}\n{"type":"us')

    read = read_sessions([str(tmp_path)])

    assert read.bad == 3
    assert dict(read.unknown) == {
        "claude-code: skill-thing": 1,
        "claude-code: attachment/skill_offer": 1,
        "claude-code: new-thing": 1,
    }
    assert [(kind.key, version) for kind, version in read.newer()] == [
        ("claude-code", "2.4.0")
    ]


def test_files_that_are_no_sessions(tmp_path: Path) -> None:
    """Each is named with its reason; a path that is not there is an error."""
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n', "utf-8")
    (tmp_path / "b.jsonl.zst").write_bytes(b"(\xb5")
    (tmp_path / "c.jsonl").symlink_to("/dev/zero")
    (tmp_path / "empty.jsonl").write_bytes(b"")

    read = read_sessions([str(tmp_path)])

    assert [(Path(file).name, reason) for file, reason in read.unread] == [
        ("a.jsonl", "it is no session of these clients"),
        ("b.jsonl.zst", "it is compressed"),
        ("c.jsonl", "it is no file"),
    ]
    with pytest.raises(MissingPathError):
        read_sessions([str(tmp_path / "gone")])


def test_a_line_without_end_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never in memory as a whole."""
    monkeypatch.setattr("satchel_lab.sessions._files.MAX_LINE_BYTES", 4_096)
    file = ClaudeFile("/work/x")
    file.ask("first")
    file.ask("long " * 5_000)
    file.ask("second")

    read = read_sessions([str(file.write(tmp_path))])

    assert read.bad == 1
    assert [turn.text for turn in read.sessions[0].turns] == ["first", "second"]


def test_only_some_clients_and_days(tmp_path: Path) -> None:
    """Files that were written before are not opened."""
    ClaudeFile("/work/x", START).write(tmp_path)
    late = ClaudeFile("/work/x", START + 1e6, 1)
    late.ask("x")
    late.write(tmp_path)
    CodexFile("/work/x", START + 1e6).write(tmp_path)

    read = read_sessions([str(tmp_path)], ["claude-code"], START + 1e5)

    assert [one.at for one in read.sessions] == []
