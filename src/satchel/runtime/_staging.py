"""Copies of a skill's files for an agent whose tools need a path to them.

Only what `load` hands out is copied, so that the allowlist, the confinement to the pack
and the digests hold for a copy as they do for a read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from satchel.errors import NotStagedError, ReferenceNotFoundError, SkillError
from satchel.files import check_path, digest_bytes, tree_digest
from satchel.load import wording
from satchel.model import SKILL_FILE, Descriptor, Loaded, Request, Resource
from satchel.runtime._local_copy import folder_name

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
        import threading

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
    stager: Stager, load: Callable[[Request], Loaded], descriptor: Descriptor
) -> Staged:
    """Stage a skill that was loaded; where that fails, a note says so and why."""
    try:
        return Staged(stage_files(stager, load, descriptor))
    except SkillError as error:  # a model reads the note: no path of this machine
        return Staged("", (wording.not_staged_note(error),))


def stage_files(
    stager: Stager, load: Callable[[Request], Loaded], descriptor: Descriptor
) -> str:
    """Stage SKILL.md and the listed files; return their folder."""
    if descriptor.remote:  # what a server may send is fetched when it is read
        detail = f"they are on the {descriptor.remote} {descriptor.source!r}"
        raise NotStagedError(descriptor.id, detail)
    files = _files_of(load, descriptor.id)
    digest = tree_digest(
        Resource(path, digest_bytes(data), len(data)) for path, data in files.items()
    )
    try:
        return stager.stage(descriptor.id, digest, files)
    except SkillError:
        raise
    except Exception as error:  # a stager is a plug-in
        # Not its message, which may hold a path of this machine.
        reason = error.strerror if isinstance(error, OSError) else None
        raise NotStagedError(descriptor.id, reason or type(error).__name__) from error


def _files_of(load: Callable[[Request], Loaded], skill_id: str) -> dict[str, bytes]:
    """Return SKILL.md and the listed files, as the pack lists them now."""
    # Where a file went away since it was listed, the list is read once more.
    while True:
        loaded = load(Request(skill_id))
        listed = loaded.descriptor.resources
        files = {SKILL_FILE: loaded.data}
        try:
            for path in listed:
                check_path(path, skill_id)
                files[path] = load(Request(skill_id, path)).data
        except ReferenceNotFoundError:
            now = load(Request(skill_id)).descriptor.resources
            if not set(now) < set(listed):  # so this ends
                raise
        else:
            return files
