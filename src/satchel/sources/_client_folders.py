"""Where well-known clients look for skills, and the folders of this machine.

By their documentation of November 2026.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.errors import MissingPathError, SourceUnavailableError
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Found, Limits
from satchel.sources._local import LocalSource


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
CLIENT_FOLDERS: Final[tuple[ClientFolders, ...]] = (
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
PROJECT_FOLDERS: Final[tuple[str, ...]] = tuple(
    dict.fromkeys(
        ["skills", *(folder for client in CLIENT_FOLDERS for folder in client.project)]
    )
)

# Lower goes first. There is room for every client's folders between two scopes. A
# project that is not trusted comes last, so that it shadows nothing.
_MANAGED: Final = 0
_PROJECT: Final = 1_000
_USER: Final = 2_000
_UNTRUSTED: Final = 3_000

_FIRST: Final = ".agents/skills"
_ADDRESSES: Final = ("http://", "https://", "mcp+http://", "mcp+https://")

# A folder, and its name in messages.
_ShownFolder = tuple[Path, str]


def usual(
    project: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    *,
    trust: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[LocalSource]:
    """Make a source of each folder in which clients on this machine keep skills.

    Folders that an administrator fills go before those of a trusted project, these
    before the user's; within a scope ``.agents/skills`` goes first.

    Args:
        project: A folder of the project; None is the working folder. The folders
            above it count, too, up to the one with ``.git``.
        home: The user's home; None is that of the environment.
        trust: Whether packs of the project may be listed and loaded.
        limits: Bounds on what is accepted.
    """
    at_home = Path(os.fspath(home) if home else "~").expanduser()
    here = Path(os.fspath(project) if project else ".").absolute()
    scopes = (
        ("managed", True, _MANAGED, _managed_folders()),
        ("project", trust, _PROJECT if trust else _UNTRUSTED, _project_folders(here)),
        ("user", True, _USER, _user_folders(at_home, with_environment=home is None)),
    )
    mine = {folder for folder, _ in scopes[2][3]}
    taken: set[Path] = set()
    sources: list[LocalSource] = []
    for scope, trusted, precedence, folders in scopes:
        for place, (folder, shown) in enumerate(folders):
            if folder in taken or (scope != "user" and folder in mine):
                continue
            taken.add(folder)
            source = LocalSource(
                folder,
                label=f"{scope}:{shown}",
                shown=shown,
                limits=limits,
                missing_ok=True,
                scope=scope,
                trusted=trusted,
                precedence=precedence + place,
            )
            sources.append(source)
    return sources


def _managed_folders() -> list[_ShownFolder]:
    folders = [Path(path) for client in CLIENT_FOLDERS for path in client.managed]
    return [(folder, str(folder)) for folder in folders if folder.is_dir()]


def _project_folders(here: Path) -> list[_ShownFolder]:
    """Return those of the project's folders, up to the one with ``.git``."""
    above = (here, *here.parents)
    tops = (up for up, path in enumerate(above) if (path / ".git").exists())
    folders = [
        (level / name, "../" * up + name)
        for up, level in enumerate(above[: next(tops, 0) + 1])
        for client in CLIENT_FOLDERS
        for name in client.project
    ]
    # The shared folder is watched for even if it does not exist yet.
    return [item for item in folders if item[0].is_dir() or item[1] == _FIRST]


def _user_folders(home: Path, *, with_environment: bool) -> list[_ShownFolder]:
    folders: list[_ShownFolder] = []
    for client in CLIENT_FOLDERS:
        moved = os.environ.get(client.home_variable) if with_environment else None
        for name in client.user:
            rest = name.partition("/")[2]
            if moved:
                folders.append((Path(moved) / rest, f"${client.home_variable}/{rest}"))
            else:
                folders.append((home / name, f"~/{name}"))
    first = f"~/{_FIRST}"
    return [item for item in folders if item[0].is_dir() or item[1] == first]


def usual_folders(
    also: Iterable[str] = (), *, limits: Limits = DEFAULT_LIMITS
) -> tuple[str, ...]:
    """Return the folders of the working folder in which projects keep skills.

    Those are ``skills`` and the folders of clients with a pack in
    them, and what a project names ``also``: folders with a pack, and files, such as
    archives; addresses are passed over. The working folder itself is returned where it
    is a pack, or where its packs are only elsewhere in it; nothing where it has none.

    Raises:
        MissingPathError: A place among ``also`` does not exist.
    """
    named = [place for place in also if not place.startswith(_ADDRESSES)]
    for place in named:
        if not Path(place).exists():
            raise MissingPathError(place)
    usual = (os.curdir,) if Path(SKILL_FILE).exists() else PROJECT_FOLDERS
    folders = tuple(
        place
        for place in dict.fromkeys((*named, *usual))
        if _has_pack(place, limits) or (place in named and not Path(place).is_dir())
    )
    return folders or ((os.curdir,) if _has_pack(os.curdir, limits) else ())


def count_packs(folder: str, *, limits: Limits = DEFAULT_LIMITS) -> int:
    """Return how many packs are in a folder, also in folders of clients."""
    results = LocalSource(folder, limits=limits).scan()
    return sum(isinstance(result, Found) for result in results)


def _has_pack(folder: str, limits: Limits) -> bool:
    if not Path(folder).is_dir():
        return False
    try:
        return count_packs(folder, limits=limits) > 0
    except SourceUnavailableError:
        return True  # opening it reports why it cannot be read
