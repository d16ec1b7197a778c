"""Where well-known clients look for skills.

Source: the documentation of each client, as it was in November 2026.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["CLIENTS", "PROJECT_FOLDERS", "Client"]


@dataclass(frozen=True, slots=True)
class Client:
    """The folders of one client, in its own order.

    ``project`` folders are relative to a project, ``user`` folders to a home,
    ``managed`` ones are absolute: an administrator fills them. ``home_variable`` is an
    environment variable whose value stands for the first part of the user folders.
    """

    name: str
    project: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    managed: tuple[str, ...] = ()
    home_variable: str = ""


def _dotted(name: str, folder: str) -> Client:
    """Return a client that keeps to the pattern of the client guide."""
    return Client(name, (f"{folder}/skills",), (f"{folder}/skills",))


CLIENTS: Final = (
    # What the guide for clients recommends to all comes first.
    _dotted("Agent Skills", ".agents"),
    Client(
        "Claude Code",
        (".claude/skills",),
        (".claude/skills",),
        ("/etc/claude-code/.claude/skills",),
        "CLAUDE_CONFIG_DIR",
    ),
    Client(
        "Codex",
        (".codex/skills",),
        (".codex/skills",),
        ("/etc/codex/skills",),
        "CODEX_HOME",
    ),
    Client("Copilot and VS Code", (".github/skills",), (".copilot/skills",)),
    _dotted("Gemini CLI", ".gemini"),
    Client(
        "OpenCode",
        (".opencode/skills", ".opencode/skill"),
        (".config/opencode/skills", ".config/opencode/skill"),
    ),
    _dotted("Cursor", ".cursor"),
    Client("OpenClaw", user=(".openclaw/skills",)),
    _dotted("Hermes", ".hermes"),
    Client("Goose", (".goose/skills",)),
    Client("pi", (".pi/skills",), (".pi/agent/skills",)),
    Client("deepagents", (".deepagents/skills",)),
    _dotted("Rovo Dev", ".rovodev"),
    Client("Amp and Kimi", user=(".config/agents/skills",)),
    Client("Antigravity", (".agent/skills",), (".gemini/antigravity/skills",)),
    Client("Crush", (".crush/skills",), (".config/crush/skills",)),
    Client("Windsurf", (".windsurf/skills",), (".codeium/windsurf/skills",)),
    _dotted("Augment", ".augment"),
    _dotted("Cline", ".cline"),
    _dotted("Command Code", ".commandcode"),
    _dotted("Continue", ".continue"),
    _dotted("Droid", ".factory"),
    _dotted("Junie", ".junie"),
    _dotted("Kilo", ".kilocode"),
    _dotted("Kiro", ".kiro"),
    _dotted("Mistral Vibe", ".vibe"),
    _dotted("OpenHands", ".openhands"),
    _dotted("Qoder", ".qoder"),
    _dotted("Qwen", ".qwen"),
    _dotted("Roo", ".roo"),
    _dotted("Trae", ".trae"),
    _dotted("Zencoder", ".zencoder"),
)
"""In the order in which their folders go before one another within one scope."""

PROJECT_FOLDERS: Final = tuple(
    dict.fromkeys(
        ["skills", *(folder for client in CLIENTS for folder in client.project)]
    )
)
"""Folders in which projects keep skills, relative to a project."""
