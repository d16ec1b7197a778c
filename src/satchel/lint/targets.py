"""What a path in a text leads to, seen from the pack that holds the text."""

import posixpath
import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from satchel.lint.context import Context
from satchel.lint.reading import listed
from satchel.model import SKILL_FILE

__all__ = ["Target", "find_case", "find_target", "held_paths"]

_ELSEWHERE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
"""A URL, an address, a drive of Windows; none is ever looked at."""
_OF_A_MACHINE: Final = re.compile(r"file:|[A-Za-z]:[\\/]", re.IGNORECASE)
"""A path of one machine, which is outside of every pack."""
_PLACEHOLDER: Final = re.compile(
    r"[{}<>$*|\[\]]|\.\.\.|\u2026|path/to|\byour[-_]|\bxxx|(?:\A|/)(?:url|link)\Z",
    re.IGNORECASE,
)


class Target(NamedTuple):
    """Where a path leads: ``path`` from the pack's root, and the fragment behind it.

    ``state`` is ``found``; ``beside`` where it is found from the file's own folder and
    not from the root; ``unlisted`` where the file is there and no load gives it;
    ``missing``; ``outside`` where it leaves the pack.
    """

    path: str
    fragment: str
    state: Literal["found", "beside", "unlisted", "missing", "outside"]


def find_target(pack: Context, file: str, to: str) -> Target | None:
    """Return what ``to`` leads to from a file; None for what is no path in a pack.

    That is a URL, a placeholder, or a word with neither a dot nor a slash.
    """
    if _OF_A_MACHINE.match(to) and not _PLACEHOLDER.search(to):
        return Target(to, "", "outside")
    if _ELSEWHERE.match(to) or _PLACEHOLDER.search(to):
        return None
    path, _, fragment = to.partition("#")
    path = unquote(path.partition("?")[0]).replace("\\", "/").strip()
    if not path:
        return Target(file, fragment, "found") if fragment else None
    if "/" not in path and "." not in path:
        return None
    return _inside(pack, file, path, fragment)


def _inside(pack: Context, file: str, path: str, fragment: str) -> Target:
    if path.startswith(("/", "~")):
        return Target(path, fragment, "outside")
    held = held_paths(pack)
    from_root = posixpath.normpath(path)
    from_file = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    if from_root in held:
        return Target(from_root, fragment, _state(pack, from_root, "found"))
    if from_file in held:
        return Target(from_file, fragment, _state(pack, from_file, "beside"))
    for each in (from_root, from_file):
        if each.partition("/")[0] != "..":
            return Target(each, fragment, "missing")
    return Target(path, fragment, "outside")


def find_case(pack: Context, path: str) -> str:
    """Return the file that ``path`` names but for the case of letters, or nothing."""
    return pack.once(_by_fold).get(path.casefold(), "")


def held_paths(pack: Context) -> frozenset[str]:
    """Return every file of the pack, and every folder that holds one."""
    return pack.once(_held)


def _held(pack: Context) -> frozenset[str]:
    paths = {file.path for file in pack.descriptor.files if not file.missing}
    paths.add(SKILL_FILE)
    folders = {"."}
    for path in paths:
        while path := posixpath.dirname(path):
            folders.add(path)
    return frozenset(paths | folders)


def _by_fold(pack: Context) -> Mapping[str, str]:
    return {path.casefold(): path for path in sorted(held_paths(pack))}


def _state(
    pack: Context, path: str, state: Literal["found", "beside"]
) -> Literal["found", "beside", "unlisted"]:
    if path in listed(pack):
        return state
    below = f"{path}/"
    if path == "." or any(each.startswith(below) for each in listed(pack)):
        return state
    return "unlisted"
