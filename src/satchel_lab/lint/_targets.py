"""Where a path in a text of a pack leads to."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE
from satchel.skill_md import split_target
from satchel_lab.lint._context import LintContext, listed, once_per_pack

# A URL, an address, a drive of Windows; none is ever opened.
_ELSEWHERE: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
# A command of a client: a skill, or one of a plugin.
_COMMAND: Final = lazy_pattern(r"/[\w-]+(?::[\w-]+)?")
# A path of one machine, which is outside of every pack.
_OF_A_MACHINE: Final = lazy_pattern(r"file:|[A-Za-z]:[\\/]", re.IGNORECASE)
_PLACEHOLDER: Final = lazy_pattern(
    r"[{}<>$*|\[\]]|\.\.\.|\u2026|path/to|\byour[-_]|\bxxx|(?:\A|/)(?:url|link)\Z",
    re.IGNORECASE,
)
LinkState: TypeAlias = Literal[
    "found",
    "relative",
    "unlisted",
    "missing",
    "machine",
    "outside",
    "sibling",
    "project",
]


class LinkTarget(NamedTuple):
    """Where a path leads: ``path`` from the pack's root, and the fragment after it."""

    # `state` is `found`; `relative` where it is found from the folder of the file, or
    # from one between that and the root; `unlisted` where the file is there and no load
    # returns it; `missing`; `machine` for a path of one machine; `outside` where it
    # leaves the pack and nothing is known to be there. `sibling` leads into another
    # skill, whose folder is `skill`, and `project` to another file of the project.

    path: str
    fragment: str
    state: LinkState
    skill: str = ""


def find_target(pack: LintContext, file: str, to: str) -> LinkTarget | None:
    """Return what ``to`` leads to from a file; None for what is not a path."""
    if _OF_A_MACHINE.match(to) and not _PLACEHOLDER.search(to):
        return LinkTarget(to, "", "machine")
    # As the tools read it: what they resolve is found, whatever is around it.
    path, fragment = split_target(to)
    if _ELSEWHERE.match(to) or _PLACEHOLDER.search(path) or _COMMAND.fullmatch(path):
        return None
    if not path:
        return LinkTarget(file, fragment, "found") if fragment else None
    # `[text](word)` is more often a placeholder than a file without an ending.
    if "/" not in path and "." not in path:
        return None
    return _inside(pack, file, path, fragment) or _around(pack, file, path, fragment)


def possible_paths(file: str, path: str) -> Iterator[str]:
    """Yield what a path may mean, from the pack's root, the likeliest first."""
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
    state: LinkState = "found"
    for place in possible_paths(file, path):
        if place in pack_paths(pack):
            is_listed = _is_listed(pack, place)
            return LinkTarget(place, fragment, state if is_listed else "unlisted")
        state = "relative"
    return None


def _around(pack: LintContext, file: str, path: str, fragment: str) -> LinkTarget:
    """Return a target that is not in the pack: in the project around it, or nowhere."""
    if path.startswith("~"):
        return LinkTarget(path, fragment, "machine")
    from_file = posixpath.join(posixpath.dirname(file), path)
    for place in (path, posixpath.normpath(from_file), posixpath.normpath(path)):
        # Only what leads out of the pack is looked for around it.
        if place.startswith(("../", "/")) or place == "..":
            neighbour = pack.around(place)
            if neighbour is not None and neighbour.inside:
                return LinkTarget(neighbour.inside, fragment, "relative")
            if neighbour is not None:
                # A path from the root is one that the project reads, as its forge does.
                of_project: LinkState = "found" if path.startswith("/") else "project"
                state = "sibling" if neighbour.skill else of_project
                return LinkTarget(path, fragment, state, neighbour.skill)
    for place in (posixpath.normpath(path), posixpath.normpath(from_file)):
        if not place.startswith("/") and place.partition("/")[0] != "..":
            return LinkTarget(place, fragment, "missing")
    return LinkTarget(path, fragment, "outside")


def find_case(pack: LintContext, path: str) -> str:
    return _by_folded_path(pack).get(path.casefold(), "")


@once_per_pack
def pack_paths(pack: LintContext) -> frozenset[str]:
    paths = {file.path for file in pack.descriptor.files if not file.missing}
    paths.add(SKILL_FILE)
    folders = {"."}
    for path in paths:
        while path := posixpath.dirname(path):
            folders.add(path)
    return frozenset(paths | folders)


@once_per_pack
def _by_folded_path(pack: LintContext) -> Mapping[str, str]:
    return {path.casefold(): path for path in sorted(pack_paths(pack))}


def _is_listed(pack: LintContext, path: str) -> bool:
    if path == "." or path in listed(pack):
        return True
    return any(file.startswith(f"{path}/") for file in listed(pack))
