"""No file of sessions, however damaged, is an error."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from satchel_lab.sessions import judge_skills, read_sessions
from tests.unit.sessions.planted import ClaudeFile, CodexFile, skill, write_skill

pytestmark = pytest.mark.property

ONE = skill(1)
WORDS = (
    *("type", "user", "assistant", "attachment", "message", "content", "text", "name"),
    *("tool_use", "tool_result", "input", "skill", "Skill", "skill_listing", "names"),
    *("payload", "response_item", "session_meta", "function_call", "arguments", "cmd"),
    *("timestamp", "cwd", "version", "sessionId", "uuid", "isSidechain", "call_id"),
    *("output", "source", "model_context_window", "event_msg", "info", "id", "role"),
    *("session.start", "user.message", "skill.invoked", "data", "SKILL.md", ONE.name),
)
SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(WORDS)
    | st.sampled_from(
        ("cat a/SKILL.md", "/x/.claude/skills/a/SKILL.md", "\ud800", "~/")
    )
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda some: (
        st.lists(some, max_size=4)
        | st.dictionaries(st.sampled_from(WORDS), some, max_size=6)
    ),
    max_leaves=12,
)


def real_rows() -> list[dict[str, Any]]:
    claude, codex = ClaudeFile("/work/x"), CodexFile("/work/x")
    for file in (claude, codex):
        file.list({ONE.name: ONE.description})
        file.ask(ONE.query)
        file.load(ONE.name)
    return [*claude.rows, *codex.rows]


def replaced(row: dict[str, Any], path: list[int], value: object) -> dict[str, Any]:
    """Return a row in which one value, at whatever depth, is another one."""
    text = json.dumps(row)
    copy: dict[str, Any] = json.loads(text)
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [copy]
    while waiting:
        one: Any = waiting.pop()
        kind = type(one).__name__
        keys: list[Any] = [*range(len(one))] if kind == "list" else []
        keys += list(one) if kind == "dict" else []
        places += [(one, key) for key in keys]
        waiting += [one[key] for key in keys]
    place, key = places[path[0] % len(places)]
    place[key] = value
    return copy


ROWS = st.builds(
    replaced,
    st.sampled_from(real_rows()),
    st.lists(st.integers(0, 40), min_size=1),
    VALUES,
)


def read(home: Path, lines: list[bytes]) -> None:
    file = home / ".claude" / "projects" / "x" / "s.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\n".join(lines))
    if not os.path.lexists(home / ".claude" / "skills"):
        write_skill(home / ".claude" / "skills", ONE)
    files = read_sessions([str(file)])
    report = judge_skills(files)
    assert all(one.why for one in report.skills)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ROWS, min_size=1, max_size=6))
def test_any_value_may_be_anywhere(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Each row is one of a client in which one value is another."""
    read(tmp_path, [json.dumps(row).encode() for row in rows])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VALUES, max_size=6), st.binary(max_size=40), st.data())
def test_any_bytes_may_be_a_line(
    tmp_path: Path, values: list[Any], junk: bytes, data: st.DataObject
) -> None:
    """Real rows cut anywhere, other JSON, bytes that are no text."""
    rows = [json.dumps(row).encode() for row in real_rows()]
    cut = data.draw(st.integers(0, len(rows[2])))
    lines = [*rows, rows[2][:cut], junk, *(json.dumps(v).encode() for v in values)]
    read(tmp_path, data.draw(st.permutations(lines)))
