"""Session files that a small table is enough for: which field of which row is what.

To read another client, add its table here and its line to `_formats`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Final

from satchel_lab.sessions._rows import (
    NO_ROW,
    Row,
    SessionDraft,
    row_of,
    seconds_of,
    text_of,
)

# A type of row, and the path of a field in it.
Where = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RowTable:
    """Where rows of JSON lines have what is asked for; a path has dots.

    ``call`` and ``answer`` are the id of a call in the row that starts it, and in the
    one that ends it; ``success`` is false in one that failed.
    """

    id: Where
    version: Where
    cwd: Where
    turn: Where
    listing: Where
    load: Where
    file: Where
    command: Where
    call: Where
    answer: Where
    success: str
    types: frozenset[str]


COPILOT: Final = RowTable(
    id=("session.start", "data.sessionId"),
    version=("session.start", "data.copilotVersion"),
    cwd=("session.start", "data.context.cwd"),
    turn=("user.message", "data.content"),
    listing=("system.message", "data.content"),
    load=("skill.invoked", "data.name"),
    file=("tool.execution_start", "data.arguments.path"),
    command=("tool.execution_start", "data.arguments.command"),
    call=("tool.execution_start", "data.toolCallId"),
    answer=("tool.execution_complete", "data.toolCallId"),
    success="data.success",
    types=frozenset(
        """
        abort assistant.message assistant.turn_end assistant.turn_start session.error
        session.info session.model_change session.resume session.shutdown session.start
        session.usage_record skill.context_delivered_ref skill.invoked system.message
        tool.execution_complete tool.execution_start user.message
        """.split()  # noqa: SIM905
    ),
)
_SKILL: Final = re.compile(
    r"<skill>\s*<name>(.*?)</name>\s*<description>(.*?)</description>", re.DOTALL
)
_NAMES: Final = re.compile(r"Additional skills available \(invoke by name\): ([^\n]*)")


def is_of_interest(line: bytes, draft: SessionDraft) -> bool:
    """Tell whether a line may hold a turn, a list or a load."""
    return (
        b"kill" in line
        or b"SKILL" in line
        or b'user.message"' in line
        or b'session.start"' in line
        or any(call.encode() in line for call in draft.pending)
    )


def taker(table: RowTable) -> Callable[[Row, SessionDraft], str]:
    """Return what adds a row of these files to a session."""

    def take(row: Row, draft: SessionDraft) -> str:
        def field(where: Where) -> str:
            kind, path = where
            return text_of(_at(row, path)) if row.get("type") == kind else ""

        at = seconds_of(row.get("timestamp"))
        draft.tick(at)
        facts = field(table.id), field(table.version), field(table.cwd)
        draft.note(id=facts[0], version=facts[1], cwd=facts[2])
        draft.ask(field(table.turn), at)
        draft.load(field(table.load), at)
        call = field(table.call)
        draft.open(field(table.file), at, call)
        draft.run(field(table.command), at, call)
        if answered := field(table.answer):
            draft.answer(answered, failed=_at(row, table.success) is False)
        listing = field(table.listing)
        for name, text in _SKILL.findall(listing):
            draft.list(unescape(name).strip(), unescape(text).strip())
        if more := _NAMES.search(listing):
            for name in re.sub(r"\.{3} and \d+ more$", "", more[1]).split(", "):
                draft.list(name, "")
        return ""

    return take


def _at(row: Row, path: str) -> object:
    *folders, last = path.split(".")
    for key in folders:
        row = row_of(row.get(key)) or NO_ROW
    return row.get(last)
