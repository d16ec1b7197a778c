"""Copies of a skill's files for an agent whose tools need a path to them.

Only what `load` hands out is copied, so that the allowlist, the confinement to the pack
and the digests hold for a copy as they do for a read.
"""

import atexit
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Protocol, Self

from satchel.errors import NotStagedError, ReferenceNotFoundError, SkillError
from satchel.files import TREE_PREFIX, check_path, digest_bytes, tree_digest
from satchel.load import not_staged_note
from satchel.model import SKILL_FILE, Descriptor, Loaded, Resource

Upload = Callable[[str, Mapping[str, bytes]], str]


class Stager(Protocol):
    """Puts files to where an agent's tools see them; safe across threads."""

    def stage(self, skill_id: str, digest: str, files: Mapping[str, bytes]) -> str:
        """Return the absolute folder of the files, as the agent's tools see it.

        ``files`` has SKILL.md and the listed files by pack-relative path, and
        ``digest`` is that of all of them: what is there already under an equal one
        need not be copied again. What it raises becomes a note; the skill loads all
        the same.
        """
        ...


@dataclass(frozen=True, slots=True)
class Staged:
    """Where a skill's files were put; empty where they were not, and notes say why."""

    folder: str = ""
    notes: tuple[str, ...] = ()


class UploadStager:
    """Hands files to a function that puts them into a sandbox, each pack once.

    One of these serves one sandbox.
    """

    def __init__(self, upload: Upload) -> None:
        """Take the function that puts files into the sandbox.

        ``upload`` is given a name for a folder and the files by path in it; it returns
        the absolute folder inside the sandbox.
        """
        self._upload = upload
        self._lock = threading.Lock()
        self._folders: dict[tuple[str, str], str] = {}

    def stage(self, skill_id: str, digest: str, files: Mapping[str, bytes]) -> str:
        """Return the folder; a second call for the same files uploads nothing."""
        # The lock is held over the upload: two calls would upload the same files.
        key = skill_id, digest
        with self._lock:
            folder = self._folders.get(key)
            if folder is None:
                folder = self._upload(folder_name(skill_id, digest), files)
                self._folders[key] = folder
            return folder


def stage_pack(
    stager: Stager, load: Callable[..., Loaded], descriptor: Descriptor
) -> Staged:
    """Stage a skill that was loaded; where that fails, a note says so and why."""
    try:
        return Staged(stage_files(stager, load, descriptor)[0])
    except SkillError as error:  # a model reads the note: no path of this machine
        return Staged("", (not_staged_note(error),))


def stage_files(
    stager: Stager, load: Callable[..., Loaded], descriptor: Descriptor
) -> tuple[str, str]:
    """Stage SKILL.md and the listed files; return their folder, and their digest."""
    if descriptor.remote:  # what a server may send is fetched when it is read
        detail = f"they are on the {descriptor.remote} {descriptor.source!r}"
        raise NotStagedError(descriptor.id, detail)
    files = _files_of(load, descriptor.id)
    digest = tree_digest(
        Resource(path, digest_bytes(data), len(data)) for path, data in files.items()
    )
    try:
        return stager.stage(descriptor.id, digest, files), digest
    except SkillError:
        raise
    except Exception as error:  # a stager is a plug-in
        # Not its message, which may hold a path of this machine.
        reason = error.strerror if isinstance(error, OSError) else None
        raise NotStagedError(descriptor.id, reason or type(error).__name__) from error


def _files_of(load: Callable[..., Loaded], skill_id: str) -> dict[str, bytes]:
    """Return SKILL.md and the listed files, as the pack lists them now."""
    # Where a file went away since it was listed, the list is read once more.
    while True:
        loaded = load(skill_id)
        listed = loaded.descriptor.resources
        files = {SKILL_FILE: loaded.data}
        try:
            for path in listed:
                check_path(path, skill_id)
                files[path] = load(skill_id, path).data
        except ReferenceNotFoundError:
            now = load(skill_id).descriptor.resources
            if not set(now) < set(listed):  # so this ends
                raise
        else:
            return files


# Hex digits of the digest in a folder's name.
_DIGITS: Final = 12
# Characters of a skill's id in a folder's name.
_LONGEST: Final = 64
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")

# Readable, and no more: a source knows bytes and no modes, and a copy is to give no
# right of its own. An agent's shell runs `python script.py`, which needs no x bit.
_FILE_MODE: Final = 0o444
_FOLDER_MODE: Final = 0o555
_PRIVATE: Final = 0o700


class LocalStager:
    """Copies files to ``<root>/<id>-<digest>/``, which no other user can look into.

    A copy appears whole or not at all. One that is there already is used again if it
    still holds the same bytes and nothing else; an agent's tools run as the same user
    and may have changed it; then it is made again. Safe across threads.
    """

    def __init__(self, root: Path | str | None = None) -> None:
        """Take the folder for the copies; nothing is written yet.

        ``root`` is made where it is missing, and kept with what is in it; one that is
        there already should be private. None is a temporary folder, which `close`
        removes, or else the end of the program.
        """
        self._root = None if root is None else Path(root).absolute()
        self._lock = threading.Lock()
        self._remove: partial[None] | None = None

    def stage(self, skill_id: str, digest: str, files: Mapping[str, bytes]) -> str:
        """Return the absolute folder of the copy.

        Raises:
            ReferenceEscapesError: The path of a file is no plain relative path.
            OSError: It cannot be written.
        """
        # All of them before a byte is written: a source may name what it likes.
        for path in files:
            check_path(path, skill_id)
        with self._lock:
            root = self._open()
            folder = root / folder_name(skill_id, digest)
            if not _has_files(folder, files):
                _replace(root, folder, files)
        return str(folder)

    def close(self) -> None:
        """Remove the temporary folder, if there is one; a second call does nothing."""
        with self._lock:
            if self._remove is None:
                return
            atexit.unregister(self._remove)
            self._remove()
            self._root = self._remove = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _open(self) -> Path:
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="satchel-")).resolve()
            self._remove = partial(remove_own, self._root, os.getpid())
            atexit.register(self._remove)
        else:
            self._root.mkdir(_PRIVATE, parents=True, exist_ok=True)
        return self._root


def folder_name(skill_id: str, digest: str) -> str:
    """Return a name that every file system takes: id and 12 digits of the digest."""
    # Two ids may give one name, but hardly ever for files that differ.
    name = _UNSAFE.sub("-", skill_id)[:_LONGEST].strip(".-") or "skill"
    return f"{name}-{digest.removeprefix(TREE_PREFIX)[:_DIGITS]}"


def _replace(root: Path, folder: Path, files: Mapping[str, bytes]) -> None:
    """Put a new copy into ``folder``; what was there is removed."""
    # Made under another name and moved, so that no agent finds half of a copy.
    making = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    try:
        copy = making / "copy"
        _write(copy, files)
        try:
            copy.rename(folder)
        except OSError:
            if not _has_files(folder, files):  # else another process was quicker
                if not folder.is_symlink():
                    folder.chmod(_PRIVATE)  # else it cannot be moved
                folder.rename(making / "old")
                copy.rename(folder)
        folder.chmod(_FOLDER_MODE)
    finally:
        _remove(making)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(_PRIVATE)
    folders: set[Path] = set()
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(_PRIVATE, parents=True, exist_ok=True)
        with file.open("xb") as out:  # two names that this system takes for one fail
            out.write(data)
        file.chmod(_FILE_MODE)
        folders.update(file.relative_to(folder).parents)
    folders.discard(Path())  # a folder that is to be renamed has to be writable
    for inner in sorted(folders, reverse=True):
        (folder / inner).chmod(_FOLDER_MODE)


def _has_files(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Tell whether ``folder`` holds just these files, and no link."""
    missing = dict(files)
    folders = [folder]
    try:
        if folder.is_symlink():
            return False
        while folders:
            for entry in _entries(folders.pop()):
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                    continue
                data = missing.pop(path.relative_to(folder).as_posix(), None)
                if data is None or not entry.is_file(follow_symlinks=False):
                    return False
                if path.read_bytes() != data:
                    return False
    except OSError:
        return False
    return not missing


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def remove_own(folder: Path, pid: int) -> None:
    """Remove the folder, but not in a child process that was forked."""
    if os.getpid() == pid:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a tree whose folders are read-only; links in it are not followed."""
    folders = [folder]
    while folders:
        inner = folders.pop()
        try:
            inner.chmod(_PRIVATE)
            entries = _entries(inner)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif os.name == "nt":  # a read-only file stays there
                Path(entry.path).chmod(stat.S_IWRITE)
    shutil.rmtree(folder, ignore_errors=True)
