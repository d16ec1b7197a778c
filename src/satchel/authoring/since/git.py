"""Reading an earlier state by git's plumbing: no checkout, no filter, no hook."""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Final, NamedTuple

from satchel.errors import RevisionError

__all__ = ["Blobs", "Entry", "Repository", "open_repository"]

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


class Entry(NamedTuple):
    """A file of a tree: where, which bytes, how many, and what kind of file."""

    path: str
    oid: str
    size: int
    executable: bool
    link: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree's repository, at the commit to compare with.

    ``root`` is the working tree, without links; ``rev`` the revision as it was
    written, ``commit`` the object that it means.
    """

    root: str
    rev: str
    commit: str

    def entries(self) -> Generator[Entry]:
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
                yield Entry(
                    os.fsdecode(path),
                    oid,
                    int(size) if size.isdecimal() else 0,
                    mode == _EXECUTABLE,
                    mode == _LINK,
                )

    @contextmanager
    def reading(self) -> Generator["Blobs"]:
        """Open the store of the repository's objects.

        Raises:
            RevisionError: There is no git.
        """
        arguments = ("cat-file", "--batch")
        with _started(self.rev, self.root, *arguments, told=DEVNULL) as process:
            assert process.stdin is not None  # noqa: S101 - a pipe was asked for
            assert process.stdout is not None  # noqa: S101
            yield Blobs(self.rev, process.stdin, process.stdout)


class Blobs:
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


def open_repository(folder: str, rev: str) -> Repository:
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
    return Repository(root, rev, commit)


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
