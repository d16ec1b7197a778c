"""Files that no pack hands out, whatever it declares: by their names alone."""

import re
from typing import Final, Literal, TypeAlias

__all__ = ["Kind", "is_left_out", "kind_left_out"]

Kind: TypeAlias = Literal["key material", "version control", "cache", "dot-file"]

_VERSION_CONTROL: Final = frozenset(
    {".git", ".gitattributes", ".gitignore", ".gitmodules", ".hg", ".hgignore"}
    | {".svn", ".bzr", ".jj", "cvs", "_darcs", ".gitkeep"}
)
_CACHE: Final = frozenset(
    {"__pycache__", "node_modules", ".venv", ".tox", ".nox", ".cache", ".idea"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"}
    | {".ds_store", "thumbs.db", "desktop.ini", "__macosx"}
)
_KEYS: Final = frozenset(
    {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".npmrc", ".pypirc", ".netrc"}
    | {"_netrc", ".git-credentials", ".htpasswd", ".pgpass", ".dockercfg"}
    | {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".envrc"}
)
_KEY_NAME: Final = re.compile(
    r"\.env(?:\..*)?|.*\.(?:env|pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|asc|gpg)"
)
_CACHE_NAME: Final = re.compile(r".*(?:\.py[co]|\.sw[op]|~)")

_GRAVEST_FIRST: Final[tuple[Kind, ...]] = (
    "key material",
    "version control",
    "cache",
    "dot-file",
)


def kind_left_out(path: str) -> Kind | None:
    """Return why no pack lists ``path``, by any of its parts; None where it may.

    Names are compared without regard to case. Keys come first: of several reasons
    the gravest is given.
    """
    kinds = [kind for part in path.lower().split("/") if (kind := _kind_of(part))]
    return next((kind for kind in _GRAVEST_FIRST if kind in kinds), None)


def is_left_out(path: str) -> bool:
    """Tell whether ``path`` is of a kind that no pack lists."""
    return kind_left_out(path) is not None


def _kind_of(name: str) -> Kind | None:
    if name in _KEYS or _KEY_NAME.fullmatch(name):
        return "key material"
    if name in _VERSION_CONTROL:
        return "version control"
    if name in _CACHE or _CACHE_NAME.fullmatch(name):
        return "cache"
    return "dot-file" if name.startswith(".") and name.strip(".") else None
