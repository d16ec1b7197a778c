"""The work folder: a private copy goes in, what is new comes out, never a link."""

# ruff: noqa: PTH101, PTH102, PTH106, PTH123, PTH208 - paths relative to open folders

import hashlib
import os
import secrets
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from satchel.files import escape_name, path_problem
from satchel.load import media_type
from satchel.model import OutputFile
from satchel_scripts._limits import NotRunError, RunLimits

Seen: TypeAlias = dict[str, tuple[int, int, int, int]]
"""What the files of a copy were before the script ran, by path."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ANY_FOLDER: Final = _FOLDER & ~os.O_NOFOLLOW
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK: Final = 1 << 20
_RUN: Final = 0o111
_OWNER: Final = 0o700
# Names in the list of what was left out; the last line counts the others.
_MOST_REASONS: Final = 50


class Entry(NamedTuple):
    """A name in a folder: where it is, and what."""

    path: str
    folder: int
    name: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, and no link to one."""
        return stat.S_ISDIR(self.status.st_mode)


def mark_of(of: os.stat_result) -> tuple[int, int, int, int]:
    """Return what changes when a file does; a script cannot set the last one."""
    return (of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns)


@dataclass
class Reasons:
    """Why files were left out, as lines; those beyond the first fifty are counted."""

    lines: list[str] = field(default_factory=list[str])
    more: int = 0

    def add(self, path: str, reason: str) -> None:
        """Add a line."""
        if len(self.lines) < _MOST_REASONS:
            self.lines.append(f"{escape_name(path)[:200]}: {reason}")
        else:
            self.more += 1

    def all(self) -> tuple[str, ...]:
        """Return the lines, and one that counts the others."""
        return (*self.lines, *([f"{self.more:,} more"] if self.more else ()))


def walk(root: int, *, is_ours: bool = True) -> Iterator[Entry]:
    """Yield what is below an open folder, sorted; only folders are entered.

    In a copy, which is ours, a folder that a script has closed is opened again.
    """
    waiting = [""]
    while waiting:
        path = waiting.pop()
        try:
            folder = _open_folder(root, path)
        except PermissionError:
            if not is_ours:
                raise
            parent, _, name = path.rpartition("/")
            with _closing(_open_folder(root, parent)) as above:
                _unlock(name, above)
            folder = _open_folder(root, path)
        with _closing(folder):
            below: list[str] = []
            for name in sorted(os.listdir(folder)):
                try:
                    status = os.lstat(name, dir_fd=folder)
                except FileNotFoundError:
                    continue
                entry = Entry(f"{path}/{name}" if path else name, folder, name, status)
                yield entry
                if entry.is_folder and not path_problem(entry.path):
                    below.append(entry.path)
            waiting += reversed(below)


@contextmanager
def _closing(fd: int) -> Generator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


def _open_folder(root: int, path: str, *, make: bool = False) -> int:
    """Open a folder below another, part by part, and follow no link."""
    folder = os.dup(root)
    for part in filter(None, path.split("/")):
        try:
            if make:
                _make_folder(part, folder)
            below = os.open(part, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = below
    return folder


def _unlock(name: str, folder: int) -> None:
    """Make a folder one that its owner may enter and list."""
    if not hasattr(os, "O_PATH"):
        os.chmod(name, _OWNER, dir_fd=folder, follow_symlinks=False)
        return
    # A script that still runs may put a link where the folder was: the mode is set of
    # what was opened, not of what has the name.
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
    with _closing(os.open(name, flags, dir_fd=folder)) as fd:
        os.chmod(f"/proc/self/fd/{fd}", _OWNER)


def _make_folder(name: str, folder: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=folder)


def _problem(entry: Entry) -> str:
    """Return why an entry is not copied; empty for a regular file or a folder."""
    problem = path_problem(entry.path)
    if problem:
        return problem
    if stat.S_ISREG(entry.status.st_mode) or entry.is_folder:
        return ""
    return "it is a link" if stat.S_ISLNK(entry.status.st_mode) else "it is no file"


def copy_in(
    work: str, copy: str, limits: RunLimits, *, uid: int = 0
) -> tuple[Seen, Reasons]:
    """Copy the regular files of a folder; return what they are, and what is left out.

    Args:
        work: The folder; links on the way to it are followed, none below.
        copy: An empty folder.
        limits: How many files and bytes it may have.
        uid: To whom the copy belongs; 0 is the user who asks.

    Raises:
        NotRunError: It has more than that.
    """
    seen: Seen = {}
    reasons = Reasons()
    total = 0
    with (
        _closing(os.open(work, _ANY_FOLDER)) as source,
        _closing(os.open(copy, _FOLDER)) as target,
    ):
        for entry in walk(source, is_ours=False):
            if problem := _problem(entry):
                reasons.add(entry.path, problem)
                continue
            parent, _, name = entry.path.rpartition("/")
            with _closing(_open_folder(target, parent)) as folder:
                if entry.is_folder:
                    _make_folder(name, folder)
                else:
                    total += entry.status.st_size
                    if len(seen) >= limits.files or total > limits.work_bytes:
                        raise NotRunError(
                            f"the folder has more than {limits.files:,} files or "
                            f"{limits.work_bytes:,} bytes; give the run a smaller one"
                        )
                    _copy(entry, folder, name, limits.work_bytes)
                if uid:
                    os.chown(name, uid, uid, dir_fd=folder, follow_symlinks=False)
                if not entry.is_folder:
                    seen[entry.path] = mark_of(os.lstat(name, dir_fd=folder))
    return seen, reasons


def _copy(entry: Entry, folder: int, name: str, most: int) -> str:
    """Copy a regular file to a new name; return the digest of what was copied."""
    with _closing(os.open(entry.name, _READ, dir_fd=entry.folder)) as source:
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{entry.path}: it is no file any more")
        mode = 0o644 | (status.st_mode & _RUN)
        digest = hashlib.sha256()
        copied = 0
        with open(os.open(name, _WRITE, mode, dir_fd=folder), "wb") as file:
            while data := os.read(source, _CHUNK):
                copied += len(data)
                if copied > most:
                    raise OSError(f"{entry.path}: it grows while it is copied")
                digest.update(data)
                file.write(data)
            os.fchmod(file.fileno(), mode)
    return f"sha256:{digest.hexdigest()}"


def copy_out(
    copy: str, work: str, seen: Seen, limits: RunLimits, reasons: Reasons
) -> list[OutputFile]:
    """Copy new and changed regular files to the work folder, each at once or not.

    Args:
        copy: Where the script ran.
        work: The user's folder.
        seen: What the copy was before.
        limits: How many files and bytes the work folder may have then; with more of
            them the next script would not run.
        reasons: What was left out so far; more is added.
    """
    files: list[OutputFile] = []
    sizes = {path: size for path, (_, size, _, _) in seen.items()}
    total = sum(sizes.values())
    with (
        _closing(os.open(copy, _FOLDER)) as source,
        _closing(os.open(work, _ANY_FOLDER)) as target,
    ):
        for entry in walk(source):
            more = entry.status.st_size - sizes.get(entry.path, 0)
            if problem := _problem(entry):
                reasons.add(entry.path, problem)
            elif entry.is_folder or seen.get(entry.path) == mark_of(entry.status):
                continue
            elif entry.path not in sizes and len(sizes) >= limits.files:
                reasons.add(entry.path, f"more than {limits.files:,} files")
            elif total + more > limits.work_bytes:
                reasons.add(entry.path, f"more than {limits.work_bytes:,} bytes")
            elif file := _copy_one(entry, target, reasons):
                files.append(file)
                total += more
                sizes[entry.path] = entry.status.st_size
    return sorted(files, key=lambda file: file.path)


def _copy_one(entry: Entry, target: int, reasons: Reasons) -> OutputFile | None:
    parent, _, name = entry.path.rpartition("/")
    try:
        folder = _open_folder(target, parent, make=True)
    except OSError:
        reasons.add(entry.path, "a link or a file is where its folder would be")
        return None
    partial = f".satchel-{secrets.token_hex(8)}"
    with _closing(folder):
        try:
            if not _may_replace(name, folder):
                reasons.add(entry.path, "a link or a folder of that name is there")
                return None
            digest = _copy(entry, folder, partial, entry.status.st_size)
            os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            reasons.add(entry.path, error.strerror or str(error))
            with suppress(FileNotFoundError):
                os.unlink(partial, dir_fd=folder)
            return None
    kind = media_type(entry.path, text=_is_text(entry))
    return OutputFile(entry.path, kind, entry.status.st_size, digest)


def _may_replace(name: str, folder: int) -> bool:
    try:
        return stat.S_ISREG(os.lstat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return True


def _is_text(entry: Entry) -> bool:
    """Tell whether the first bytes of a file are text."""
    with _closing(os.open(entry.name, _READ, dir_fd=entry.folder)) as source:
        head = os.read(source, 8 << 10)
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.end == len(head) > error.start >= len(head) - 3
    return b"\0" not in head


def usage(copy: str, limits: RunLimits) -> str:
    """Return which limit a folder is beyond; empty if none. It may be changing."""
    total = files = 0
    with _closing(os.open(copy, _FOLDER)) as root, suppress(OSError):
        for entry in walk(root):
            files += 1
            total += entry.status.st_blocks * 512
            if files > 4 * limits.files + _MOST_REASONS:
                return f"more than {4 * limits.files:,} files at once"
            if total > limits.work_bytes:
                return f"more than {limits.work_bytes:,} bytes of files"
    return ""


def new_folder(path: str, uid: int = 0) -> str:
    """Make a folder that nobody else enters; return its path."""
    os.mkdir(path, 0o700)
    if uid:
        os.chown(path, uid, uid)
    return path


def remove(root: str) -> None:
    """Remove a folder with all that is in it, however deep, and follow no link.

    What came of the run is said, also where this fails.
    """
    with suppress(OSError):
        with _closing(os.open(root, _FOLDER)) as top:
            while names := os.listdir(top):
                for name in names:
                    if stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
                        _flatten(name, top)
                    else:
                        os.unlink(name, dir_fd=top)
        os.rmdir(root)


def _flatten(name: str, top: int) -> None:
    """Remove a folder's files, move its folders up, and remove it."""
    _unlock(name, top)
    with _closing(os.open(name, _FOLDER, dir_fd=top)) as folder:
        for below in os.listdir(folder):
            if stat.S_ISDIR(os.lstat(below, dir_fd=folder).st_mode):
                _unlock(below, folder)
                new = secrets.token_hex(8)
                os.rename(below, new, src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(below, dir_fd=folder)
    os.rmdir(name, dir_fd=top)
