"""Session files of Codex: ``sessions/2026/11/29/rollout-<time>-<id>.jsonl``.

A line is an item with a ``type`` and a ``payload``. The list of skills is in a message
of the developer, what the user typed in one of the user; a skill is loaded by a command
that reads its SKILL.md, or by ``$name``, whose text follows as a message.
"""

import json
import re
from contextlib import suppress
from typing import Any, Final, cast

from satchel_lab.sessions._rows import (
    Row,
    SessionDraft,
    row_of,
    seconds_of,
    text_of,
    texts_of,
)

TYPES: Final = frozenset(
    """
    compacted event_msg ghost_snapshot inter_agent_communication response_item
    session_meta session_state token_usage_record turn_context world_state
    """.split()  # noqa: SIM905 - a list would be a column of words
)
ITEMS: Final = frozenset(
    """
    additional_tools agent_message compaction compaction_summary compaction_trigger
    context_compaction custom_tool_call custom_tool_call_output function_call
    function_call_output ghost_snapshot image_generation_call local_shell_call message
    other reasoning tool_search_call tool_search_output web_search_call
    """.split()  # noqa: SIM905
)
_FACTS: Final = (b'"session_meta"', b'"turn_context"', b"model_context_window")
_LISTED: Final = re.compile(
    r"^- (?P<name>[^\s:]+(?::[^\s:]+)*|[^:\n]+):(?: (?P<text>.*?))? \(file: .*\)$",
    re.MULTILINE,
)
_SKILL: Final = re.compile(r"<skill>\s*<name>([^<]*)</name>")
_EDITED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_EXIT: Final = re.compile(r'(?:exited with code|\\?"exit_code\\?":)\s*(-?\d+)')
# The client reports what it uses of a window.
_USED_SHARE: Final = 0.95
_MOST_CHARS: Final = 200_000


def is_of_interest(line: bytes, draft: SessionDraft) -> bool:
    """Tell whether a line may hold a turn, a list or a load."""
    if b"kill" in line or b"SKILL" in line or b'"user"' in line:
        return b'"world_state"' not in line[:120]
    if any(fact in line for fact in _FACTS):
        return True
    return any(call.encode() in line for call in draft.pending)


def take(row: Row, draft: SessionDraft) -> str:
    """Add what an item says to the session; return what is not known in it."""
    at = seconds_of(row.get("timestamp"))
    draft.tick(at)
    # The oldest files have the items themselves, without a payload.
    item = row_of(row.get("payload")) or row
    draft.note(id="", version=item.get("cli_version"), cwd=item.get("cwd"))
    match row.get("type"):
        case "session_meta":
            _take_facts(item, draft)
        case "event_msg":
            window = item.get("model_context_window")
            window = window or row_of(item.get("info")).get("model_context_window")
            if isinstance(window, int) and 0 < window < 1 << 40:
                draft.window = round(window / _USED_SHARE)
        case "turn_context" | "compacted" | "world_state":
            pass
        case _:
            _take_item(item, draft, at)
            kind = text_of(item.get("type"))
            return "" if kind in ITEMS or item is row else f"response_item/{kind}"
    return ""


def _take_facts(item: Row, draft: SessionDraft) -> None:
    draft.note(id=item.get("id"), version=item.get("cli_version"), cwd=item.get("cwd"))
    source = item.get("source")
    if isinstance(source, dict) or item.get("thread_source") not in (None, "user"):
        draft.is_helper = True


def _take_item(item: Row, draft: SessionDraft, at: float) -> None:
    call = text_of(item.get("call_id"))
    match item.get("type"):
        case "message":
            _take_message(item, draft, at)
        case "function_call":
            given = _arguments(item.get("arguments"))
            folder = text_of(given.get("workdir"))
            command = given.get("cmd") or given.get("command")
            _take_command(command, folder, draft, at, call)
            _take_patch(text_of(given.get("input")), draft, at, call)
        case "local_shell_call":
            action = row_of(item.get("action"))
            folder = text_of(action.get("working_directory"))
            _take_command(action.get("command"), folder, draft, at, call)
        case "custom_tool_call":
            program = text_of(item.get("input"))
            _take_patch(program, draft, at, call)
            if not _EDITED.search(program):
                draft.run(program, at, call)
        case "function_call_output" | "custom_tool_call_output":
            draft.answer(call, failed=_failed(item.get("output")))
        case _:
            pass


def _take_message(item: Row, draft: SessionDraft, at: float) -> None:
    texts = texts_of(item.get("content"), "input_text", "text")
    for text in texts:
        _, head, rest = text.partition("### Available skills\n")
        if head:
            draft.listed = {} if draft.listed is None else draft.listed
            for entry in _LISTED.finditer(rest):
                draft.list(entry["name"], entry["text"] or "")
        elif item.get("role") == "user":
            for name in _SKILL.findall(text):
                draft.load(name, at)
            draft.ask(text, at)


def _take_command(
    command: object, folder: str, draft: SessionDraft, at: float, call: str
) -> None:
    if isinstance(command, list):
        words = cast("list[object]", command)
        command = " ".join(word for word in words if isinstance(word, str))
    line = text_of(command)
    if "*** Begin Patch" in line:
        _take_patch(line, draft, at, call)
        return
    draft.run(line, at, call, folder)


def _take_patch(patch: str, draft: SessionDraft, at: float, call: str) -> None:
    for path in _EDITED.findall(patch):
        draft.open(path.strip(), at, call, is_edit=True)


def _arguments(value: object) -> Row:
    parsed: Any = value
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            parsed = json.loads(value)
    return row_of(parsed)


def _failed(output: object) -> bool:
    """Tell whether a command ended with another code than 0, or was not run."""
    text = output if isinstance(output, str) else ""
    if not text:
        with suppress(ValueError, TypeError, RecursionError):
            text = json.dumps(output)
    code = _EXIT.search(text[:_MOST_CHARS])
    return text.startswith("unsupported call") or (code is not None and code[1] != "0")
