"""What a path in a text leads to, seen from the pack that holds the text."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from satchel.lint._context import LintContext, listed
from satchel.model import SKILL_FILE

_ELSEWHERE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
"""A URL, an address, a drive of Windows; none is ever looked at."""
_OF_A_MACHINE: Final = re.compile(r"file:|[A-Za-z]:[\\/]", re.IGNORECASE)
"""A path of one machine, which is outside of every pack."""
_PLACEHOLDER: Final = re.compile(
    r"[{}<>$*|\[\]]|\.\.\.|\u2026|path/to|\byour[-_]|\bxxx|(?:\A|/)(?:url|link)\Z",
    re.IGNORECASE,
)
LinkState: TypeAlias = Literal[
    "found", "beside", "unlisted", "missing", "machine", "outside", "sibling", "project"
]


class LinkTarget(NamedTuple):
    """Where a path leads: ``path`` from the pack's root, and the fragment behind it.

    ``state`` is ``found``; ``beside`` where it is found from the folder of the file, or
    from one between that and the root; ``unlisted`` where the file is there and no load
    gives it; ``missing``; ``machine`` for a path of one machine; ``outside`` where it
    leaves the pack and nothing is known to be there. ``sibling`` leads into another
    skill, whose folder is ``skill``, ``project`` to another file of the project.
    """

    path: str
    fragment: str
    state: LinkState
    skill: str = ""


def find_target(pack: LintContext, file: str, to: str) -> LinkTarget | None:
    """Return what ``to`` leads to from a file; None for what is no path in a pack.

    That is a URL, a placeholder, or a word with neither a dot nor a slash.
    """
    if _OF_A_MACHINE.match(to) and not _PLACEHOLDER.search(to):
        return LinkTarget(to, "", "machine")
    if _ELSEWHERE.match(to) or _PLACEHOLDER.search(to):
        return None
    path, _, fragment = to.partition("#")
    path = unquote(path.partition("?")[0]).replace("\\", "/").strip()
    if not path:
        return LinkTarget(file, fragment, "found") if fragment else None
    if "/" not in path and "." not in path:
        return None
    return _inside(pack, file, path, fragment) or _around(pack, file, path, fragment)


def possible_paths(file: str, path: str) -> Iterator[str]:
    """Yield what a path in a file may mean, from the pack's root: the likeliest first.

    It counts from the root, from the folder of the file, or from one between the two.
    """
    yield posixpath.normpath(path)
    folder = posixpath.dirname(file)
    while folder:
        yield posixpath.normpath(posixpath.join(folder, path))
        folder = posixpath.dirname(folder)


def _inside(
    pack: LintContext, file: str, path: str, fragment: str
) -> LinkTarget | None:
    if path.startswith(("/", "~")):
        return None
    held = pack_paths(pack)
    state: Literal["found", "beside"] = "found"
    for place in possible_paths(file, path):
        if place in held:
            return LinkTarget(place, fragment, _state(pack, place, state))
        state = "beside"
    return None


def _around(pack: LintContext, file: str, path: str, fragment: str) -> LinkTarget:
    """Return what is not in the pack: in the project around it, or nowhere."""
    if path.startswith("~"):
        return LinkTarget(path, fragment, "machine")
    from_file = posixpath.join(posixpath.dirname(file), path)
    for each in (path, posixpath.normpath(from_file), posixpath.normpath(path)):
        if each.startswith(("../", "/")) or each == "..":
            found = pack.around(each)
            if found is not None and found.inside:
                return LinkTarget(found.inside, fragment, "beside")
            if found is not None:
                state: LinkState = "sibling" if found.skill else "project"
                return LinkTarget(path, fragment, state, found.skill)
    for each in (posixpath.normpath(path), posixpath.normpath(from_file)):
        if not each.startswith("/") and each.partition("/")[0] != "..":
            return LinkTarget(each, fragment, "missing")
    return LinkTarget(path, fragment, "outside")


def find_case(pack: LintContext, path: str) -> str:
    """Return the file that ``path`` names but for the case of letters, or nothing."""
    return pack.once(_by_fold).get(path.casefold(), "")


def pack_paths(pack: LintContext) -> frozenset[str]:
    """Return every file of the pack, and every folder that holds one."""
    return pack.once(_held)


def _held(pack: LintContext) -> frozenset[str]:
    paths = {file.path for file in pack.descriptor.files if not file.missing}
    paths.add(SKILL_FILE)
    folders = {"."}
    for path in paths:
        while path := posixpath.dirname(path):
            folders.add(path)
    return frozenset(paths | folders)


def _by_fold(pack: LintContext) -> Mapping[str, str]:
    return {path.casefold(): path for path in sorted(pack_paths(pack))}


def _state(
    pack: LintContext, path: str, state: Literal["found", "beside"]
) -> Literal["found", "beside", "unlisted"]:
    if path in listed(pack):
        return state
    below = f"{path}/"
    if path == "." or any(each.startswith(below) for each in listed(pack)):
        return state
    return "unlisted"
