"""The packs of an earlier commit, read with git and written into a temporary folder."""

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
# Inside a hook git names its own repository; here the paths name it.
_MISLEADING: Final = frozenset(
    """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE
    GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE GIT_LITERAL_PATHSPECS GIT_NAMESPACE
    GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE
    GIT_WORK_TREE
    """.split()  # noqa: SIM905 - a list would be a column of words
)
# The setting that git names, in any language, for a repository of another user.
_OWNERSHIP: Final = b"safe.directory"
_GUARDS: Final = (
    # A folder in a change may look like a repository, with a history and a
    # configuration that its author made: only a folder with a `.git` is one.
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.fsmonitor=false"),
)
_HARMLESS: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # Missing objects are not fetched: the configuration of the repository says how, and
    # that is a program. Of the two variables, git before 2.45 knows only the second.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class GitEntry(NamedTuple):
    """A file of a tree: its path, object, size and kind."""

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
        """Yield every file and link of the commit; submodules are left out."""
        listed = _git(
            self.rev, self.root, "ls-tree", "-rzl", "--full-tree", self.commit
        )
        for record in listed.split(b"\0"):
            about, tab, path = record.partition(b"\t")
            if not tab:
                continue
            mode, _, oid, size = about.decode("ascii").split()
            if mode in _FILES:
                # No number where the object is missing, which reading it reports.
                length = int(size) if size.isdecimal() else 0
                runs, is_link = mode == _EXECUTABLE, mode == _LINK
                yield GitEntry(os.fsdecode(path), oid, length, runs, is_link)

    @contextmanager
    def open_blobs(self) -> Generator["GitBlobs"]:
        """Open the store of the repository's objects."""
        arguments = ("cat-file", "--batch")
        # Nobody reads its messages here, and a full pipe would block git.
        with _started(self.rev, self.root, *arguments, errors=DEVNULL) as process:
            assert process.stdin is not None  # noqa: S101 - a pipe was asked for
            assert process.stdout is not None  # noqa: S101
            yield GitBlobs(self.rev, process.stdin, process.stdout)


@dataclass(frozen=True, slots=True)
class GitBlobs:
    """The bytes of objects, by the two ends of a running ``git cat-file --batch``."""

    _rev: str
    _requests: IO[bytes]
    _answers: IO[bytes]

    def read(self, oid: str) -> bytes:
        """Return the bytes of an object; it may be missing, as in a partial clone."""
        try:
            self._requests.write(f"{oid}\n".encode("ascii"))
            self._requests.flush()
        except OSError as error:
            raise RevisionError(self._rev, "git ended early") from error
        head = self._answers.readline().decode("ascii", "replace").split()
        if len(head) != _HEAD or head[1] != "blob":
            detail = f"object {oid} is not here; fetch the history first, unfiltered"
            raise RevisionError(self._rev, detail)
        data = self._answers.read(int(head[2]))
        self._answers.read(1)  # the line end after it
        return data


# Words of the answer for an object that is there: id, type, size.
_HEAD: Final = 3


def open_repository(folder: str, rev: str) -> GitRepository:
    """Return the repository of a folder, at the commit to compare with.

    That is where the histories of ``rev`` and of the present state part, so that later
    commits of others do not count as part of a change; where it is unknown, as in a
    shallow clone, it is ``rev`` itself.
    """
    # git would take a revision that begins with `-` for an option.
    if rev.startswith("-") or not rev.strip() or "\0" in rev:
        raise RevisionError(rev, "that is not the name of a revision")
    root = os.path.realpath(_line(_git(rev, folder, "rev-parse", "--show-toplevel")))
    # `^{commit}` follows a tag to its commit, and refuses a tree or a file.
    name = f"{rev}^{{commit}}"
    try:
        output = _git(rev, root, "rev-parse", "--verify", "--end-of-options", name)
    except RevisionError as error:
        detail = f"there is no such revision in {root}; if it is elsewhere, fetch it"
        raise RevisionError(rev, detail) from error
    commit = _line(output)
    with suppress(RevisionError):
        commit = _line(_git(rev, root, "merge-base", commit, "HEAD"))
    return GitRepository(root, rev, commit)


def _line(output: bytes) -> str:
    return os.fsdecode(output.rstrip(b"\r\n"))


def _git(rev: str, folder: str, *arguments: str) -> bytes:
    with _started(rev, folder, *arguments) as process:
        output, errors = process.communicate()
    if process.returncode:
        reason = errors.decode("utf-8", "replace").strip().partition("\n")[0]
        reason = reason.removeprefix("fatal: ") or "git failed"
        if _OWNERSHIP in errors:
            reason += "; if you trust it, add it to git's safe.directory"
        raise RevisionError(rev, reason)
    return output


@contextmanager
def _started(
    rev: str, folder: str, *arguments: str, errors: int = PIPE
) -> Generator[Popen[bytes]]:
    """Start git; ``errors`` is where its messages go."""
    try:
        process = Popen(  # arguments of ours, and no shell
            ["git", *_GUARDS, "-C", folder, "--no-pager", *arguments],  # noqa: S607
            stdin=PIPE,
            stdout=PIPE,
            stderr=errors,
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
    """Return variables with which git never prompts, locks or fetches."""
    # A trace goes into the messages, or into a file that the variable names.
    variables = {
        key: value
        for key, value in given
        if key not in _MISLEADING and not key.startswith("GIT_TRACE")
    }
    return {**variables, **_HARMLESS}


_NO_NAMES: Final = frozenset({"", ".", "..", ".git"})
# Characters that Windows reads as parts of a path, not of a name.
_FOREIGN: Final = ("\\", ":")


def write_packs(
    repository: GitRepository, places: Iterable[str], folder: Path, limits: Limits
) -> None:
    """Write every pack of a commit, and the links that may lead to one.

    Files come first, so that none is written through a link. A file over
    ``limits.file_bytes`` has its length and no content: nothing reads it.
    """
    entries = [entry for entry in repository.entries() if _is_safe(entry.path)]
    roots = {
        _parent(entry.path)
        for entry in entries
        if PurePosixPath(entry.path).name.lower() == SKILL_FILE.lower()
    }
    files = [entry for entry in entries if _is_in(entry.path, roots)]
    if len(files) > limits.scan_entries:
        detail = f"it has {len(files):,} files in packs; {limits.scan_entries:,} fit"
        raise RevisionError(repository.rev, detail)
    with repository.open_blobs() as blobs:
        for entry in files:
            if not entry.link:
                try:
                    _write(entry, blobs, folder, limits)
                except OSError as error:
                    detail = f"{entry.path} cannot be written: {error.strerror}"
                    raise RevisionError(repository.rev, detail) from error
        folders = {PurePosixPath(Path(place)).as_posix() for place in places} | roots
        for entry in entries:
            if entry.link and _is_in(entry.path, folders):
                _link(entry, blobs, folder, repository.root)


def _write(entry: GitEntry, blobs: GitBlobs, folder: Path, limits: Limits) -> None:
    file = folder / entry.path
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        return  # this system reads two names as one
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
    path = Path(os.path.normpath(Path(_parent(entry.path), target)))
    if path.parts[:1] == ("..",):
        target = os.path.normpath(Path(root, path))  # out of the repository
    file.parent.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(file):
        file.symlink_to(target)


def _is_safe(path: str) -> bool:
    """Tell whether a path leads where it says, on any system."""
    names = path.split("/")
    if os.name == "nt" and any(character in path for character in _FOREIGN):
        return False
    # Some file systems ignore case: `.GIT` would be the folder of a repository.
    return all(normalize("NFC", name).casefold() not in _NO_NAMES for name in names)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _is_in(path: str, folders: set[str]) -> bool:
    if folders & {"", "."}:
        return True
    while path:
        path = _parent(path)
        if path in folders:
            return bool(path)
    return False
