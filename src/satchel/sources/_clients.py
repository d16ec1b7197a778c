"""Where well-known clients look for skills, by their documentation of November 2026."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ClientFolders:
    """The folders of one client, in its own order."""

    # `project` folders are relative to a project, `user` folders to a home, `managed`
    # ones are absolute: an administrator fills them. `home_variable` is an environment
    # variable whose value replaces the first part of the user folders.

    name: str
    project: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    managed: tuple[str, ...] = ()
    home_variable: str = ""


def _dotted(name: str, folder: str) -> ClientFolders:
    return ClientFolders(name, (f"{folder}/skills",), (f"{folder}/skills",))


# In the order of precedence of their folders within one scope.
CLIENT_FOLDERS: Final = (
    # The folder that the guide for clients recommends to all comes first.
    _dotted("Agent Skills", ".agents"),
    ClientFolders(
        "Claude Code",
        (".claude/skills",),
        (".claude/skills",),
        ("/etc/claude-code/.claude/skills",),
        "CLAUDE_CONFIG_DIR",
    ),
    ClientFolders(
        "Codex",
        (".codex/skills",),
        (".codex/skills",),
        ("/etc/codex/skills",),
        "CODEX_HOME",
    ),
    ClientFolders("Copilot and VS Code", (".github/skills",), (".copilot/skills",)),
    _dotted("Gemini CLI", ".gemini"),
    ClientFolders(
        "OpenCode",
        (".opencode/skills", ".opencode/skill"),
        (".config/opencode/skills", ".config/opencode/skill"),
    ),
    _dotted("Cursor", ".cursor"),
    ClientFolders("OpenClaw", user=(".openclaw/skills",)),
    _dotted("Hermes", ".hermes"),
    ClientFolders("Goose", (".goose/skills",)),
    ClientFolders("pi", (".pi/skills",), (".pi/agent/skills",)),
    ClientFolders("deepagents", (".deepagents/skills",)),
    _dotted("Rovo Dev", ".rovodev"),
    ClientFolders("Amp and Kimi", user=(".config/agents/skills",)),
    ClientFolders("Antigravity", (".agent/skills",), (".gemini/antigravity/skills",)),
    ClientFolders("Crush", (".crush/skills",), (".config/crush/skills",)),
    ClientFolders("Windsurf", (".windsurf/skills",), (".codeium/windsurf/skills",)),
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

# Folders in which projects keep skills, relative to a project.
PROJECT_FOLDERS: Final = tuple(
    dict.fromkeys(
        ["skills", *(folder for client in CLIENT_FOLDERS for folder in client.project)]
    )
)
