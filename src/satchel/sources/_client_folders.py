"""The folders in which the clients on this machine keep their skills."""

import os
from pathlib import Path
from typing import Final

from satchel.clients import CLIENT_FOLDERS
from satchel.model import DEFAULT_LIMITS, Limits
from satchel.sources._local import LocalSource

# Lower goes first. There is room for every client's folders between two scopes. A
# project that is not trusted comes last, so that it shadows nothing.
_MANAGED: Final = 0
_PROJECT: Final = 1_000
_USER: Final = 2_000
_UNTRUSTED: Final = 3_000

_FIRST: Final = ".agents/skills"

# A folder, and its name in messages.
_ShownFolder = tuple[Path, str]


def usual_sources(
    project: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    *,
    trust: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[LocalSource]:
    """Return a source for each folder that exists; see `satchel.sources.usual`."""
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
