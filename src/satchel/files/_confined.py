"""Which paths a pack may have, by their text; and reading one file, nothing else."""

# What is checked is what is read: each part of the path is opened relative to the one
# before it, no link is followed, and kind and size are asked of the open file. Nothing
# is opened a second time by its path, so there is no moment in which a file could be
# exchanged for another.

import errno
import os
import re
import stat
import sys
from collections.abc import Sequence
from functools import reduce
from typing import Final

from satchel.errors import (
    LimitExceededError,
    ReferenceEscapesError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillError,
)
from satchel.model import SKILL_FILE

# How the names of archives of one pack end, in lower case.
ARCHIVE_SUFFIXES: Final = (".skill", ".zip", ".tar.gz", ".tgz")

# Bytes of one part of a path: NAME_MAX of every common file system.
MAX_PART_BYTES: Final = 255
# Bytes of a whole path: PATH_MAX of macOS, the smallest of the three systems.
MAX_PATH_BYTES: Final = 1_024

# Lone surrogates are file names that are no UTF-8: they would reach the file system as
# raw bytes, and break every output that is encoded.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Windows opens a device under these names, whatever the extension. The superscript
# digits are its own ("Naming Files, Paths, and Namespaces" at learn.microsoft.com).
_DEVICE: Final = (
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])"
    r"\s*(?:\.[^/]*)?"
)
_PROBLEMS: Final = (
    (r"\A\Z", "it is empty"),
    (_UNPRINTABLE.pattern, "it holds a control character, or is no valid Unicode"),
    (r"\A/", "it is absolute"),
    # On Windows: a separator, a drive, or a stream of a file.
    (r"[\\:]", "it holds a backslash or a colon"),
    # Another program may decode the path before it opens the file.
    (r"%(?i:2e|2f|5c|00)", "it holds an encoded dot, slash or NUL"),
    (r"(?:\A|/)\.{0,2}(?:/|\Z)", "it has a part that is empty, . or .."),
    # Windows drops these characters, so two names would be one file.
    (r"[. ](?:/|\Z)", "it has a part that ends in a dot or a space"),
    (rf"(?:\A|/)(?i:{_DEVICE})(?:/|\Z)", "it names a device on Windows"),
)
# One search for nearly every path, which has no problem at all.
_ANY_PROBLEM: Final = re.compile("|".join(pattern for pattern, _ in _PROBLEMS))
_SHORT_CHARS: Final = MAX_PART_BYTES // 4  # a character has 4 bytes at the most


def path_problem(path: str) -> str:
    """Return what keeps ``path`` from being a plain relative path; empty if nothing.

    The rules are those of every system at once, so that a pack is the same on each.

    Source: docs/explanation/security.md, and the naming rules of Windows.
    """
    if path == SKILL_FILE:
        return ""
    if _ANY_PROBLEM.search(path):
        return next(text for pattern, text in _PROBLEMS if re.search(pattern, path))
    if len(path) <= _SHORT_CHARS:
        return ""
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    if max(len(part.encode()) for part in path.split("/")) > MAX_PART_BYTES:
        return f"it has a part longer than {MAX_PART_BYTES} bytes"
    return ""


def check_path(path: str, owner: str = "") -> None:
    """Accept a plain relative path; nothing of the file system is touched.

    Args:
        path: As the caller, often a model, wrote it.
        owner: The skill to name in the error.

    Raises:
        ReferenceEscapesError: See `path_problem` for the reasons.
    """
    problem = path_problem(path)
    if problem:
        raise ReferenceEscapesError(owner, path, detail=problem)


def escape_name(name: str) -> str:
    """Return ``name`` with what cannot be printed on one line written as escapes."""
    return _UNPRINTABLE.sub(
        lambda match: match[0].encode("unicode_escape").decode("ascii"), name
    )


def folded_name(path: str) -> str:
    """Return ``path`` as macOS and Windows compare it: equals are one file there."""
    if path.isascii():
        return path.lower()
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def is_archive_name(path: str) -> bool:
    """Tell whether a path is named like an archive."""
    return path.lower().endswith(ARCHIVE_SUFFIXES)


if sys.platform == "win32":

    def path_of(fd: int) -> str:
        """Return the real path of an open file, or raise ``OSError``."""
        import ctypes
        import msvcrt
        from ctypes import wintypes

        ask = ctypes.WinDLL("kernel32", use_last_error=True).GetFinalPathNameByHandleW
        dword = wintypes.DWORD
        ask.argtypes = (wintypes.HANDLE, wintypes.LPWSTR, dword, dword)
        ask.restype = dword
        buffer = ctypes.create_unicode_buffer(32_768)  # the longest path there is
        length = ask(msvcrt.get_osfhandle(fd), buffer, len(buffer), 0)
        if not 0 < length < len(buffer):
            raise ctypes.WinError(ctypes.get_last_error())
        path = buffer.value
        if path.startswith("\\\\?\\UNC\\"):
            return "\\\\" + path.removeprefix("\\\\?\\UNC\\")
        return path.removeprefix("\\\\?\\")

else:

    def path_of(fd: int) -> str:
        """Return the real path of an open file as Linux gives it; tests need it."""
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - any text, no path


# Whether this system opens relative to a folder; Windows does not.
HAS_DIR_FD: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


def _flags(*names: str) -> int:
    """Return the flags that this system has; the others are 0."""
    return reduce(int.__or__, (getattr(os, name, 0) for name in names))


# O_PATH needs no right to list a folder, and is the quicker one; Linux alone has it.
_ROOT: Final = _flags("O_PATH", "O_DIRECTORY", "O_CLOEXEC")
_FOLDER: Final = _ROOT | _flags("O_NOFOLLOW")
# O_NONBLOCK: a FIFO without a writer must not keep us waiting.
READ_FILE: Final = _flags(
    "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"
)
# Links are found by the path of the open file instead.
_ANY_FILE: Final = READ_FILE & ~_flags("O_NOFOLLOW")

_READS_OF_A_CHANGING_FILE: Final = 4
_IS_A_LINK: Final = errno.ELOOP
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
_NOT_A_FILE: Final = frozenset({errno.EISDIR, errno.ENXIO, errno.ENODEV})


def open_by_fd(root: str, parts: Sequence[str]) -> int:
    """Open ``root/part/.../part``, following links in ``root`` only; else ``ELOOP``."""
    fd = os.open(root, _ROOT)
    part = ""
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        part = parts[-1]
        return os.open(part, READ_FILE, dir_fd=fd)
    except OSError as error:
        # Systems disagree about the error for a link where a folder was wanted.
        if error.errno != errno.ENOENT and _is_link(part, fd):
            raise OSError(_IS_A_LINK, "a link is not followed") from error
        raise
    finally:
        os.close(fd)


def _is_link(name: str, fd: int) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=fd).st_mode)
    except OSError:
        return False


def open_by_real_path(root: str, parts: Sequence[str]) -> int:
    """Open as `open_by_fd` does, on a system that cannot open relative to a folder."""
    # Only the root is resolved: a link in one of the parts has to show below. Until
    # then it can make us open a file elsewhere, of which no byte is read.
    path = "/".join([os.path.realpath(root), *parts])
    fd = os.open(path, _ANY_FILE)
    # The open file is asked for its path: to look at paths once more would be a race.
    try:
        meant = os.path.normcase(path_of(fd)) == os.path.normcase(path)
    except OSError:
        meant = False
    if not meant:
        os.close(fd)
        raise OSError(_IS_A_LINK, "a link is not followed")
    return fd


_open: Final = open_by_fd if HAS_DIR_FD else open_by_real_path


def read_confined(
    root: str, path: str, limit_bytes: int, *, folder: str = "", owner: str = ""
) -> bytes:
    """Return the bytes of a regular file; see `read_file`."""
    return read_file(root, path, limit_bytes, folder=folder, owner=owner)[0]


def read_file(
    root: str, path: str, limit_bytes: int, *, folder: str = "", owner: str = ""
) -> tuple[bytes, os.stat_result]:
    """Return the bytes of the regular file ``root/folder/path``, and what it was then.

    Args:
        root: A folder that the user named; links on the way to it are followed.
        path: Relative, with ``/``; checked by its text before anything is opened.
        limit_bytes: At most this many bytes are accepted.
        folder: Where below ``root`` the pack is; no link in it is followed.
        owner: The skill to name in errors.

    Raises:
        ReferenceEscapesError: ``path`` is no plain path, goes through a link, or
            leads to something that is no regular file.
        ReferenceNotFoundError: There is no such file.
        ReferenceUnreadableError: It is there, and the system does not hand it out.
        LimitExceededError: It is larger than ``limit_bytes``.
    """
    if path != SKILL_FILE:  # nearly always it is that, and plain
        check_path(path, owner)
    whole = f"{folder}/{path}" if folder else path
    try:
        fd = _open(root, whole.split("/"))
        try:
            return _read(fd, limit_bytes, owner, path)
        finally:
            os.close(fd)
    except OSError as error:
        raise _refusal(error, owner, path) from error


def _read(
    fd: int, limit_bytes: int, owner: str, path: str
) -> tuple[bytes, os.stat_result]:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise ReferenceEscapesError(owner, path, detail="it is no regular file")
    for _ in range(_READS_OF_A_CHANGING_FILE):
        size = status.st_size
        check_read_size(path, size, limit_bytes)
        # One byte more than expected, so that a file that grew shows.
        data = os.read(fd, size + 1)
        if len(data) == size:
            return data, status
        # It grew or shrank under our hands: the rest would be of another state.
        os.lseek(fd, 0, os.SEEK_SET)
        status = os.fstat(fd)
    # It goes on changing, or has no size, as in /proc.
    pieces = [data := os.read(fd, limit_bytes + 1)]
    total = len(data)
    while data and total <= limit_bytes:
        data = os.read(fd, limit_bytes + 1 - total)
        pieces.append(data)
        total += len(data)
    check_read_size(path, total, limit_bytes)
    return b"".join(pieces), status


def check_read_size(path: str, size: int, limit_bytes: int) -> None:
    """Raise `LimitExceededError` if a file is larger than a read may be."""
    if size > limit_bytes:
        limit = "skill_md_bytes" if path == SKILL_FILE else "file_bytes"
        raise LimitExceededError(limit, limit_bytes, size, "bytes", path)


def _refusal(error: OSError, owner: str, path: str) -> SkillError:
    """Return our error for the system's, without the path that the latter holds."""
    if error.errno == _IS_A_LINK:
        return ReferenceEscapesError(owner, path, detail="a link is not followed")
    if error.errno in _NOT_A_FILE:
        return ReferenceEscapesError(owner, path, detail="it is no regular file")
    if error.errno in _MISSING:
        return ReferenceNotFoundError(owner, path)
    return ReferenceUnreadableError(owner, path, detail=error.strerror or str(error))


def folder_problem(skill_id: str) -> str:
    """Return why an id cannot be a folder's name on every system; empty if it can."""
    if "/" in skill_id:
        return "it has a slash"
    if skill_id.startswith("."):
        return "it begins with a dot"
    return path_problem(skill_id)
