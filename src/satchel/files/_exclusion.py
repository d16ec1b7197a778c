"""Files that no pack lists, by their names: keys, version control, caches."""

import re
from typing import Final, Literal, TypeAlias, get_args

# Bytes of a file by which it is judged; no key has as many.
JUDGED_BYTES: Final = 64 * 1024
# The most severe first.
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


def exclusion_kind(path: str) -> ExclusionKind | None:
    """Return the most severe reason why no pack lists ``path``, by any of its parts."""
    # In lower case: on macOS and Windows ".ENV" is ".env".
    kinds = [kind for part in path.lower().split("/") if (kind := _kind_of(part))]
    if not kinds:  # nearly always, for each file of each pack
        return None
    order: tuple[ExclusionKind, ...] = get_args(ExclusionKind)
    return next(kind for kind in order if kind in kinds)


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
