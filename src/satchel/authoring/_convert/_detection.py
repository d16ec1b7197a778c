"""What lies at a path: packs, role templates, or the files of another program."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from satchel.authoring._convert import (
    _agents_md as agents_md,
    _commands as commands,
    _copilot as copilot,
    _cursor as cursor,
)
from satchel.authoring._convert._roles import holds_roles
from satchel.authoring._convert._rules import FORMATS
from satchel.compat import SYSTEM_PROMPT
from satchel.errors import ConfigError, MissingPathError
from satchel.model import SKILL_FILE

Kind: TypeAlias = Literal[
    "packs",
    "roles",
    "agents-md",
    "cursor",
    "copilot",
    "commands",
    "subagents",
    "windsurf",
    "cline",
]
KINDS: Final[tuple[str, ...]] = get_args(Kind)

Detected: TypeAlias = tuple[Kind, str]
"""What something is, and the path of the file or folder to read."""


def detect(path: str, wanted: str = "") -> list[Detected]:
    """Return what to convert at a path: several where one kind has two places.

    Args:
        path: A file, or a folder; of a project, too.
        wanted: A kind; empty is the only one that is there.

    Raises:
        MissingPathError: There is nothing at the path.
        ConfigError: There is nothing of that kind, or of several kinds something.
    """
    if not os.path.lexists(path):
        raise MissingPathError(path)
    is_folder = Path(path).is_dir()
    found: list[Detected] = _in_folder(path) if is_folder else _as_file(path, wanted)
    if wanted:
        found = [thing for thing in found if thing[0] == wanted]
    kinds = sorted({kind for kind, _ in found})
    if not found:
        what = wanted or "a pack, role templates, AGENTS.md, rules, prompts or agents"
        raise ConfigError(path, f"want {what}; nothing of that kind is there")
    if len(kinds) > 1:
        there = ", ".join(kinds)
        raise ConfigError(path, f"there is more than one kind: {there}; say --from")
    return found


_OF_A_FOLDER: Final[dict[str, Kind]] = {SKILL_FILE: "packs", SYSTEM_PROMPT: "roles"}
"""Files that stand for the folder they are in."""


def _as_file(path: str, wanted: str) -> list[Detected]:
    name = path.rpartition("/")[2]
    if name in _OF_A_FOLDER:
        folder = path.removesuffix(name).rstrip("/") or os.curdir
        return [(_OF_A_FOLDER[name], folder)]
    if name.endswith((cursor.ENDING, cursor.LEGACY)):
        return [("cursor", path)]
    if name.endswith((copilot.ENDING, copilot.WHOLE.rpartition("/")[2])):
        return [("copilot", path)]
    if name in agents_md.FILES:
        return [("agents-md", path)]
    kind = _kind_of_file(path, name) or wanted
    files = {*_kinds_of_files(), "agents-md"}
    return [(cast("Kind", kind), path)] if kind in files else []


def _kinds_of_files() -> set[str]:
    """Return the kinds whose files any name may have."""
    return {"commands", *(form.kind for form in FORMATS)}


def _kind_of_file(path: str, name: str) -> str:
    """Return the kind of a file by its folder or its ending; empty for any."""
    inside = f"/{path}".rpartition("/")[0] + "/"
    if inside.endswith(f"/{commands.COMMANDS}/"):
        return "commands"
    for form in FORMATS:
        named = form.ending not in ("", ".md") and name.endswith(form.ending)
        if named or name == form.place or f"/{form.place}/" in inside:
            return form.kind
    return ""


def _in_folder(path: str) -> list[Detected]:
    found: list[Detected] = []
    if holds_roles(path):
        found.append(("roles", path))
    for kind, look in _LOOKS:
        for place in look(path):
            found.append((kind, place))  # noqa: PERF401 - else the kind is any text
    # A project is searched for packs only where it is nothing else.
    if not found or Path(path, SKILL_FILE).is_file() or _has_packs(path):
        found.append(("packs", path))
    return found


def _has_packs(path: str) -> bool:
    return next(Path(path).glob(f"*/{SKILL_FILE}"), None) is not None


def _below(place: str, ending: str) -> Callable[[str], list[str]]:
    """Return what finds the folder ``place`` in a project, or the folder itself."""

    def look(path: str) -> list[str]:
        whole = path.rstrip("/") or "/"
        inner = f"{whole}/{place}" if whole != os.curdir else place
        if Path(inner).is_dir():
            return [inner]
        own = f"/{Path(path).absolute().as_posix()}"
        if own.endswith(f"/{place}") or any(Path(path).glob(f"*{ending}")):
            return [path]
        return []

    return look


def _files(*names: str) -> Callable[[str], list[str]]:
    """Return what finds the first of these files."""

    def look(path: str) -> list[str]:
        whole = path.rstrip("/") or "/"
        for name in names:
            inner = f"{whole}/{name}" if whole != os.curdir else name
            if os.path.lexists(inner):
                return [inner]
        return []

    return look


def _at_path(place: str) -> Callable[[str], list[str]]:
    """Return what finds just this folder or file, in a project or itself."""

    def look(path: str) -> list[str]:
        whole = path.rstrip("/") or "/"
        inner = f"{whole}/{place}" if whole != os.curdir else place
        if os.path.lexists(inner):
            return [inner]
        own = f"/{Path(path).absolute().as_posix()}"
        return [path] if own.endswith(f"/{place}") else []

    return look


_LOOKS: Final[tuple[tuple[Kind, Callable[[str], list[str]]], ...]] = (
    ("cursor", _below(cursor.RULES, cursor.ENDING)),
    ("cursor", _files(cursor.LEGACY)),
    ("copilot", _files(copilot.WHOLE)),
    ("copilot", _below(copilot.INSTRUCTIONS, copilot.ENDING)),
    ("commands", _at_path(commands.COMMANDS)),
    ("agents-md", _files(*agents_md.FILES)),
    *(
        (
            cast("Kind", form.kind),
            _at_path(form.place)
            if form.ending in ("", ".md")
            else _below(form.place, form.ending),
        )
        for form in FORMATS
    ),
)
