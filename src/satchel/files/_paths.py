"""Which paths of a pack may be looked at, and which files are never handed out.

By their text alone.
"""

import re
from typing import Final, Literal, TypeAlias

from satchel.errors import ReferenceEscapesError
from satchel.model import SKILL_FILE

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
    (re.compile(r"%(?i:2e|2f|5c|00)"), "it holds an encoded dot, slash or NUL"),
    (re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)"), "it has a part that is empty, . or .."),
    (re.compile(r"[. ](?:/|\Z)"), "it has a part that ends in a dot or a space"),
    (re.compile(rf"(?:\A|/)(?i:{_DEVICE})(?:/|\Z)"), "it names a device on Windows"),
)
# One search for nearly every path, which has no problem at all.
_ANY_PROBLEM: Final = re.compile("|".join(pattern.pattern for pattern, _ in _PROBLEMS))
_SHORT_CHARS: Final = MAX_PART_BYTES // 4  # a character has 4 bytes at the most


def path_problem(path: str) -> str:
    """Return what keeps ``path`` from being a plain relative path; empty if nothing.

    Only the text is looked at. The rules are those of every system at once, so that
    a pack is the same on each.

    Source: docs/explanation/security.md, and the naming rules of Windows.
    """
    if path == SKILL_FILE:
        return ""
    if len(path) <= _SHORT_CHARS and _ANY_PROBLEM.search(path) is None:
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


def is_archive_name(path: str) -> bool:
    """Tell whether a path is named like an archive; nothing is looked at."""
    return path.lower().endswith(ARCHIVE_SUFFIXES)


ExclusionKind: TypeAlias = Literal[
    "key material", "version control", "cache", "dot-file"
]

_VERSION_CONTROL: Final = frozenset(
    {".git", ".gitattributes", ".gitignore", ".gitmodules", ".hg", ".hgignore"}
    | {".svn", ".bzr", ".jj", "cvs", "_darcs", ".gitkeep"}
)
_CACHE: Final = frozenset(
    {"__pycache__", "node_modules", ".venv", ".tox", ".nox", ".cache", ".idea"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"}
    | {".ds_store", "thumbs.db", "desktop.ini", "__macosx"}
)
_KEY_FILES: Final = frozenset(
    {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".npmrc", ".pypirc", ".netrc"}
    | {"_netrc", ".git-credentials", ".htpasswd", ".pgpass", ".dockercfg"}
    | {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".envrc"}
)
_KEY_FILE_NAME: Final = re.compile(
    r"\.env(?:\..*)?|.*\.(?:env|pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|asc|gpg)"
)
_CACHE_NAME: Final = re.compile(r".*(?:\.py[co]|\.sw[op]|~)")

_MOST_SEVERE_FIRST: Final[tuple[ExclusionKind, ...]] = (
    "key material",
    "version control",
    "cache",
    "dot-file",
)


def exclusion_kind(path: str) -> ExclusionKind | None:
    """Return why no pack lists ``path``, by any of its parts; None where it may.

    Names are compared without regard to case. Keys come first: of several reasons
    the most severe one is given.
    """
    kinds = [kind for part in path.lower().split("/") if (kind := _kind_of(part))]
    if not kinds:
        return None
    return next(kind for kind in _MOST_SEVERE_FIRST if kind in kinds)


def is_excluded_file(path: str) -> bool:
    """Return whether ``path`` is of a kind that no pack lists."""
    return exclusion_kind(path) is not None


def _kind_of(name: str) -> ExclusionKind | None:
    if name in _KEY_FILES or _KEY_FILE_NAME.fullmatch(name):
        return "key material"
    if name in _VERSION_CONTROL:
        return "version control"
    if name in _CACHE or _CACHE_NAME.fullmatch(name):
        return "cache"
    return "dot-file" if name.startswith(".") and name.strip(".") else None
