"""Session files of Claude Code: ``projects/<folder>/<session>.jsonl``.

A line is an entry with a ``type``. What the user typed is a ``user`` entry that is no
answer of a tool; the list of skills is an attachment ``skill_listing``.
"""

import re
from typing import Final, cast

from satchel_lab.sessions._rows import (
    Row,
    SessionDraft,
    row_of,
    rows_of,
    seconds_of,
    text_of,
    texts_of,
)

TYPES: Final = frozenset(
    """
    agent-color agent-name agent-setting ai-title api-request api-request-blob
    api-request-shape assistant atis-latch attachment attribution-snapshot
    content-replacement cost-state custom-title file-history-snapshot last-prompt mode
    permission-mode pr-link progress queue-operation summary system tag task-summary
    tools-used user worktree-state
    """.split()  # noqa: SIM905 - a list would be a column of words
)
# Entries of these types hold no turn and no load, and some are large.
_LARGE: Final = (b'{"type":"api-request', b'{"type":"file-history', b'{"type":"queue')
_COMMAND: Final = re.compile(r"<command-name>\s*/?([^<\s]+)")
_ARGUMENTS: Final = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_LISTED: Final = re.compile(r"^- ([^\s:]+(?::[^\s:]+)*)(?:: (.*))?$", re.MULTILINE)
_LIST_HEAD: Final = "skills are available for use with the Skill tool:"
_NOT_TYPED: Final = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_EDITS: Final = frozenset(["Edit", "MultiEdit", "NotebookEdit", "Write"])


def is_of_interest(line: bytes, draft: SessionDraft) -> bool:
    """Tell whether a line may hold a turn, a list or a load."""
    if line.startswith(_LARGE):
        return False
    if b"kill" in line or b"SKILL" in line or b'"queued_command"' in line:
        return True
    if b'"user"' in line and b'"tool_result"' not in line:
        return True
    return any(call.encode() in line for call in draft.pending) or not draft.version


def take(row: Row, draft: SessionDraft) -> str:
    """Add what an entry says to the session; return what is not known in it."""
    at = seconds_of(row.get("timestamp"))
    draft.note(id=row.get("sessionId"), version=row.get("version"), cwd=row.get("cwd"))
    draft.tick(at)
    # Early versions wrote what helpers did into the same file.
    draft.is_helper = row.get("isSidechain") is True
    match row.get("type"):
        case "user":
            _take_user(row, draft, at)
        case "assistant":
            for block in rows_of(row_of(row.get("message")).get("content")):
                if block.get("type") == "tool_use":
                    _take_call(block, draft, at)
        case "attachment":
            return _take_attachment(row_of(row.get("attachment")), draft, at)
        case _:
            pass
    return ""


def _take_user(row: Row, draft: SessionDraft, at: float) -> None:
    content = row_of(row.get("message")).get("content")
    for block in rows_of(content):
        if block.get("type") == "tool_result":
            call = text_of(block.get("tool_use_id"))
            draft.answer(call, failed=block.get("is_error") is True)
    text = "\n".join(texts_of(content, "text"))
    _, head, listed = text.partition(_LIST_HEAD)
    if head:  # as earlier versions wrote it
        _take_lines(listed.partition("</system-reminder>")[0], draft)
    if any(row.get(key) is True for key in _NOT_TYPED):
        return
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        draft.ask(f"{command[1]}: {arguments[1] if arguments else ''}", at)
        draft.load(command[1], at)
    else:
        draft.ask(text, at)


def _take_call(block: Row, draft: SessionDraft, at: float) -> None:
    name, call = text_of(block.get("name")), text_of(block.get("id"))
    given = row_of(block.get("input"))
    if name in ("Skill", "SlashCommand"):
        asked = given.get("skill") or given.get("command") or given.get("name")
        draft.load(text_of(asked), at, call)
    elif name in _EDITS:
        draft.open(text_of(given.get("file_path")), at, call, is_edit=True)
    else:
        draft.open(text_of(given.get("file_path")), at, call)
        draft.run(text_of(given.get("command")), at, call)


def _take_attachment(attached: Row, draft: SessionDraft, at: float) -> str:
    kind = text_of(attached.get("type"))
    match kind:
        case "skill_listing":
            _take_list(attached, draft)
        case "queued_command":
            draft.ask("\n".join(texts_of(attached.get("prompt"), "text")), at)
        case "invoked_skills":  # after a summary: what had been loaded before it
            for skill in rows_of(attached.get("skills")):
                name = text_of(skill.get("name"))
                if not draft.has_loaded(name):
                    draft.load(name, at)
        case "dynamic_skill":  # its skills are in a list that follows
            pass
        case _:
            return f"attachment/{kind}" if "skill" in kind else ""
    return ""


def _take_lines(content: str, draft: SessionDraft) -> None:
    for name, text in _LISTED.findall(content):
        draft.list(name, text)


def _take_list(attached: Row, draft: SessionDraft) -> None:
    content = text_of(attached.get("content"))
    names = attached.get("names")
    if not isinstance(names, list):
        _take_lines(content, draft)
        return
    # Descriptions have lines of their own, and some begin as an entry does.
    every = (name for name in cast("list[object]", names) if isinstance(name, str))
    heads = (rf"^- ({re.escape(name)})(?::|$)" for name in every)
    entries = (re.search(head, content, re.MULTILINE) for head in heads)
    places = sorted((one.start(), one.end(), one[1]) for one in entries if one)
    ends = [*(start for start, _, _ in places[1:]), len(content)]
    for (_, start, name), end in zip(places, ends, strict=True):
        draft.list(name, content[start:end].strip())
