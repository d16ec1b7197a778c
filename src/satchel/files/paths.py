"""Which pack-relative paths are plain enough to be looked at, by their text alone."""

import re
from typing import Final

from satchel.errors import ReferenceEscapesError
from satchel.model import SKILL_FILE

__all__ = [
    "ARCHIVE_SUFFIXES",
    "MAX_PART_BYTES",
    "MAX_PATH_BYTES",
    "check_path",
    "is_archive_name",
    "path_problem",
    "spelled",
]

ARCHIVE_SUFFIXES: Final = (".skill", ".zip", ".tar.gz", ".tgz")
"""How the names of archives of one pack end, in lower case."""

MAX_PART_BYTES: Final = 255
"""Bytes of one part of a path: NAME_MAX of every common file system."""
MAX_PATH_BYTES: Final = 1_024
"""Bytes of a whole path: PATH_MAX of macOS, the smallest of the three systems."""

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
    (re.compile(r"\A\Z"), "it is empty"),
    (_UNPRINTABLE, "it holds a control character, or is no valid Unicode"),
    (re.compile(r"\A/"), "it is absolute"),
    (re.compile(r"[\\:]"), "it holds a backslash or a colon"),
    (re.compile(r"(?i)%(?:2e|2f|5c|00)"), "it holds an encoded dot, slash or NUL"),
    (re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)"), "it has a part that is empty, . or .."),
    (re.compile(r"[. ](?:/|\Z)"), "it has a part that ends in a dot or a blank"),
    (re.compile(rf"(?i)(?:\A|/){_DEVICE}(?:/|\Z)"), "it names a device on Windows"),
)


def path_problem(path: str) -> str:
    """Return what keeps ``path`` from being a plain relative path; empty if nothing.

    Only the text is looked at. The rules are those of every system at once, so that
    a pack is the same on each.

    Source: docs/explanation/security.md, and the naming rules of Windows.
    """
    if path == SKILL_FILE:
        return ""
    for pattern, problem in _PROBLEMS:
        if pattern.search(path):
            return problem
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    if max(len(part.encode()) for part in path.split("/")) > MAX_PART_BYTES:
        return f"it has a part longer than {MAX_PART_BYTES} bytes"
    return ""


def check_path(path: str, owner: str = "") -> None:
    """Let a plain relative path pass; nothing of the file system is touched.

    Args:
        path: As the caller, often a model, wrote it.
        owner: The skill to name in the error.

    Raises:
        ReferenceEscapesError: See `path_problem` for the reasons.
    """
    problem = path_problem(path)
    if problem:
        raise ReferenceEscapesError(owner, path, detail=problem)


def spelled(name: str) -> str:
    """Return ``name`` with what cannot be printed on one line written as escapes."""
    return _UNPRINTABLE.sub(
        lambda found: found[0].encode("unicode_escape").decode("ascii"), name
    )


def is_archive_name(path: str) -> bool:
    """Tell whether a path is named like an archive; nothing is looked at."""
    return path.lower().endswith(ARCHIVE_SUFFIXES)
