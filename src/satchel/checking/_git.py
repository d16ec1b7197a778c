"""The packs of an earlier commit, read with git.

And written into a temporary folder.
"""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Final, NamedTuple
from unicodedata import normalize

from satchel.errors import RevisionError
from satchel.model import SKILL_FILE, Limits

_LINK: Final = "120000"
_EXECUTABLE: Final = "100755"
_FILES: Final = frozenset({"100644", "100755", "100664", _LINK})
# Inside a hook git says where its own repository is; here the paths say it.
_MISLEADING: Final = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_IMPLICIT_WORK_TREE",
)
_OWNERSHIP: Final = b"safe.directory"
"""The setting that git names, in any language, of a repository of somebody else."""
_GUARDS: Final = (
    # A folder of a change may look like a repository, with a history and a
    # configuration of its author's own: only what has a `.git` is one.
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.fsmonitor=false"),
)
_HARMLESS: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # An object that is not here is not fetched: a repository's configuration says how,
    # and that is a program. Of the two, git before 2.45 knows the second alone.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class GitEntry(NamedTuple):
    """A file of a tree: where, which bytes, how many, and what kind of file."""

    path: str
    oid: str
    size: int
    executable: bool
    link: bool


@dataclass(frozen=True, slots=True)
class GitRepository:
    """A working tree's repository, at the commit to compare with.

    ``root`` is the working tree, without links; ``rev`` the revision as it was
    written, ``commit`` the object that it means.
    """

    root: str
    rev: str
    commit: str

    def entries(self) -> Generator[GitEntry]:
        """Yield every file and link of the commit; submodules are left out.

        Raises:
            RevisionError: git failed.
        """
        listed = _git(
            self.rev, self.root, "ls-tree", "-rzl", "--full-tree", self.commit
        )
        for record in listed.split(b"\0"):
            about, tab, path = record.partition(b"\t")
            if not tab:
                continue
            mode, _, oid, size = about.decode("ascii").split()
            if mode in _FILES:
                yield GitEntry(
                    os.fsdecode(path),
                    oid,
                    int(size) if size.isdecimal() else 0,
                    mode == _EXECUTABLE,
                    mode == _LINK,
                )

    @contextmanager
    def reading(self) -> Generator["GitBlobs"]:
        """Open the store of the repository's objects.

        Raises:
            RevisionError: There is no git.
        """
        arguments = ("cat-file", "--batch")
        with _started(self.rev, self.root, *arguments, told=DEVNULL) as process:
            assert process.stdin is not None  # noqa: S101 - a pipe was asked for
            assert process.stdout is not None  # noqa: S101
            yield GitBlobs(self.rev, process.stdin, process.stdout)


class GitBlobs:
    """The bytes of objects, one after the other."""

    def __init__(self, rev: str, asked: IO[bytes], told: IO[bytes]) -> None:
        """Take the two ends of a running ``git cat-file --batch``."""
        self._rev = rev
        self._asked = asked
        self._told = told

    def read(self, oid: str) -> bytes:
        """Return the bytes of an object.

        Raises:
            RevisionError: It is not there, as in a clone that was not fetched whole.
        """
        try:
            self._asked.write(f"{oid}\n".encode("ascii"))
            self._asked.flush()
        except OSError as error:
            raise RevisionError(self._rev, "git ended early") from error
        head = self._told.readline().decode("ascii", "replace").split()
        if len(head) != _HEAD or head[1] != "blob":
            detail = f"object {oid} is not here; fetch the history first, unfiltered"
            raise RevisionError(self._rev, detail)
        data = self._told.read(int(head[2]))
        self._told.read(1)  # the line end behind it
        return data


_HEAD: Final = 3
"""Words of the answer for an object that is there: id, type, size."""


def open_repository(folder: str, rev: str) -> GitRepository:
    """Return the repository that a folder lies in, at the commit to compare with.

    That is where the history of ``rev`` and of the present state part, so that what
    others did to ``rev`` since is not held against a change; where that cannot be
    told, as in a shallow clone, it is ``rev`` itself.

    Raises:
        RevisionError: There is no git, no repository, or no such revision.
    """
    if rev.startswith("-") or not rev.strip() or "\0" in rev:
        raise RevisionError(rev, "that is no name of a revision")
    root = os.path.realpath(_line(_git(rev, folder, "rev-parse", "--show-toplevel")))
    wanted = f"{rev}^{{commit}}"
    try:
        found = _git(rev, root, "rev-parse", "--verify", "--end-of-options", wanted)
    except RevisionError as error:
        detail = f"there is no such revision in {root}; if it is elsewhere, fetch it"
        raise RevisionError(rev, detail) from error
    commit = _line(found)
    with suppress(RevisionError):
        commit = _line(_git(rev, root, "merge-base", commit, "HEAD"))
    return GitRepository(root, rev, commit)


def _line(output: bytes) -> str:
    return os.fsdecode(output.rstrip(b"\r\n"))


def _git(rev: str, folder: str, *arguments: str) -> bytes:
    with _started(rev, folder, *arguments) as process:
        out, said = process.communicate()
    if process.returncode:
        reason = said.decode("utf-8", "replace").strip().partition("\n")[0]
        reason = reason.removeprefix("fatal: ") or "git failed"
        if _OWNERSHIP in said:
            reason += "; if you trust it, add it to git's safe.directory"
        raise RevisionError(rev, reason)
    return out


@contextmanager
def _started(
    rev: str, folder: str, *arguments: str, told: int = PIPE
) -> Generator[Popen[bytes]]:
    """Start git; ``told`` is where its messages go."""
    try:
        process = Popen(  # words of ours, and no shell
            ["git", *_GUARDS, "-C", folder, "--no-pager", *arguments],  # noqa: S607
            stdin=PIPE,
            stdout=PIPE,
            stderr=told,
            env=_environment(os.environ.items()),
        )
    except OSError as error:
        raise RevisionError(rev, "git cannot be run; is it installed?") from error
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _environment(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the variables for git: it asks nobody, locks nothing, fetches nothing."""
    kept = {
        key: value
        for key, value in given
        if key not in _MISLEADING and not key.startswith("GIT_TRACE")
    }
    return {**kept, **_HARMLESS}


_NO_NAMES: Final = frozenset({"", ".", "..", ".git"})
_FOREIGN: Final = ("\\", ":")
"""Signs that make a path of a name where they are not part of names."""


def write_packs(
    repository: GitRepository, places: Iterable[str], folder: Path, limits: Limits
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


def _write(entry: GitEntry, blobs: GitBlobs, folder: Path, limits: Limits) -> None:
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


def _link(entry: GitEntry, blobs: GitBlobs, folder: Path, root: str) -> None:
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
