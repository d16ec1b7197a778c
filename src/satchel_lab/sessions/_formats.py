"""Which clients have session files that can be read, and where they keep them."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.sources import CLIENT_FOLDERS, ClientFolders
from satchel_lab.sessions import _claude_code, _codex, _tables
from satchel_lab.sessions._rows import Row, SessionDraft


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """One client: its files, who else's folders of skills it reads, how it is read.

    ``tried`` is the version whose files this was tried with. ``sessions`` are folders
    in ``config``, which is in a home or at ``variable``. ``sign`` is in every file.
    ``leaves_out`` says that skills without room in the list are not in it at all.
    """

    key: str
    title: str
    tried: str
    config: str
    variable: str
    sessions: tuple[str, ...]
    folders: tuple[str, ...]
    sign: tuple[bytes, ...]
    types: frozenset[str]
    is_of_interest: Callable[[bytes, SessionDraft], bool]
    take: Callable[[Row, SessionDraft], str]
    leaves_out: bool = False

    def configs(self) -> Path:
        """Return the folder of the client on this machine."""
        moved = os.environ.get(self.variable) if self.variable else None
        return Path(moved) if moved else Path.home() / self.config

    @property
    def client_folders(self) -> tuple[ClientFolders, ...]:
        """Whose folders of skills it reads."""
        return tuple(one for one in CLIENT_FOLDERS if one.name in self.folders)


FORMATS: Final[Mapping[str, SessionFormat]] = {
    one.key: one
    for one in (
        SessionFormat(
            key="claude-code",
            title="Claude Code",
            tried="2.1.332",
            config=".claude",
            variable="CLAUDE_CONFIG_DIR",
            sessions=("projects",),
            folders=("Claude Code",),
            sign=(b'"parentUuid"', b'"sessionId"', b'"leafUuid"'),
            types=_claude_code.TYPES,
            is_of_interest=_claude_code.is_of_interest,
            take=_claude_code.take,
        ),
        SessionFormat(
            key="codex",
            title="Codex",
            tried="0.171.0",
            config=".codex",
            variable="CODEX_HOME",
            sessions=("sessions", "archived_sessions"),
            folders=("Codex", "Agent Skills"),
            sign=(b'"session_meta"', b'"response_item"', b'"event_msg"'),
            types=_codex.TYPES | _codex.ITEMS,
            is_of_interest=_codex.is_of_interest,
            take=_codex.take,
            leaves_out=True,
        ),
        SessionFormat(
            key="github-copilot-cli",
            title="GitHub Copilot CLI",
            tried="1.0.102",
            config=".copilot",
            variable="",
            sessions=("session-state",),
            folders=("Copilot and VS Code", "Agent Skills", "Claude Code"),
            sign=(b'"session.start"', b'"user.message"'),
            types=_tables.COPILOT.types,
            is_of_interest=_tables.is_of_interest,
            take=_tables.taker(_tables.COPILOT),
            leaves_out=True,
        ),
    )
}
