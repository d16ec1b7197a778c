"""The packs of an earlier state, written into a folder that is deleted again."""

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Final
from unicodedata import normalize

from satchel.authoring.since.git import Blobs, Entry, Repository
from satchel.errors import RevisionError
from satchel.model import SKILL_FILE, Limits

__all__ = ["write_packs"]

_NO_NAMES: Final = frozenset({"", ".", "..", ".git"})
_FOREIGN: Final = ("\\", ":")
"""Signs that make a path of a name where they are not part of names."""


def write_packs(
    repository: Repository, places: Iterable[str], folder: Path, limits: Limits
) -> None:
    """Write every pack of a commit, and the links that may lead to one.

    Files come first, so that none is written through a link. A file over
    ``limits.file_bytes`` is as long as it was, and empty: nobody reads it.

    Args:
        repository: At the commit.
        places: Folders, relative to the repository, in which links are kept.
        folder: An empty folder, which stands for the repository's.
        limits: Bounds on the number and size of files.

    Raises:
        RevisionError: There are more files than a scan looks at, or git failed.
    """
    entries = [each for each in repository.entries() if _is_sound(each.path)]
    roots = {
        _parent(each.path)
        for each in entries
        if PurePosixPath(each.path).name.lower() == SKILL_FILE.lower()
    }
    wanted = [each for each in entries if _lies_below(each.path, roots)]
    if len(wanted) > limits.scan_entries:
        detail = f"it has {len(wanted):,} files in packs; {limits.scan_entries:,} fit"
        raise RevisionError(repository.rev, detail)
    with repository.reading() as blobs:
        for entry in wanted:
            if not entry.link:
                try:
                    _write(entry, blobs, folder, limits)
                except OSError as error:
                    detail = f"{entry.path} cannot be written: {error.strerror}"
                    raise RevisionError(repository.rev, detail) from error
        kept = {PurePosixPath(Path(each)).as_posix() for each in places} | roots
        for entry in entries:
            if entry.link and _lies_below(entry.path, kept):
                _link(entry, blobs, folder, repository.root)


def _write(entry: Entry, blobs: Blobs, folder: Path, limits: Limits) -> None:
    file = folder / entry.path
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        return  # this system takes two names for one
    with file.open("xb") as out:
        if entry.size > limits.file_bytes:
            out.truncate(entry.size)
        else:
            out.write(blobs.read(entry.oid))
    if entry.executable:
        file.chmod(0o755)


def _link(entry: Entry, blobs: Blobs, folder: Path, root: str) -> None:
    target = os.fsdecode(blobs.read(entry.oid))
    file = folder / entry.path
    if not target or "\0" in target:
        return
    # A tree that git did not make may have a file below a link.
    inside = file.parent
    while inside != folder:
        if inside.is_symlink() or (inside.exists() and not inside.is_dir()):
            return
        inside = inside.parent
    beside = Path(os.path.normpath(Path(_parent(entry.path), target)))
    if beside.parts[:1] == ("..",):
        target = os.path.normpath(Path(root, beside))  # out of the repository
    file.parent.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(file):
        file.symlink_to(target)


def _is_sound(path: str) -> bool:
    """Tell whether a path stays where it says, on any system."""
    names = path.split("/")
    if os.name == "nt" and any(sign in path for sign in _FOREIGN):
        return False
    return all(normalize("NFC", name).casefold() not in _NO_NAMES for name in names)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _lies_below(path: str, folders: set[str]) -> bool:
    if folders & {"", "."}:
        return True
    while path:
        path = _parent(path)
        if path in folders:
            return bool(path)
    return False
